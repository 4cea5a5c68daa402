package transcript_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/transcript"
)

// golden are the recordings of testdata.
func golden(t testing.TB) (all []outlineCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		for _, c := range outlineCases(t, file) {
			c.name = filepath.Base(file) + ": " + c.name
			all = append(all, c)
		}
	}
	return all
}

// pointing reads a recording, and says what is wrong with where its facts point.
func pointing(data []byte) (*transcript.Recording, error) {
	r, err := transcript.Read(data)
	if err != nil {
		if errors.Is(err, transcript.ErrFormat) {
			return nil, nil
		}
		return nil, err
	}
	inside := func(line int, offset, length int64) error {
		if offset < 0 || length < 0 || offset+length > int64(len(data)) || line < 0 || line > r.Lines {
			return fmt.Errorf("line %d, %d bytes at %d, is not in %d lines and %d bytes", line, length, offset, r.Lines, len(data))
		}
		if at := 1 + bytes.Count(data[:offset], []byte("\n")); length > 0 && line != at {
			return fmt.Errorf("offset %d is in line %d, not %d", offset, at, line)
		}
		return nil
	}
	requests := make(map[int]bool)
	for _, f := range r.Facts {
		var err error
		switch f := f.(type) {
		case *entry.Request:
			requests[f.N] = true
			err = inside(f.Recorded.Line, f.Recorded.Offset, f.Recorded.Length)
		case *entry.Response:
			err = inside(f.Recorded.Line, f.Recorded.Offset, f.Recorded.Length)
		case *entry.Relation:
			if !requests[f.N] || f.Parent >= f.N {
				err = errors.New("a relation to what was not")
			}
		case *entry.Unit:
			if f.N != 0 && !requests[f.N] {
				err = errors.New("a unit of a request that was not")
			}
			if f.Of == entry.PartRecord || f.Of == entry.PartMessage {
				if err = errors.Join(err, inside(f.Line, f.Offset, f.Length)); err == nil {
					texts(r, data, f)
				}
			}
		}
		if err == nil {
			_, err = entry.Encode(entry.Entry{Seq: 1, Fact: f})
		}
		if err != nil {
			return nil, fmt.Errorf("%T %+v: %w", f, f, err)
		}
	}
	if r.Title != nil {
		if err := inside(r.Title.Line, r.Title.Offset, r.Title.Length); err != nil {
			return nil, fmt.Errorf("title: %w", err)
		}
	}
	return r, nil
}

// TestPointsInto reads recordings that were cut off at each byte, and such that have a byte too much.
func TestPointsInto(t *testing.T) {
	for _, c := range golden(t) {
		data := []byte(c.recording)
		step := max(1, len(data)/150)
		for i := 0; i <= len(data); i += step {
			if _, err := pointing(data[:i]); err != nil {
				t.Fatalf("%s: cut at %d: %v", c.name, i, err)
			}
			odd := slices.Concat(data[:i], []byte{"\x00\xff\"{}[]\\\n"[i%9]}, data[i:])
			if _, err := pointing(odd); err != nil {
				t.Fatalf("%s: a byte at %d: %v", c.name, i, err)
			}
		}
	}
}

// told are the facts that stay as they are when a recording goes on: what was asked, and what was said.
func told(r *transcript.Recording) (facts []entry.Fact) {
	if r == nil {
		return nil
	}
	for _, f := range r.Facts {
		switch f := f.(type) {
		case *entry.Request: // which provider it was, the answer says
			q := *f
			q.Provider, q.Type = "", ""
			facts = append(facts, &q)
		case *entry.Unit:
			if f.N != 0 {
				facts = append(facts, f)
			}
		}
	}
	return facts
}

// prefix says where a recording up to a line tells other than the whole one.
func prefix(whole []entry.Fact, data []byte) error {
	r, err := transcript.Read(data)
	if err != nil && !errors.Is(err, transcript.ErrFormat) {
		return err
	}
	part := told(r)
	if len(part) > len(whole) {
		return fmt.Errorf("%d facts, and %d of the whole", len(part), len(whole))
	}
	for i, f := range part {
		if i == len(part)-1 && i < len(whole) && r.Format == transcript.Aider {
			f = grown(f, whole[i])
		}
		if !reflect.DeepEqual(f, whole[i]) {
			return fmt.Errorf("fact %d of %d is\n%+v, not\n%+v", i, len(part), f, whole[i])
		}
	}
	return nil
}

// grown is the last unit of a part of a recording of aider as it is in the whole: a block of lines may go on.
func grown(f, whole entry.Fact) entry.Fact {
	u, ok := f.(*entry.Unit)
	w, as := whole.(*entry.Unit)
	if !ok || !as || u.Length > w.Length {
		return f
	}
	longer := *u
	longer.Length = w.Length
	return &longer
}

// TestPrefix reads recordings up to each of their lines: what is told of these is how what the whole ones tell begins.
// So a recording that has grown can be imported again. One that is one object goes by its parts instead: see Importer.
func TestPrefix(t *testing.T) {
	for _, c := range golden(t) {
		r, err := transcript.Read([]byte(c.recording))
		if err != nil || transcript.OneValue(r.Format) {
			continue
		}
		whole, at := told(r), 0
		for line := range strings.Lines(c.recording) {
			at += len(line)
			if err := prefix(whole, []byte(c.recording[:at])); err != nil {
				t.Errorf("%s: up to %d: %v", c.name, at, err)
			}
		}
	}
}

// TestPrefixOfShared is the same for recorded sessions, at each line of short ones and at some of long ones.
func TestPrefixOfShared(t *testing.T) {
	for _, row := range slices.Concat(manifest(t, false), manifest(t, true)) {
		data, err := os.ReadFile(row.path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := transcript.Read(data)
		if err != nil || transcript.OneValue(r.Format) {
			continue
		}
		whole := told(r)
		step := max(1, int(int64(len(data))*int64(r.Lines)/(8<<20)))
		at, n := 0, 0
		for line := range bytes.Lines(data) {
			if at, n = at+len(line), n+1; n%step == 0 {
				if err := prefix(whole, data[:at]); err != nil {
					t.Errorf("%s: up to line %d: %v", row.file, n, err)
					break
				}
			}
		}
	}
}

const (
	claudeUser   = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"one"}}`
	claudeAnswer = `{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"two"}]}}`
)

// TestOddBytes reads what no text file should hold.
func TestOddBytes(t *testing.T) {
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for name, c := range map[string]struct{ data, want string }{
		"a byte order mark, and line ends of Windows": {"\xEF\xBB\xBF" + claudeUser + "\r\n" + claudeAnswer + "\r\n", `claude-code "s", 1 turns, 2 lines, title "one"
#1 t1 root; complete
  L1 user "one"
  L2 assistant "two"
`},
		"zeros, as a crash leaves them": {claudeUser + "\n" + claudeAnswer + "\n" + strings.Repeat("\x00", 5000), `claude-code "s", 1 turns, 3 lines, title "one"
#1 t1 root; complete
  L1 user "one"
  L2 assistant "two"
! 3: not a record: it is zeros, as a crash leaves them
`},
		"no line end, white space around": {" \t" + claudeUser + " \r\n\n \t\r\n  " + claudeAnswer, `claude-code "s", 1 turns, 4 lines, title "one"
#1 t1 root; complete
  L1 user "one"
  L4 assistant "two"
`},
		"bytes that are no UTF-8, half a surrogate pair, a name that stands twice": {
			`{"type":"user","type":"user","sessionId":"s","message":{"role":"user","content":"` + "a\xff\xfeb" + `"}}` + "\n" +
				`{"type":"user","sessionId":"s","message":{"role":"system","role":"user","content":"\ud800 and \udc00\ud83d\ude00","content":"c\ud800d"}}` + "\n",
			`claude-code "s", 0 turns, 2 lines, title "a` + "\xff\xfe" + `b"
#1 t1 root; the recording has no answer
  L1 user "a��b"
  L2 user "c�d" ?
`,
		},
		"nested too deep": {claudeUser + "\n" + `{"type":"user","sessionId":"s","message":{"role":"user","content":` + deep(10_001) + `}}` + "\n" + claudeAnswer + "\n", `claude-code "s", 1 turns, 3 lines, title "one"
#1 t1 root; complete
  L1 user "one"
L2 ?
  L3 assistant "two"
! 2: not a record: it is no JSON, or was cut off
`},
		"nested as deep as it may be": {claudeUser + "\n" + `{"type":"user","sessionId":"s","toolUseResult":` + deep(9_999) + `,"message":{"role":"user","content":"deep"}}` + "\n", `claude-code "s", 0 turns, 2 lines, title "one"
#1 t1 root; the recording has no answer
  L1 user "one"
  L2 user "deep"
`},
		"binary":            {"\x7fELF\x02\x01\x01\x00\x00\x00", "not a recording of a known format: it is binary\n"},
		"only zeros":        {strings.Repeat("\x00", 100), "not a recording of a known format: it is binary\n"},
		"text of 16 bits":   {"\xff\xfe{\x00\"\x00", "not a recording of a known format: it is binary\n"},
		"only a byte order": {"\xEF\xBB\xBF", "not a recording of a known format: it is empty\n"},
		"white space":       {" \n\t\r\n", "not a recording of a known format: it is empty\n"},
		"a time that no entry can hold": {`{"type":"user","timestamp":"0000-01-01T00:00:00+23:59","sessionId":"s","message":{"role":"user","content":"one"}}`, `claude-code "s", 0 turns, 1 lines, title "one"
#1 t1 root; the recording has no answer
  L1 user "one"
`},
		"what a program says of itself that is too long": {`{"type":"user","version":"` + strings.Repeat("v", 2<<20) + `","sessionId":"s","message":{"role":"` + strings.Repeat("r", 2<<20) + `","content":"one"}}`, `claude-code "s", 0 turns, 1 lines, title "one"
#1 t1 root; the recording has no answer
  L1 ` + strings.Repeat("r", 64) + ` ?
`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outline([]byte(c.data)); got != c.want {
				t.Errorf("%s\nwant:\n%s", got, c.want)
			}
			if _, err := pointing([]byte(c.data)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCutOpenCode reads an export that breaks off, at each byte: each part that is whole is there, and no other.
func TestCutOpenCode(t *testing.T) {
	cases := outlineCases(t, "testdata/opencode.txt")
	for _, c := range cases[:3] {
		data := []byte(c.recording)
		all, err := transcript.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			part := data[:i]
			r, err := transcript.Read(part)
			if err != nil {
				if !errors.Is(err, transcript.ErrFormat) {
					t.Fatalf("%s: cut at %d: %v", c.name, i, err)
				}
				continue
			}
			want, got := 0, 0
			for _, f := range all.Facts {
				if u, ok := f.(*entry.Unit); ok && u.Of == entry.PartRecord && u.Offset+u.Length <= int64(i) {
					want++
				}
			}
			unread := false
			for _, f := range r.Facts {
				if u, ok := f.(*entry.Unit); ok && u.N == 0 {
					unread = true
				} else if ok && u.Of == entry.PartRecord {
					got++
				}
			}
			rest := bytes.TrimRight(part, " \n")
			if whole := rest[len(rest)-1] == ']' || rest[len(rest)-1] == '}'; got != want || len(r.Warnings) == 0 && len(bytes.TrimSpace(data[i:])) > 0 || !unread && !whole && rest[len(rest)-1] != ',' {
				t.Fatalf("%s: cut at %d: %d parts of %d, unread %v, %v", c.name, i, got, want, unread, r.Warnings)
			}
		}
	}
}

// FuzzRead reads anything: nothing panics, everything points into it, and a part of it tells what the whole begins with.
func FuzzRead(f *testing.F) {
	for _, c := range golden(f) {
		f.Add([]byte(c.recording))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := pointing(data)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil || transcript.OneValue(r.Format) {
			return
		}
		whole := told(r)
		if end := bytes.LastIndexByte(data[:len(data)/2], '\n'); end >= 0 {
			again, err := transcript.Read(data[:end+1])
			if err == nil && again.Format == r.Format {
				if err := prefix(whole, data[:end+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
