package ambit_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/provider"

	"github.com/klauspost/compress/zstd"
)

// archive is a shelf whose files can be looked at, with requests that hold a conversation as clients send it.
type archive struct {
	*shelf
	mem   *vfs.Mem
	known map[provider.Hash]bool // messages that are no news
}

func newArchive(t testing.TB) *archive {
	t.Helper()
	mem := vfs.NewMem()
	d, err := journal.Open("/d", journal.Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := d.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unlock(); d.Close() })
	a := &archive{&shelf{t: t, store: d}, mem, make(map[provider.Hash]bool)}
	a.append(&entry.Session{ID: "s"})
	return a
}

func (a *archive) put(body []byte) *entry.Body {
	a.t.Helper()
	b, err := a.store.Put(a.t.Context(), "s", body)
	if err != nil {
		a.t.Fatal(err)
	}
	return &b
}

// talk records a request with these messages, and its answer. It returns the units of those that are new, and of the
// answer, last.
func (a *archive) talk(encoding string, messages []string, answer string) []entry.Seq {
	a.t.Helper()
	a.n++
	plain := []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"system":"You are careful.","messages":[` + strings.Join(messages, ",") + `]}`)
	body, headers := plain, map[string]string(nil)
	if encoding == "gzip" {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(plain)
		w.Close()
		body, headers = out.Bytes(), map[string]string{"content-encoding": "gzip"}
	}
	family := ambit.Family("anthropic", "POST", "/v1/messages")
	asked := family.Request("POST", "/v1/messages", nil)
	elements, err := family.Elements(asked, plain)
	if err != nil {
		a.t.Fatal(err)
	}
	a.append(
		&entry.Request{N: a.n, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Headers: headers, Body: a.put(body)},
		&entry.Relation{N: a.n, Thread: "t1", How: entry.Extends, Parent: a.n - 1, Messages: len(messages), Tools: true},
	)
	var units []entry.Seq
	for _, el := range elements.Messages {
		m := family.Message(asked, plain[el.Offset:el.Offset+el.Length], el.At)
		if a.known[el.Hash] || m.Role == "assistant" {
			continue
		}
		a.known[el.Hash] = true
		units = append(units, a.append(&entry.Unit{
			N: a.n, Of: entry.PartMessage, Thread: "t1", Role: m.Role, At: el.At, Offset: int64(el.Offset), Length: int64(el.Length), Element: fmt.Sprintf("%x", el.Hash[:]),
		}))
	}
	said, err := json.Marshal(answer)
	if err != nil {
		a.t.Fatal(err)
	}
	response := `{"type":"message","role":"assistant","content":[{"type":"text","text":` + string(said) + `}],"stop_reason":"end_turn"}`
	a.append(&entry.Response{N: a.n, Status: 200, Headers: map[string]string{"content-type": "application/json"}, End: entry.EndComplete, Body: a.put([]byte(response))})
	return append(units, a.append(&entry.Unit{N: a.n, Of: entry.PartAnswer, Thread: "t1", Role: "assistant", Length: int64(len(answer)), Whole: true}))
}

// holds reports whether a text is anywhere in the literal log, decompressed or not.
func (a *archive) holds(text string) bool {
	a.t.Helper()
	f, err := a.mem.Open(a.store.Folder("s") + "/bodies/literals.log")
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	size, _ := f.Size()
	log := make([]byte, size)
	f.ReadAt(log, 0)
	if bytes.Contains(log, []byte(text)) {
		return true
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		a.t.Fatal(err)
	}
	defer dec.Close()
	for at := 0; at+72 <= len(log); {
		payload := log[at+72 : at+72+int(binary.LittleEndian.Uint32(log[at+4:]))]
		at += 72 + len(payload)
		literal, err := dec.DecodeAll(payload, nil)
		if err == nil && bytes.Contains(literal, []byte(text)) {
			return true
		}
		if gone := bytes.Count(payload, []byte{0}) == len(payload); err != nil && !gone {
			a.t.Errorf("a record's payload is neither there nor gone: %v", err)
		}
	}
	return false
}

// sound wants nothing to be damaged, and so many bodies to be purged.
func (a *archive) sound(purged int) {
	a.t.Helper()
	r, err := a.store.Check(a.t.Context(), "s")
	if err != nil || !r.Sound() || r.Purged != purged || r.Left != 0 {
		a.t.Errorf("check found %+v, %v", r, err)
	}
}

// gone purges an entry's text.
func (a *archive) gone(seq entry.Seq) ambit.TextPurge {
	a.t.Helper()
	plan, err := a.open().PlanPurge(a.t.Context(), key, seq.Ref())
	if err != nil {
		a.t.Fatal(err)
	}
	done, err := a.open().PurgeText(a.t.Context(), key, seq.Ref())
	if err != nil || fmt.Sprint(plan) != fmt.Sprint(done) {
		a.t.Fatalf("%+v was to be done, and was %+v, %v", plan, done, err)
	}
	return done
}

// said is what an entry says, or journal.ErrPurged.
func (a *archive) said(seq entry.Seq) string {
	a.t.Helper()
	said, err := a.open().Said(a.t.Context(), seq)
	if errors.Is(err, journal.ErrPurged) {
		return "purged"
	}
	if err != nil {
		a.t.Fatal(err)
	}
	var texts []string
	for _, t := range said.Texts {
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "|")
}

func user(text, more string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q%s}]}`, text, more)
}

func assistant(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }

const marker = `,"cache_control":{"type":"ephemeral"}`

// TestPurgeMessage purges a short message that is sent again and again, each time spelled a little otherwise, and then an
// answer with what repeats it. All else can be read.
//
// covers: J-13 part
func TestPurgeMessage(t *testing.T) {
	for _, encoding := range []string{"", "gzip"} {
		t.Run("encoding "+encoding, func(t *testing.T) {
			a := newArchive(t)
			const secret, answer = "my word is plum-8812", "plum it is, says the long answer that nobody is to keep"
			first := a.talk("", []string{user("hello", ""), user(secret, marker)}, answer)
			history := []string{user("hello", ""), user(secret, ""), assistant(answer)}
			second := a.talk(encoding, append(history, user("and then?", marker)), "then this")
			history = append(history, user("and then?", ""), assistant("then this"))
			third := a.talk("", append(history, user("the end", marker)), "yes")
			if !a.holds(secret) || !a.holds("says the long answer") {
				t.Fatal("they are not there")
			}
			done := a.gone(first[1])
			if a.holds(secret) || done.Bytes == 0 || done.Bodies != 3 || done.Stays != 0 || done.Kind != entry.KindUnit {
				t.Errorf("%+v, and it is there: %v", done, a.holds(secret))
			}
			a.sound(3)
			then := "and then?"
			if encoding == "gzip" {
				then = "purged"
			}
			for seq, want := range map[entry.Seq]string{first[0]: "hello", first[1]: "purged", first[2]: answer, second[0]: then, third[0]: "the end", third[1]: "yes"} {
				if got := a.said(seq); got != want {
					t.Errorf("%s says %q, want %q", seq.Ref(), got, want)
				}
			}
			a.gone(first[2])
			if a.holds("says the long answer") || a.said(first[2]) != "purged" || a.said(third[0]) != "the end" {
				t.Error("the answer is there, or too much is gone")
			}
			a.sound(4)
			if again := a.gone(first[1]); again.Bytes != 0 || !again.Again {
				t.Errorf("again: %+v", again)
			}
			if _, err := a.open().View(t.Context(), "", 3); !errors.Is(err, journal.ErrPurged) {
				t.Errorf("a view of what held it: %v", err)
			}
		})
	}
}

// TestPurgeKeepsOthers purges a message that another entry says, too, in the same literal text: it stays until that is
// purged as well.
//
// covers: J-13 part
func TestPurgeKeepsOthers(t *testing.T) {
	a := newArchive(t)
	shared := ""
	for i := range 150 {
		shared += fmt.Sprintf("rule %d; ", i*i*7919%1009)
	}
	first := a.talk("", []string{user("one "+shared, "")}, "yes")
	second := a.talk("", []string{user("one "+shared, ""), assistant("yes"), user("two, with a secret "+shared+" end", "")}, "no")
	done := a.gone(second[0])
	if a.holds("with a secret") || !a.holds(shared) || done.Stays < 192 || len(done.Others) != 1 || done.Others[0] != first[0] {
		t.Errorf("%+v", done)
	}
	if a.said(first[0]) != "one "+shared || a.said(second[0]) != "purged" {
		t.Error("the other is gone, too, or it is not")
	}
	if done = a.gone(first[0]); a.holds(shared) || done.Stays != 0 {
		t.Errorf("%+v", done)
	}
	a.sound(2)
}

// TestPurgeWhatWasMade purges what was made of a message: an edit, a pin, a note, a checkpoint, and what was sent in its
// place. What was made of others stays.
//
// covers: J-13 part
func TestPurgeWhatWasMade(t *testing.T) {
	a := newArchive(t)
	secret := strings.Repeat("row 17 of the secret table, ", 20) + "and its end"
	const other = "what is harmless and is said by another message of the conversation"
	units := a.talk("", []string{user(secret, ""), user(other, "")}, "yes")
	body := func(text string) *entry.Body { return a.put([]byte(text)) }
	changes := func(list ...entry.Change) *entry.Body {
		data, err := entry.EncodeChanges(list)
		if err != nil {
			t.Fatal(err)
		}
		return a.put(data)
	}
	cut := user("[cut] "+secret[:90]+" …", "")
	gone := []*entry.Body{
		changes(entry.Change{How: entry.ChangeBehind, Of: units[0], Text: "cut"}), body(secret[30:80]), body(`{"text":"` + secret[10:60] + `"}`),
		body("did:\n- " + secret[28:75]), a.put([]byte(`{"model":"m","messages":[` + cut + `,` + user(other, "") + `]}`)),
	}
	kept := []*entry.Body{changes(entry.Change{How: entry.ChangeBehind, Of: units[1], Text: "cut"}), body("a pin of something else"), body(other)}
	a.append(
		&entry.Edit{Thread: "t1", Changes: 1, Body: gone[0]}, &entry.Pin{ID: "p1", Of: units[0], By: "user", Body: gone[1]}, &entry.Note{ID: "n1", Body: gone[2]},
		&entry.Decision{Thread: "t1", Stage: entry.StageCompact, Checkpoint: gone[3]}, &entry.Sent{N: 1, Attempt: 1, Edited: 1, Body: gone[4]},
		&entry.Edit{Thread: "t1", Changes: 1, Body: kept[0]}, &entry.Pin{ID: "p2", By: "user", Body: kept[1]}, &entry.Note{ID: "n2", Body: kept[2]},
	)
	a.gone(units[0])
	var edits []entry.Seq
	var lifts int
	for f := range a.store.Read(t.Context(), "s", 0) {
		switch fact := f.Fact.(type) {
		case *entry.Edit:
			edits = append(edits, f.Seq)
		case *entry.Decision:
			if fact.Stage == entry.StageLift && len(fact.Lifts) == 1 && fact.Lifts[0] == edits[0] && fact.Thread == "t1" {
				lifts++
			}
		}
	}
	if lifts != 1 || len(edits) != 2 {
		t.Errorf("%d of %d edits are lifted", lifts, len(edits))
	}
	for _, piece := range []string{"secret table", "17 of the"} {
		if a.holds(piece) {
			t.Errorf("%q is there", piece)
		}
	}
	for i, b := range gone {
		if _, err := a.store.Body(t.Context(), "s", *b); !errors.Is(err, journal.ErrPurged) {
			t.Errorf("body %d: %v", i, err)
		}
	}
	for i, b := range kept {
		if _, err := a.store.Body(t.Context(), "s", *b); err != nil {
			t.Errorf("body %d: %v", i, err)
		}
	}
	a.sound(6)
	if r := a.open(); a.said(units[1]) != other {
		t.Error("the other message is gone")
	} else if pins, err := r.Pins(t.Context()); err != nil || len(pins) != 1 || pins[0].ID != "p2" {
		t.Errorf("pins %+v, %v", pins, err)
	}
}

// TestPurgeRefusals refuses what has no text, and what is not there; and purges a whole request and a pin.
//
// covers: J-13 part
func TestPurgeRefusals(t *testing.T) {
	a := newArchive(t)
	a.talk("", []string{user("the first", "")}, "yes")
	for ref, want := range map[string]error{"e1": ambit.ErrRefused, "e3": ambit.ErrRefused, "e99": ambit.ErrNoRef, "no": ambit.ErrNoRef, "e2.wrong": ambit.ErrNoRef} {
		if _, err := a.open().PurgeText(t.Context(), key, ref); !errors.Is(err, want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	a.talk("", []string{user("the first", ""), assistant("yes"), user("the second", "")}, "no")
	a.gone(2)
	if a.holds("the first") || a.said(4) != "purged" || !a.holds("the second") || !a.holds("You are careful") {
		t.Error("the request is there, or more is gone")
	}
	pin, err := a.open().Pin(t.Context(), key, ambit.Pinning{Text: "keep the kettle on", By: ambit.ByUser})
	if err != nil {
		t.Fatal(err)
	}
	p := a.open()
	if err := p.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := entry.Seq(0)
	for f := range a.store.Read(t.Context(), "s", 0) {
		last = f.Seq
	}
	if done := a.gone(last); done.Kind != entry.KindPin || a.holds("kettle") || pin.ID != "p1" {
		t.Errorf("%+v", done)
	}
}

// TestPurgeInFork purges in a fork what its own requests say again of a message that it has from elsewhere, which stays
// there.
//
// covers: J-13 part
func TestPurgeInFork(t *testing.T) {
	a := newArchive(t)
	units := a.talk("", []string{user("the plum tree is ours", "")}, "yes")
	ctx := t.Context()
	if err := ambit.Fork(ctx, a.store, "s", units[1], entry.Session{ID: "f"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := a.store.Lock(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	open := func() *ambit.Recording {
		r, err := ambit.OpenRecording(ctx, a.store, "f")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if _, err := open().PurgeText(ctx, key, units[0].Ref()); !errors.Is(err, ambit.ErrRefused) {
		t.Errorf("the fork stores nothing of it: %v", err)
	}
	body := []byte(`{"model":"m","messages":[` + user("the plum tree is ours", marker) + `,` + assistant("yes") + `,` + user("go on", "") + `]}`)
	b, err := a.store.Put(ctx, "f", body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.Append(ctx, "f", &entry.Request{N: 2, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Body: &b}); err != nil {
		t.Fatal(err)
	}
	done, err := open().PurgeText(ctx, key, units[0].Ref())
	if err != nil || done.Bodies != 1 || done.Bytes == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := a.store.Body(ctx, "f", b); !errors.Is(err, journal.ErrPurged) {
		t.Error(err)
	}
	if !a.holds("plum tree") || a.said(units[0]) != "the plum tree is ours" {
		t.Error("the other session lost it")
	}
	if r, err := a.store.Check(ctx, "f"); err != nil || !r.Sound() || r.Purged != 1 {
		t.Errorf("check found %+v, %v", r, err)
	}
}
