package index_test

import (
	"slices"
	"strings"
	"testing"

	"ambit/internal/index"
)

// pausing is a capture whose searches for "needle" and reads of e1 pause under these limits.
func pausing() (index.Capture, index.Limits) {
	return of(at("e1", "/a", "needle one\nneedle two\nneedle three"), at("e1", "/b", "needle four")), index.Limits{Results: 1}
}

// TestForgedCursor changes, removes and adds every byte of cursors, and uses them where they do not belong.
//
// covers: A-01 part
// covers: A-03 part
func TestForgedCursor(t *testing.T) {
	c, limits := pausing()
	searched, read := c.Search(index.Query{Text: "needle", Limits: limits}).Cursor, c.Read(index.Selection{Ref: "e1", Limits: limits}).Cursor
	if searched == "" || read == "" {
		t.Fatal("there is no cursor")
	}
	try := func(name string, c index.Capture, cursor string, reason index.Reason) {
		t.Helper()
		for verb, a := range map[string]index.Answer{
			"search": c.Search(index.Query{Text: "needle", Cursor: cursor}), "read": c.Read(index.Selection{Ref: "e1", Cursor: cursor}),
		} {
			if a.Status != index.Unavailable || a.Coverage != index.CoverageUnknown || a.Reason != reason || len(a.Results) > 0 {
				t.Errorf("%s: %s gives %+v", name, verb, a)
			}
		}
	}
	for _, cursor := range []string{searched, read} {
		for i := range cursor {
			for _, b := range []string{"", "A", "B", "-", "\n", "=", "\x00", "é", cursor[i:i+1] + "A", cursor[i:i+1] + "\n"} {
				if forged := cursor[:i] + b + cursor[i+1:]; forged != cursor {
					try("forged", c, forged, index.ExpiredCursor)
				}
			}
			flipped := []byte(cursor)
			for bit := range 8 {
				flipped[i] = cursor[i] ^ 1<<bit
				try("flipped", c, string(flipped), index.ExpiredCursor)
			}
			if i > 0 {
				try("cut", c, cursor[:i], index.ExpiredCursor)
			}
		}
		other, wrong := c, c
		other.ID, wrong.Key = "s2@42", []byte("another key")
		try("another capture", other, cursor, index.ExpiredCursor)
		try("another key", wrong, cursor, index.ExpiredCursor)
		try("long", c, cursor+strings.Repeat("A", 1<<20), index.ExpiredCursor)
		if id, ok := index.CaptureOf(cursor, key); id != "s1@42" || !ok {
			t.Errorf("the cursor is of capture %q, %v", id, ok)
		}
		data, err := index.Encoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		keyless := index.Encoding.EncodeToString(append(index.Sum(nil, data[16:]), data[16:]...))
		if id, ok := index.CaptureOf(keyless, nil); id != "" || ok {
			t.Errorf("a cursor without a key is of capture %q", id)
		}
		for _, k := range [][]byte{nil, {}, []byte("another key")} {
			if id, ok := index.CaptureOf(cursor, k); id != "" || ok {
				t.Errorf("under the key %q, the cursor is of capture %q", k, id)
			}
		}
	}
}

// TestChangedSelectors refuses to continue anything but what a cursor is of; limits are free.
//
// covers: A-03 part
func TestChangedSelectors(t *testing.T) {
	c, limits := pausing()
	searched := c.Search(index.Query{Text: "needle", Limits: limits}).Cursor
	s := index.Selection{Ref: "e1", Revision: "re1", Limits: limits}
	s.Cursor = c.Read(s).Cursor
	expect(t, "other limits", c.Search(index.Query{Text: "needle", Cursor: searched}), index.Found, index.CoverageComplete, "")
	expect(t, "another text", c.Search(index.Query{Text: "needles", Cursor: searched}), index.Unavailable, index.CoverageUnknown, index.Conflicting)
	expect(t, "a read's cursor", c.Search(index.Query{Text: "needle", Cursor: s.Cursor}), index.Unavailable, index.CoverageUnknown, index.Conflicting)
	expect(t, "a search's cursor", c.Read(index.Selection{Ref: "e1", Cursor: searched}), index.Unavailable, index.CoverageUnknown, index.Conflicting)
	for name, change := range map[string]func(*index.Selection){
		"another entry":    func(s *index.Selection) { s.Ref = "e2" },
		"another revision": func(s *index.Selection) { s.Revision = "" },
		"another field":    func(s *index.Selection) { s.Field = "/a" },
		"other lines":      func(s *index.Selection) { s.StartLine, s.EndLine = 1, 1 },
		"members swapped":  func(s *index.Selection) { s.Revision, s.Field = "", "re1" },
	} {
		changed := s
		change(&changed)
		expect(t, name, c.Read(changed), index.Unavailable, index.CoverageUnknown, index.Conflicting)
	}
	s.Limits = index.Limits{}
	expect(t, "a read's other limits", c.Read(s), index.Found, index.CoverageComplete, "")
}

// TestLostPlace says so when the text that a cursor stands in is not there, or not what it was.
func TestLostPlace(t *testing.T) {
	c, limits := pausing()
	q := index.Query{Text: "needle", Limits: limits}
	q.Cursor = c.Search(q).Cursor
	expect(t, "no texts", of().Search(q), index.Unavailable, index.CoverageUnknown, index.ExpiredCursor)
	expect(t, "a shorter text", of(at("e1", "/a", "n")).Search(q), index.Unavailable, index.CoverageUnknown, index.ExpiredCursor)
	s := index.Selection{Ref: "e1", Limits: index.Limits{OutputBytes: 480}}
	s.Cursor = of(at("e1", "/a", strings.Repeat("line\n", 100))).Read(s).Cursor
	expect(t, "a shorter read", of(at("e1", "/a", "line")).Read(s), index.Unavailable, index.CoverageUnknown, index.ExpiredCursor)
	expect(t, "other lines", of(at("e1", "/a", strings.Repeat("lines\n", 100))).Read(s), index.Unavailable, index.CoverageUnknown, index.ExpiredCursor)
	expect(t, "a text gone", of(item{err: errGone}).Search(q), index.Found, index.CoveragePartial, index.SourceUnavailable)
}

// FuzzCursor opens cursors of any bytes, signed and not: what is not signed is nothing, and what is signed does no harm.
func FuzzCursor(f *testing.F) {
	c, limits := pausing()
	q, s := index.Query{Text: "needle", Limits: limits}, index.Selection{Ref: "e1", Limits: limits}
	for _, cursor := range []string{c.Search(q).Cursor, c.Read(s).Cursor} {
		data, err := index.Encoding.DecodeString(cursor)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(slices.Clone(data[16:26]), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x05s1@42"...))
		for i := 16; i <= len(data); i++ {
			f.Add(data[16:i])
		}
		f.Add(append(slices.Clone(data[16:]), "12345678"...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, sum := range [][]byte{make([]byte, 16), index.Sum(key, data)} {
			cursor := index.Encoding.EncodeToString(append(sum, data...))
			id, ok := index.CaptureOf(cursor, key)
			if ok && (sum[0] == 0 && sum[1] == 0 || !strings.Contains(string(data), id)) {
				t.Errorf("a cursor is of capture %q", id)
			}
			q.Cursor, s.Cursor = cursor, cursor
			for _, a := range []index.Answer{c.Search(q), c.Read(s)} {
				check(t, "an answer", a, 0)
				if !ok && a.Reason != index.ExpiredCursor {
					t.Errorf("a cursor that is none gives %+v", a)
				}
			}
		}
	})
}
