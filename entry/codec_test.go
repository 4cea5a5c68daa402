package entry_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"ambit/entry"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// facts are one of every kind, with every member set.
func facts() []entry.Fact {
	body := &entry.Body{At: 12, Size: 34, SHA256: strings.Repeat("ab", 32)}
	place := &entry.Place{In: 2, Line: 3, Offset: 4, Length: 5}
	at := time.Date(2026, 11, 29, 12, 0, 0, 5, time.UTC)
	return []entry.Fact{
		&entry.Session{
			ID: "s-1", Title: "a <title> & more", Client: "codex/1", Key: "openai:session-id:x",
			From: &entry.Fork{Session: "s-0", Seq: 9, Sum: strings.Repeat("cd", 32), Imported: true},
		},
		&entry.Request{
			N: 3, Provider: "openai", Type: "responses", Method: "POST", Path: "/v1/responses?x=y", Headers: map[string]string{"a": "b"},
			Model: "m", Effort: "high", Arrived: at, Partial: true, Recorded: place, Body: body,
		},
		&entry.Response{
			N: 3, Status: 200, Headers: map[string]string{"a": "b"}, Model: "m-1", Usage: &entry.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4, CacheWriteHour: 1},
			End: entry.EndDropped, Error: "unexpected EOF", FirstByteMS: 5, AskedMS: 1, DurationMS: 6, Recorded: place, Body: body,
		},
		&entry.Relation{
			N: 3, Thread: "t2", Parent: 2, How: entry.Agent, Evidence: "argument", Owner: 1, Call: "call_1", Alias: "openai:x-session-id:y", About: 1, Key: "responses",
			Messages: 4, Chain: strings.Repeat("ef", 16), Tools: true,
		},
		&entry.Unit{
			N: 3, Of: entry.PartMessage, Thread: "t2", Role: "assistant", At: "/input/0", Offset: 10, Length: 20, Element: strings.Repeat("01", 32),
			Calls: []string{"call_1"}, Results: []string{"call_0"}, Name: "resp_1", Whole: true, Unknown: true, In: 2, Line: 5,
		},
		&entry.Gap{Exchanges: 7, Bytes: 8, Cause: "no space left on device", Since: at},
		&entry.Imported{Format: "claude-code", Name: "a.jsonl", Version: "2.1.1", Key: "import:ab", Lines: 9, Title: place, SHA256: strings.Repeat("ab", 32), Body: body},
		&entry.Purged{Bodies: 3, Bytes: 4, Of: 5, Runs: []entry.Run{{At: 0, Length: 3}, {At: 9, Length: 1}}},
		&entry.Decision{
			N: 3, Thread: "t1", Policy: "full", Stage: entry.StageCompact, Event: "context.compacted", Reactive: true, Why: "it did not fit", Whole: 9, Before: 8, After: 7,
			Kept: 6, LastReal: 5, Usable: 4, Cold: true, IdleMS: 3, LifeMS: 2, Forced: true, Price: 0.25, Account: 0.5, Spent: 0.125, Slack: 0.05, Lifts: []entry.Seq{7},
			Uncut: []string{"e5: media"}, Repaired: 1, Lost: 2, Checkpoint: body,
		},
		&entry.Edit{N: 3, Thread: "t1", Changes: 2, Body: body},
		&entry.Sent{
			N: 3, Attempt: 2, Why: "not understood", Edited: 4, Whole: 5, After: 6, Account: 0.5, Spent: 0.25, Held: []string{"p1"}, Missing: []string{"p2: a side request"},
			Body: body, Refused: body, Status: 400,
		},
		&entry.Pin{ID: "p1", Of: 4, By: "user", Off: true, Body: body},
		&entry.Note{ID: "n1", Class: "finding", By: "agent", Refs: []string{"e4"}, Body: body},
		&entry.Input{ID: "a", Delivery: entry.Steer, By: "user", Body: body},
		&entry.Promoted{Activity: 2, Inputs: []entry.Seq{7}},
		&entry.Works{
			Agent: "coder", Role: body, Tools: strings.Repeat("ab", 32), Parent: "s-0", Provider: "openai", Type: "responses", Model: "m", BaseURL: "http://x/v1", Output: 9, Window: 8, Travels: "auto", Policy: "cut", Dir: "/w", Plain: true,
		},
		&entry.Told{Baseline: true, Text: body, Volatile: body, Values: body, Missing: []entry.Missing{{Key: "core/git", Why: "no git"}}, Why: "it begins"},
		&entry.Call{N: 3, ID: "call_1", Name: "bash"},
		&entry.Result{N: 3, ID: "call_1", Failed: true, Ended: entry.SettledRun, TookMS: 5, Body: body},
		&entry.Idle{Activity: 2, Turns: 3, Ended: entry.EndingLimit, Why: "25 turns"},
		&entry.Unknown{Name: "later", Raw: json.RawMessage(`{"time":"2026-11-29T12:00:00Z","kind":"later","to":[1,2.50]}`)},
	}
}

// TestRoundTrip encodes every kind and reads the same back.
func TestRoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 29, 13, 0, 0, 123456789, time.FixedZone("east", 3600))
	for _, f := range facts() {
		data, err := entry.Encode(entry.Entry{Time: at, Fact: f})
		if err != nil {
			t.Fatalf("%s: %v", f.Kind(), err)
		}
		got, err := entry.Decode(9, data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(f, got.Fact, cmp.Comparer(func(a, b json.RawMessage) bool { return string(a) == string(b) })); diff != "" {
			t.Errorf("%s (-want +got)\n%s", f.Kind(), diff)
		}
		if _, unknown := f.(*entry.Unknown); got.Seq != 9 || !unknown && !got.Time.Equal(at) {
			t.Errorf("%s: entry %d at %v", f.Kind(), got.Seq, got.Time)
		}
		if strings.Contains(string(data), "\\u003c") || strings.ContainsAny(string(data), "\n\r") {
			t.Errorf("%s is spelled %s", f.Kind(), data)
		}
	}
}

// TestFactsAreSet keeps facts() honest: a member that is added must be tested too.
func TestFactsAreSet(t *testing.T) {
	for _, f := range facts() {
		v := reflect.ValueOf(f).Elem()
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s: %s is not set", f.Kind(), v.Type().Field(i).Name)
			}
		}
	}
}

// TestRefs reads what Ref writes, and nothing else.
func TestRefs(t *testing.T) {
	for _, seq := range []entry.Seq{1, 9, 412, 1<<63 - 1} {
		if got := entry.ParseRef(seq.Ref()); got != seq {
			t.Errorf("%s is read as %d", seq.Ref(), got)
		}
	}
	for _, ref := range []string{"", "e", "e0", "e01", "e-1", "e+1", "412", "E412", "e4 ", " e4", "e9223372036854775808", "e1_0", "../e1"} {
		if got := entry.ParseRef(ref); got != 0 {
			t.Errorf("%q is read as %d", ref, got)
		}
	}
}

// TestUnknownMembers reads an entry of a later version: what is known is understood, the rest passed over.
func TestUnknownMembers(t *testing.T) {
	e, err := entry.Decode(1, []byte(`{"time":"2026-11-29T12:00:00Z","kind":"gap","exchanges":2,"colour":"red"}`))
	if err != nil {
		t.Fatal(err)
	}
	if gap, ok := e.Fact.(*entry.Gap); !ok || gap.Exchanges != 2 {
		t.Errorf("%+v", e.Fact)
	}
}

// TestNotAnEntry refuses what is not one.
func TestNotAnEntry(t *testing.T) {
	for _, data := range []string{"", "null", "[]", "{}", `{"kind":""}`, `{"kind":"gap","time":"yesterday"}`, `{"kind":"gap","exchanges":"two"}`, `{"kind":5}`} {
		if e, err := entry.Decode(1, []byte(data)); err == nil {
			t.Errorf("%q was read as %+v", data, e)
		}
	}
	if _, err := entry.Encode(entry.Entry{}); err == nil {
		t.Error("an entry without a fact was encoded")
	}
}

// An entry's time and kind are read however they are spelled: as Encode writes them, which is read faster, and otherwise. Of a
// kind that is not known the whole must be JSON, too.
func TestHead(t *testing.T) {
	at := time.Date(2026, 11, 29, 12, 0, 0, 500, time.UTC)
	for _, data := range []string{
		`{"time":"2026-11-29T12:00:00.0000005Z","kind":"gap","exchanges":2}`,
		`{"kind":"gap","exchanges":2,"time":"2026-11-29T12:00:00.0000005Z"}`,
		`{"time":"2026-11-29T12:00:00.0000005Z","exchanges":2,"cause":"x","kind":"gap"}`,
		`{"time":"2026-11-29T12:00:00.0000005Z","cause":"\",\"kind\":\"","exchanges":2,"kind":"gap"}`,
		`{"time":"2026-11-29T12:00:00.0000005Z","kind":"g\u0061p","exchanges":2}`,
		`{ "time" : "2026-11-29T14:00:00.0000005+02:00", "kind" : "gap", "exchanges" : 2 }`,
	} {
		e, err := entry.Decode(1, []byte(data))
		if gap, ok := e.Fact.(*entry.Gap); err != nil || !ok || gap.Exchanges != 2 || !e.Time.Equal(at) {
			t.Errorf("%s was read as %+v, %v", data, e, err)
		}
	}
	for _, data := range []string{
		`{"time":"2026-11-29T12:00:00Z","kind":"from later","x":}`, `{"time":"2026-11-29T12:00:00Z","kind":"from later"`,
		`{"time":"2026-11-29 12:00","kind":"gap"}`, `{"time":"2026-11-29T12:00:00Z","kind":"","kind":""}`,
		`{"time":"2026-11-29T12:00:00Z","kind":"gap"x}`, `{"time":"2026-11-29T12:00:00Z","kind":"from later"x}`,
	} {
		if e, err := entry.Decode(1, []byte(data)); err == nil {
			t.Errorf("%s was read as %+v", data, e)
		}
	}
	if e, err := entry.Decode(1, []byte(`{"time":"2026-11-29T12:00:00Z","kind":"from later","x":1}`)); err != nil || e.Fact.Kind() != "from later" {
		t.Errorf("an entry of a later version was read as %+v, %v", e, err)
	}
}

// TestBodies finds the bodies that facts rely on.
func TestBodies(t *testing.T) {
	for _, f := range facts() {
		want := 0
		switch f.(type) {
		case *entry.Request, *entry.Response, *entry.Imported, *entry.Decision, *entry.Edit, *entry.Pin, *entry.Note,
			*entry.Input, *entry.Works, *entry.Result:
			want = 1
		case *entry.Sent:
			want = 2
		case *entry.Told:
			want = 3
		}
		if got := len(entry.Bodies(f)); got != want {
			t.Errorf("%s relies on %d bodies, want %d", f.Kind(), got, want)
		}
	}
	if n := len(entry.Bodies(&entry.Request{})) + len(entry.Bodies(&entry.Response{})); n != 0 {
		t.Errorf("facts without a body rely on %d", n)
	}
}

// TestAnyText encodes whatever text a client sends into something that reads back alike, in one line.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")), "\uFFFD")
		data, err := entry.Encode(entry.Entry{Fact: &entry.Request{Path: text, Headers: map[string]string{text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := entry.Decode(1, data)
		if r, ok := got.Fact.(*entry.Request); err != nil || !ok || r.Path != text || r.Headers[text] != text || strings.Contains(string(data), "\n") {
			t.Fatalf("%q became %s, %v", text, data, err)
		}
	})
}

// FuzzDecode reads anything without harm; what it reads it writes again as something that reads alike.
func FuzzDecode(f *testing.F) {
	for _, fact := range facts() {
		data, err := entry.Encode(entry.Entry{Fact: fact})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"kind":"session","kind":"gap"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := entry.Decode(1, data)
		if err != nil || e.Time.Year() > 9999 || e.Time.Year() < 0 {
			return
		}
		again, err := entry.Encode(e)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", data, err)
		}
		if back, err := entry.Decode(1, again); err != nil || back.Fact.Kind() != e.Fact.Kind() {
			t.Fatalf("%s was written as %s: %v", data, again, err)
		}
	})
}
