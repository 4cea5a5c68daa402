package ambit_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/thread"
	"ambit/provider"
)

// edits records requests that are edited, in the order in which a server writes it: the request with what is new in it, what
// was decided about it with the edits, what went, and the answer.
type edits struct {
	*talks
	standing thread.Edits
	asked    string // the newest request's body
	attempt  int
}

func newEdits(k *talks) *edits { return &edits{talks: k} }

// arrives records a request without an answer.
func (k *edits) arrives(how entry.Relating, parent int, body string, repeats ...int) {
	k.t.Helper()
	k.ask(how, parent, body, "", repeats...)
	k.asked, k.attempt = body, 0
}

// decides records a decision about the newest request, or without a number one of a person's, and its edit.
func (k *edits) decides(d entry.Decision, changes ...entry.Change) entry.Seq {
	k.t.Helper()
	d.Thread, d.Event = "t1", d.Stage.Event()
	facts := []entry.Fact{&d}
	if len(changes) > 0 {
		facts = append(facts, &entry.Edit{N: d.N, Thread: "t1", Changes: len(changes), Body: k.put(changes)})
	}
	last := k.append(facts...)
	k.standing.Lift(d.Lifts...)
	if len(changes) > 0 {
		k.standing.Add(last, changes...)
	}
	return last
}

func (k *edits) put(changes []entry.Change) *entry.Body {
	data, err := entry.EncodeChanges(changes)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.stored(data)
}

func (k *edits) stored(data []byte) *entry.Body {
	b, err := k.store.Put(k.t.Context(), "s", data)
	if err != nil {
		k.t.Fatal(err)
	}
	return &b
}

// goes records what went for the newest request, as the standing edits make it, and returns it.
func (k *edits) goes(held, missing []string) string {
	k.t.Helper()
	family := ambit.Family(k.name, "POST", k.path)
	req := family.Request("POST", k.path, nil)
	elements, err := family.Elements(req, []byte(k.asked))
	if err != nil {
		k.t.Fatal(err)
	}
	hashes := make([]thread.Hash, len(elements.Messages))
	for i, el := range elements.Messages {
		hashes[i] = thread.Hash(el.Hash)
	}
	var changes []provider.Change
	for i, shown := range k.standing.Apply(hashes).Shown {
		if !shown.Changed() {
			continue
		}
		c := provider.Change{At: i, Gone: shown.Gone, Texts: shown.Texts}
		for _, b := range shown.Behind {
			c.Behind = append(c.Behind, b.Text)
		}
		changes = append(changes, c)
	}
	k.attempt++
	sent := &entry.Sent{N: k.n, Attempt: k.attempt, Edited: len(changes), Held: held, Missing: missing}
	body := []byte(k.asked)
	if len(changes) > 0 {
		if body, err = family.Edit(req, body, elements, changes); err != nil {
			k.t.Fatal(err)
		}
		sent.Body = k.stored(body)
	} else {
		sent.Why = "nothing of it is edited"
	}
	k.append(sent)
	return string(body)
}

// answers records the answer to the newest request.
func (k *edits) answers(answer string) {
	k.t.Helper()
	family := ambit.Family(k.name, "POST", k.path)
	res := family.Response(family.Request("POST", k.path, nil), "application/json", []byte(answer))
	u := &entry.Unit{N: k.n, Of: entry.PartAnswer, Thread: "t1", Whole: true}
	for _, c := range res.Answer.Calls {
		u.Calls = append(u.Calls, c.ID)
	}
	k.append(&entry.Response{
		N: k.n, Status: 200, Model: res.Model, Usage: res.Usage, End: entry.EndComplete, Body: k.stored([]byte(answer)),
		Headers: map[string]string{"content-type": "application/json"},
	}, u)
}

// element is what a change names a message by that stands at a place of the newest request.
func (k *edits) element(at int) string {
	k.t.Helper()
	family := ambit.Family(k.name, "POST", k.path)
	elements, err := family.Elements(family.Request("POST", k.path, nil), []byte(k.asked))
	if err != nil || at >= len(elements.Messages) {
		k.t.Fatalf("message %d: %v", at, err)
	}
	h := elements.Messages[at].Hash
	return hex.EncodeToString(h[:])
}

func (k *edits) gauge(n int) *ambit.Gauge {
	k.t.Helper()
	g, err := k.open().Gauge(k.t.Context(), "", n)
	if err != nil {
		k.t.Fatal(err)
	}
	return g
}

// holds are the items of a request, a line for each, in which an edit that changed it stands behind @: what it is of is
// retained (r), visible (v), or both.
func (k *edits) holds(n int) string {
	k.t.Helper()
	var b strings.Builder
	for _, in := range k.gauge(n).Included {
		if in.Class != ambit.ClassTools && in.Class != ambit.ClassSystem && in.Class != ambit.ClassInstructions {
			b.WriteString(line(in.Ref, string(in.Class)+" "+in.Source, in.Edit, in.Retained, in.Visible))
		}
	}
	for _, ex := range k.gauge(n).Excluded {
		b.WriteString("- " + line(ex.Ref, string(ex.Reason), ex.Edit, ex.Retained, ex.Visible))
	}
	return b.String()
}

func line(ref, what, edit string, retained, visible bool) string {
	text := ref + " " + what
	if edit != "" {
		text += " @" + edit
	}
	marks := " "
	for _, m := range []struct {
		is   bool
		mark string
	}{{retained, "r"}, {visible, "v"}} {
		if m.is {
			marks += m.mark
		}
	}
	return text + marks + "\n"
}

// wentAs compares the messages of a view with those of a body that went: in text and in order.
func (k *edits) wentAs(n int, body string) {
	k.t.Helper()
	v, err := k.open().View(k.t.Context(), "", n)
	if err != nil {
		k.t.Fatal(err)
	}
	family := ambit.Family(k.name, "POST", k.path)
	req := family.Request("POST", k.path, nil)
	elements, err := family.Elements(req, []byte(body))
	if err != nil {
		k.t.Fatal(err)
	}
	var texts []string
	for _, s := range v.Segments {
		if s.Layer == "working" {
			texts = append(texts, s.Text)
		}
	}
	if len(texts) != len(elements.Messages) {
		k.t.Fatalf("%d messages are shown of %d that went", len(texts), len(elements.Messages))
	}
	for i, el := range elements.Messages {
		m := family.Message(req, []byte(body[el.Offset:el.Offset+el.Length]), el.At)
		for _, t := range m.Texts {
			if t.Said != provider.SaidArgument && !strings.Contains(texts[i], t.Text) {
				k.t.Errorf("message %d is shown as %q and went as %q", i, texts[i], t.Text)
			}
		}
	}
	if sum := v.Sent; (sum == nil) != (body == k.asked) || sum != nil && sum.Bytes != int64(len(body)) {
		k.t.Errorf("it was sent as %+v", sum)
	}
}

// said spells a user's message.
func said(text string) string {
	b, _ := json.Marshal(text)
	return `{"role":"user","content":` + string(b) + `}`
}

// call and its result are those of a tool that reads a file.
func call(id, file string) string {
	return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"read","input":{"path":"` + file + `"}}]}`
}

func result(text string, ids ...string) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, `{"type":"tool_result","tool_use_id":"`+id+`","content":"`+text+` `+id+`"}`)
	}
	return `{"role":"user","content":[` + strings.Join(parts, ",") + `]}`
}
