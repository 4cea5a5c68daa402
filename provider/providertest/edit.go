package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/provider"
)

// Edits checks the laws of Edit on one body, with changes that are drawn.
func Edits(t *testing.T, p provider.Protocol, req provider.Request, body string) {
	t.Helper()
	e, err := p.Elements(req, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Messages) > 0 {
		rapid.Check(t, func(t *rapid.T) { edited(t, p, Exchange{Request: req, Body: body}, e) })
	}
}

// FuzzEdit checks the laws of Edit on the bodies of the exchanges and on what the fuzzer makes of them. The changes are the
// fuzzer's too: bit by bit, which messages go, which are replaced, and behind which something is put.
func FuzzEdit(f *testing.F, p provider.Protocol, exchanges ...Exchange) {
	for _, x := range exchanges {
		f.Add(x.Request.Type, x.Body, uint64(1), uint64(6), uint64(8))
	}
	f.Fuzz(func(t *testing.T, kind, body string, gone, texts, behind uint64) {
		x := Exchange{Request: provider.Request{Type: kind}, Body: body}
		e, err := p.Elements(x.Request, []byte(body))
		if err != nil {
			return
		}
		var changes []provider.Change
		for i := range min(len(e.Messages), 64) {
			if bit := uint64(1) << i; (gone|texts|behind)&bit != 0 {
				changes = append(changes, changeOf(p, x, e.Messages[i], i, gone&bit != 0, texts&bit != 0, behind&bit != 0))
			}
		}
		edit(t, p, x, e, changes)
	})
}

// changeOf is a change of each text that a message has.
func changeOf(p provider.Protocol, x Exchange, el provider.Element, at int, gone, texts, behind bool) provider.Change {
	c := provider.Change{At: at, Gone: gone}
	if texts {
		c.Texts = map[string]string{}
		for _, id := range editable(messageOf(p, x, el)) {
			c.Texts[id] = "instead of " + id
		}
	}
	if behind {
		c.Behind = []string{"behind"}
	}
	return c
}

// editable are what a message's texts can be changed by: the ids of its results, and "" for a text of its own.
func editable(m provider.Message) []string {
	ids := slices.Clone(m.Results)
	for _, text := range m.Texts {
		if text.Call == "" && text.Said != provider.SaidArgument {
			return append(ids, "")
		}
	}
	return ids
}

func messageOf(p provider.Protocol, x Exchange, el provider.Element) provider.Message {
	return p.Message(x.Request, []byte(x.Body[el.Offset:el.Offset+el.Length]), el.At)
}

// arbitraryEdit: changes that nothing holds, of elements that are not the body's, do no harm.
func arbitraryEdit(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	body := drawText(t, "body", exchanges, func(x Exchange) string { return x.Body })
	other := drawText(t, "other", exchanges, func(x Exchange) string { return x.Body })
	req := provider.Request{Type: rapid.SampledFrom(types).Draw(t, "type")}
	e, err := p.Elements(req, []byte(other))
	if err != nil {
		e.Messages = []provider.Element{{At: "/messages/0", Offset: rapid.IntRange(-9, 99).Draw(t, "offset"), Length: rapid.Int().Draw(t, "length")}}
	}
	var changes []provider.Change
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		changes = append(changes, drawChange(t, rapid.IntRange(-1, len(e.Messages)).Draw(t, "at"), []string{"", "call_1", "toolu_1"}, true))
	}
	call(t, p, req, body, e, changes)
}

// drawChange draws a change of one message; wild, with texts that may be blank.
func drawChange(t *rapid.T, at int, ids []string, wild bool) provider.Change {
	text := rapid.SampledFrom([]string{"x", "two\nlines \"quoted\" \\ \u2028 😀", "bad \xff\xed\xa0\x80 bytes"})
	if wild {
		text = rapid.OneOf(rapid.StringN(0, 8, -1), rapid.Just(" "))
	}
	c := provider.Change{At: at, Gone: rapid.IntRange(0, 2).Draw(t, "gone") == 0}
	for _, id := range ids {
		if rapid.IntRange(0, 2).Draw(t, "text") > 0 {
			if c.Texts == nil {
				c.Texts = map[string]string{}
			}
			c.Texts[id] = text.Draw(t, "instead")
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "behind") == 0 {
		c.Behind = rapid.SliceOfN(text, 1, 2).Draw(t, "texts behind")
	}
	return c
}

// edited: changes that are drawn of what the messages hold keep the laws.
func edited(t *rapid.T, p provider.Protocol, x Exchange, e provider.Elements) {
	wild := rapid.IntRange(0, 4).Draw(t, "wild") == 0
	some := rapid.IntRange(1, 4).Draw(t, "some")
	var changes []provider.Change
	for i, el := range e.Messages {
		if rapid.IntRange(0, some).Draw(t, "changed") > 0 {
			continue
		}
		m := messageOf(p, x, el)
		ids := editable(m)
		if m.Fixed != "" && !wild {
			ids = nil
		}
		c := drawChange(t, i, ids, wild)
		c.Gone = c.Gone && (wild || m.Fixed == "" || m.Fixed == provider.Reasoned)
		changes = append(changes, c)
	}
	for refused := edit(t, p, x, e, changes); refused != nil && len(changes) > 0; refused = edit(t, p, x, e, changes) {
		changes = slices.DeleteFunc(changes, func(c provider.Change) bool { return c.At == refused.At })
	}
}

// call calls p.Edit twice. The error is one that may be.
func call(t failer, p provider.Protocol, req provider.Request, body string, e provider.Elements, changes []provider.Change) (got []byte, err error) {
	t.Helper()
	lent(t, body, func(b []byte) { got, err = p.Edit(req, b, e, changes) })
	lent(t, body, func(b []byte) {
		if again, twice := p.Edit(req, b, e, changes); !bytes.Equal(got, again) || (err == nil) != (twice == nil) {
			t.Fatalf("edited to %q with %v, then to %q with %v", got, err, again, twice)
		}
	})
	if err == nil {
		return got, nil
	}
	var refused *provider.EditError
	if got != nil || !errors.As(err, &refused) && !errors.Is(err, provider.ErrNotUnderstood) {
		t.Fatalf("error %v with the body %q, want ErrNotUnderstood or an EditError, and none", err, got)
	}
	if refused != nil && (refused.Why == "" || !slices.ContainsFunc(changes, func(c provider.Change) bool { return c.At == refused.At })) {
		t.Fatalf("error %v is of no change in %+v", err, changes)
	}
	return nil, err
}

// edit: what comes of changes is JSON whose elements are as asked, and nothing else is changed. It returns what was refused.
func edit(t failer, p provider.Protocol, x Exchange, e provider.Elements, changes []provider.Change) (refused *provider.EditError) {
	t.Helper()
	got, err := call(t, p, x.Request, x.Body, e, changes)
	if errors.As(err, &refused) {
		return refused
	}
	if err != nil {
		t.Fatalf("%s\nis understood, and is not when it is changed: %v", x.Body, err)
	}
	if len(changes) == 0 && string(got) != x.Body {
		t.Fatalf("without a change\n%s\nbecame\n%s", x.Body, got)
	}
	if !json.Valid(got) {
		t.Fatalf("%s\nbecame what is no JSON\n%s", x.Body, got)
	}
	now, err := p.Elements(x.Request, got)
	if err != nil {
		t.Fatalf("%s\nbecame\n%s\n%v", x.Body, got, err)
	}
	j := judge{t, p, x, Exchange{Request: x.Request, Body: string(got)}, e, now, changes}
	j.others()
	kept, changed := j.messages()
	around := ", \t\r\n"
	if slices.ContainsFunc(e.Messages, alone) {
		around += "[]"
	}
	was, is := skeleton(x.Body, e, kept, around), skeleton(string(got), now, changed, around)
	if len(now.Messages) == 0 {
		was, is = without(was, around), without(is, around)
	}
	if was != is {
		t.Fatalf("%s\nchanged by %+v became\n%s\nwhich also changes\n%s\nto\n%s", x.Body, changes, got, was, is)
	}
	if was, is := markersIn(parse(x.Body)), markersIn(parse(string(got))); is > was {
		t.Fatalf("%s\nbecame\n%s\nwith %d cache markers instead of %d", x.Body, got, is, was)
	}
	return nil
}

// judge compares a body with what it became.
type judge struct {
	t        failer
	p        provider.Protocol
	x, after Exchange
	was, now provider.Elements
	changes  []provider.Change
}

func (j judge) fail(what string) {
	j.t.Helper()
	j.t.Fatalf("%s\nchanged by %+v became\n%s\n%s", j.x.Body, j.changes, j.after.Body, what)
}

// others: all that are no messages are the same. A system message in the middle may come to stand in front.
func (j judge) others() {
	j.t.Helper()
	was, now := j.was, j.now
	if !slices.Equal(hashesOf(was.Tools), hashesOf(now.Tools)) || !slices.Equal(hashesOf(was.Deferred), hashesOf(now.Deferred)) ||
		was.SystemFirst != now.SystemFirst || was.Previous != now.Previous {
		j.fail("with other tools")
	}
	if n := len(was.System); len(now.System) < n || !slices.Equal(hashesOf(was.System), hashesOf(now.System[:n])) {
		j.fail("with another system")
	}
}

func hashesOf(list []provider.Element) (hashes []provider.Hash) {
	for _, e := range list {
		hashes = append(hashes, e.Hash)
	}
	return hashes
}

// messages: each message is as it was, or as it was asked for. It returns which of the elements of both bodies were not
// changed, by where they stand.
func (j judge) messages() (kept, same map[int]bool) {
	j.t.Helper()
	kept, same = map[int]bool{}, map[int]bool{}
	of := map[int]provider.Change{}
	for _, c := range j.changes {
		of[c.At] = c
	}
	now := slices.Concat(j.now.System[len(j.was.System):], j.now.Messages)
	slices.SortFunc(now, func(a, b provider.Element) int { return a.Offset - b.Offset })
	next := func() (el provider.Element) {
		if len(now) == 0 {
			j.fail("which has too few messages")
		}
		el, now = now[0], now[1:]
		return el
	}
	for i, el := range j.was.Messages {
		c, ok := of[i]
		if !ok || !c.Gone {
			is := next()
			switch {
			case len(c.Texts) > 0:
				j.replaced(el, is, c)
			case is.Hash != el.Hash:
				j.fail("with another message " + el.At)
			case !alone(el):
				kept[el.Offset], same[is.Offset] = true, true
			}
		}
		for _, text := range c.Behind {
			j.put(next(), text)
		}
	}
	if len(now) > 0 {
		j.fail("which has too many messages")
	}
	return kept, same
}

// alone reports whether an element stands in place of a list.
func alone(el provider.Element) bool {
	return strings.Trim(el.At[strings.LastIndexByte(el.At, '/')+1:], "0123456789") != ""
}

// put: a message that was put in says the text, and it is the user who says it.
func (j judge) put(el provider.Element, text string) {
	j.t.Helper()
	m := messageOf(j.p, j.after, el)
	if m.Role != "user" || m.Fixed != "" || len(m.Texts) != 1 || m.Texts[0].Said != provider.SaidUser || m.Texts[0].Text != valid(text) {
		j.fail("where the user says " + text + " in a message that was put in")
	}
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// replaced: a message whose texts were changed says these, and what it said beside them.
func (j judge) replaced(el, is provider.Element, c provider.Change) {
	j.t.Helper()
	was, now := messageOf(j.p, j.x, el), messageOf(j.p, j.after, is)
	if was.Fixed != "" {
		j.fail("in which a message was changed that is fixed")
	}
	said := texts(was)
	for id, text := range c.Texts {
		if id == "" && said[id] == nil {
			id = beside
		}
		if said[id] = nil; text != "" {
			said[id] = []string{valid(text)}
		}
	}
	maps.DeleteFunc(said, func(_ string, list []string) bool { return len(list) == 0 })
	got := texts(now)
	if !reflect.DeepEqual(said, got) {
		j.fail("where " + el.At + " does not say what it should")
	}
	was.Texts, now.Texts = nil, nil
	if !reflect.DeepEqual(was, now) {
		j.fail("where " + el.At + " holds something else beside its texts")
	}
	if is.Hash == el.Hash && !reflect.DeepEqual(texts(messageOf(j.p, j.x, el)), got) {
		j.fail("where " + el.At + " says something else under the same hash")
	}
}

// beside is for the texts of tools that are of no result with an id.
const beside = "beside"

// texts are what a message says, by the calls whose results it is of; its own are under "". Arguments are left out.
func texts(m provider.Message) map[string][]string {
	said := map[string][]string{}
	for _, text := range m.Texts {
		id := text.Call
		if text.Said == provider.SaidTool && id == "" {
			id = beside
		}
		if text.Said != provider.SaidArgument {
			said[id] = append(said[id], text.Text)
		}
	}
	return said
}

// skeleton is a body without those of its messages that are not kept, and without what may change around messages and blocks of the system.
func skeleton(body string, e provider.Elements, kept map[int]bool, around string) string {
	list := slices.Concat(e.Messages, e.System)
	slices.SortFunc(list, func(a, b provider.Element) int { return a.Offset - b.Offset })
	var b strings.Builder
	at := 0
	for _, el := range list {
		between := strings.TrimRight(body[at:el.Offset], around)
		if at > 0 {
			between = strings.TrimLeft(between, around)
		}
		b.WriteString(between)
		if at = el.Offset + el.Length; kept[el.Offset] || slices.Contains(e.System, el) {
			b.WriteString(body[el.Offset:at])
		}
	}
	b.WriteString(strings.TrimLeft(body[at:], around))
	return b.String()
}

// without is a text without these characters: where no message is left, it cannot be seen where they stood.
func without(text, around string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(around, r) {
			return -1
		}
		return r
	}, text)
}

// markersIn counts the cache markers in a value.
func markersIn(n *node) (count int) {
	for i, kid := range n.kids {
		if n.open == '{' && kid.text != "null" && (n.name(i) == "cache_control" || n.name(i) == "prompt_cache_breakpoint") {
			count++
		}
		count += markersIn(kid)
	}
	return count
}
