package ambit_test

import (
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/provider"

	"pgregory.net/rapid"
)

var key = []byte("a key")

// shelf is a session that a test fills by hand.
type shelf struct {
	t     testing.TB
	store *journal.Dir
	n     int
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	d, err := journal.Open("/d", journal.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := d.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unlock(); d.Close() })
	s := &shelf{t: t, store: d}
	s.append(&entry.Session{ID: "s"})
	return s
}

func (s *shelf) append(facts ...entry.Fact) entry.Seq {
	s.t.Helper()
	seq, err := s.store.Append(s.t.Context(), "s", facts...)
	if err != nil {
		s.t.Fatal(err)
	}
	return seq
}

// request records a request of Anthropic's with one message that is new, as it is spelled, and returns its unit.
func (s *shelf) request(how entry.Relating, parent int, message string) entry.Seq {
	s.t.Helper()
	s.n++
	head := `{"messages":[`
	body, err := s.store.Put(s.t.Context(), "s", []byte(head+message+"]}"))
	if err != nil {
		s.t.Fatal(err)
	}
	answered := s.append(
		&entry.Request{N: s.n, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Body: &body},
		&entry.Relation{N: s.n, Thread: "t1", How: how, Parent: parent, Messages: 2*s.n - 1},
		&entry.Unit{N: s.n, Of: entry.PartMessage, Thread: "t1", Role: "user", At: "/messages/0", Offset: int64(len(head)), Length: int64(len(message))},
		&entry.Response{N: s.n, Status: 200, End: entry.EndComplete},
	)
	return answered - 1
}

func (s *shelf) open() *ambit.Recording {
	s.t.Helper()
	rec, err := ambit.OpenRecording(s.t.Context(), s.store, "s")
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// spelled writes a text as JSON in one of the ways in which clients do.
func spelled(t *rapid.T, text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch how := rapid.IntRange(0, 9).Draw(t, "how"); {
		case r < ' ' || how == 0 && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '"' || r == '\\' || r == '/' && how < 5:
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TestSearchFindsWhatever finds a text however the message is spelled that holds it, and proves that it is not there when
// none does.
//
// covers: A-02 part
func TestSearchFindsWhatever(t *testing.T) {
	letters := rapid.SampledFrom([]rune{'a', 'b', '"', '\\', '/', '\n', 'u', '0', 'é', '\u2028', '😀', ' '})
	word := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(letters, 1, 6).Draw(t, "letters")) })
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf(t)
		var texts []string
		for range rapid.IntRange(1, 4).Draw(rt, "messages") {
			text := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(rt, "words"), "")
			texts = append(texts, text)
			s.request(entry.Extends, s.n, `{"role":"user","content":`+spelled(rt, text)+`}`)
		}
		needle := word.Draw(rt, "needle")
		if rapid.Bool().Draw(rt, "present") {
			runes := []rune(rapid.SampledFrom(texts).Draw(rt, "text"))
			from := rapid.IntRange(0, len(runes)-1).Draw(rt, "from")
			needle = string(runes[from:rapid.IntRange(from+1, len(runes)).Draw(rt, "to")])
		}
		want := index(texts, needle)
		a := s.open().Search(t.Context(), key, ambit.Query{Text: needle})
		if want < 0 {
			if a.Status != "complete-miss" || a.Coverage != "complete" {
				rt.Fatalf("%q in %q: %+v", needle, texts, a)
			}
			return
		}
		if a.Status != "found" || a.Results[0].N != want+1 || !strings.Contains(a.Results[0].Text, needle) {
			rt.Fatalf("%q in %q: %+v", needle, texts, a)
		}
		r := a.Results[0]
		again := s.open().Read(t.Context(), key, ambit.Reading{Ref: r.Ref, Revision: r.Revision, Field: r.Field, StartLine: r.StartLine, EndLine: r.EndLine})
		if again.Status != "found" || again.Results[0].Text != r.Text {
			rt.Fatalf("%q was found as %+v and is read as %+v", needle, r, again)
		}
	})
}

func index(texts []string, needle string) int {
	for i, text := range texts {
		if strings.Contains(text, needle) {
			return i
		}
	}
	return -1
}

// TestBranches shows what a rewind left behind to people only.
//
// covers: A-01 part
func TestBranches(t *testing.T) {
	s := newShelf(t)
	s.request(entry.Root, 0, `{"role":"user","content":"begin"}`)
	left := s.request(entry.Extends, 1, `{"role":"user","content":"left behind"}`)
	s.request(entry.Extends, 2, `{"role":"user","content":"also left"}`)
	s.request(entry.Rewind, 1, `{"role":"user","content":"instead"}`)
	rec := s.open()
	for text, want := range map[string][2]string{
		"begin": {"found", "found"}, "left behind": {"complete-miss", "found"}, "also left": {"complete-miss", "found"}, "instead": {"found", "found"},
	} {
		for branches, status := range want {
			if a := rec.Search(t.Context(), key, ambit.Query{Text: text, Branches: ambit.Branches(branches)}); string(a.Status) != status {
				t.Errorf("%q on %d: %+v", text, branches, a)
			}
		}
	}
	if a := rec.Read(t.Context(), key, ambit.Reading{Ref: left.Ref()}); a.Status != "not_authorized" || len(a.Results) > 0 {
		t.Errorf("what was left behind is read: %+v", a)
	}
	if a := rec.Read(t.Context(), key, ambit.Reading{Ref: left.Ref(), Branches: ambit.AllBranches}); a.Status != "found" || a.Results[0].Text != "left behind" {
		t.Errorf("what was left behind is not read by a person: %+v", a)
	}
}

// TestHandles takes refs as models see them, of this session and key only.
//
// covers: A-01 part
func TestHandles(t *testing.T) {
	s := newShelf(t)
	seq := s.request(entry.Root, 0, `{"role":"user","content":"begin"}`)
	rec := s.open()
	handle := rec.Handle(key, seq)
	for ref, status := range map[string]string{
		handle: "found", seq.Ref(): "found", rec.Handle([]byte("another key"), seq): "not_authorized", rec.Handle(key, seq-1): "not_authorized",
		seq.Ref() + ".aaaaaaaa": "not_authorized", handle[:len(handle)-1]: "not_authorized", strings.ToUpper(handle): "not_authorized",
		(seq + 2).Ref() + handle[strings.IndexByte(handle, '.'):]: "not_authorized",
	} {
		a := rec.Read(t.Context(), key, ambit.Reading{Ref: ref})
		if string(a.Status) != status || (status == "found") != (len(a.Results) > 0) {
			t.Errorf("%s: %+v", ref, a)
		}
		if status == "found" && a.Results[0].Ref != ref {
			t.Errorf("%s is answered as %s", ref, a.Results[0].Ref)
		}
	}
}

// TestNoProof says that absence is not proven where something is missing.
//
// covers: A-03 part
func TestNoProof(t *testing.T) {
	for name, missing := range map[string]func(s *shelf){
		"a gap": func(s *shelf) { s.append(&entry.Gap{Exchanges: 1}) },
		"a request of an older version": func(s *shelf) {
			body, err := s.store.Put(t.Context(), "s", []byte(`{"messages":[{"role":"user","content":"begin"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			s.append(&entry.Request{N: 9, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Body: &body})
		},
		"a unit that is longer than its body": func(s *shelf) {
			s.append(&entry.Unit{N: 1, Of: entry.PartMessage, At: "/messages/0", Offset: 10, Length: 10_000})
		},
		"an answer that is under way": func(s *shelf) {
			s.append(&entry.Request{N: 2, Provider: "anthropic", Type: provider.TypeMessages}, &entry.Relation{N: 2, Thread: "t1", How: entry.Extends, Parent: 1})
		},
		"a kind that is not known": func(s *shelf) {
			s.append(&entry.Unit{N: 1, Of: entry.PartMessage, At: "/messages/0", Offset: 13, Length: 33, Unknown: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			s.request(entry.Root, 0, `{"role":"user","content":"begin"}`)
			if a := s.open().Search(t.Context(), key, ambit.Query{Text: "nothing"}); a.Status != "complete-miss" {
				t.Fatalf("before: %+v", a)
			}
			missing(s)
			rec := s.open()
			if a := rec.Search(t.Context(), key, ambit.Query{Text: "nothing"}); a.Status != "partial" || a.Coverage != "partial" || a.Reason == "" {
				t.Errorf("a text that is not there: %+v", a)
			}
			if a := rec.Search(t.Context(), key, ambit.Query{Text: "begin"}); a.Status != "found" || a.Coverage != "partial" {
				t.Errorf("a text that is: %+v", a)
			}
		})
	}
}

// TestCursorKeepsItsTime goes on in the session as it was when the search began.
//
// covers: A-03 part
func TestCursorKeepsItsTime(t *testing.T) {
	s := newShelf(t)
	for i := range 5 {
		s.request(entry.Extends, i, fmt.Sprintf(`{"role":"user","content":"hit %d"}`, i))
	}
	q := ambit.Query{Text: "hit", Limits: ambit.Limits{Results: 2}}
	var found []string
	for page := 0; ; page++ {
		a := s.open().Search(t.Context(), key, q)
		for _, r := range a.Results {
			found = append(found, r.Text)
		}
		if a.Cursor == "" {
			if a.Coverage != "complete" {
				t.Errorf("at the end: %+v", a)
			}
			break
		}
		s.request(entry.Extends, s.n, fmt.Sprintf(`{"role":"user","content":"hit later %d"}`, page))
		q.Cursor = a.Cursor
	}
	if got := strings.Join(found, ", "); got != "hit 0, hit 1, hit 2, hit 3, hit 4" {
		t.Errorf("found %s", got)
	}
	q.Branches = ambit.AllBranches
	if a := s.open().Search(t.Context(), key, q); a.Status != "unavailable" || a.Reason != "expired_cursor" {
		t.Errorf("the cursor went on with another question: %+v", a)
	}
}
