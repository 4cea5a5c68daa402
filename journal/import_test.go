package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// exportable is a session in memory whose bodies are text, other bytes, and nothing, some of them said twice, with a
// fork that goes on from it in the middle of an append.
func exportable() *vfs.Mem {
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	ctx := context.Background()
	unlock := must(s.Lock(ctx, "a"))
	must(s.Put(ctx, "a", []byte("no entry names this")))
	facts := []entry.Fact{&entry.Session{ID: "a", Title: "a title"}}
	for i, body := range []string{"text", "", "\xff\xfe\x00", "with \u2028 \n \" and \x01", "text"} {
		b := must(s.Put(ctx, "a", []byte(body)))
		facts = append(facts, &entry.Request{N: i, Path: strings.Repeat("x", 300), Body: &b})
		if i%2 == 0 {
			facts = append(facts, &entry.Response{N: i, Body: &b})
		}
	}
	must(s.Append(ctx, "a", facts[:2]...))
	must(s.Append(ctx, "a", facts[2:5]...))
	must(s.Append(ctx, "a", facts[5:]...))
	must(0, unlock())
	fork(s, "a", 4, "b", 3)
	return m
}

func exportOf(fsys vfs.FS, session string) []byte {
	s := must(opener("home/me/ambit", fsys)())
	defer s.Close()
	var out bytes.Buffer
	must(0, journal.Export(context.Background(), s, session, &out))
	return out.Bytes()
}

// imported makes a session of an export in a file system of its own.
func imported(export []byte) (*vfs.Mem, string) {
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	session, _, err := importing(s, export)
	return m, must(session, err)
}

// isPrefix wants what was read of a damaged export to be whole appends of it, and an import to give them back.
func isPrefix(t *testing.T, damaged, whole []byte, line int) {
	t.Helper()
	read, err := journal.ReadExport(context.Background(), bytes.NewReader(damaged))
	var at *journal.LineError
	if err != nil {
		if !errors.As(err, &at) || !errors.Is(err, journal.ErrCorrupt) || at.Line != line || read.Entries != 0 {
			t.Errorf("line %d: %+v, %v", line, read, err)
		}
		return
	}
	if read.Damage == nil || read.Damage.Line != line {
		t.Errorf("damage is %v, want it in line %d", read.Damage, line)
	}
	if lines := bytes.Count(damaged, []byte("\n")); read.Size != int64(len(damaged)) || read.Lines != lines && read.Lines != lines+1 {
		t.Errorf("%+v of %d bytes", read, len(damaged))
	}
	m, session := imported(damaged)
	got := exportOf(m, session)
	if !bytes.HasPrefix(whole, got) || len(got) == 0 || bytes.Count(got, []byte(`{"frame":1`)) != read.Entries {
		t.Errorf("line %d: %d bytes came back, which are no beginning of the %d", line, len(got), len(whole))
	}
	if r, frames, err := checkedIn(t, m, session); err != nil || !r.Sound() || frames != read.Entries+1 {
		t.Errorf("line %d: %d entries, %v, %+v", line, frames, err, r)
	}
}

// TestTruncatedExport cuts exports at every line, and in every line.
//
// covers: J-09 part
func TestTruncatedExport(t *testing.T) {
	t.Parallel()
	m := exportable()
	for _, session := range []string{"a", "b"} {
		whole := exportOf(m, session)
		lines := bytes.SplitAfter(whole, []byte("\n"))
		size := 0
		for n, line := range lines[:len(lines)-1] {
			for _, cut := range []int{1, len(line) / 2, len(line) - 1} {
				isPrefix(t, whole[:size+cut], whole, n+1)
			}
			size += len(line)
			read, err := journal.ReadExport(context.Background(), bytes.NewReader(whole[:size]))
			frame := bytes.HasPrefix(line, []byte(`{"frame"`)) && !bytes.Contains(line, []byte(`"more":true`))
			if frame && (err != nil || read.Damage != nil) {
				t.Errorf("the first %d lines are whole appends: %+v, %v", n+1, read, err)
			} else if !frame {
				isPrefix(t, whole[:size], whole, n+2)
			}
		}
	}
	for name, none := range map[string]string{"empty": "", "text": "hello\n", "JSON": "{}\n", "zeros": strings.Repeat("\x00", 100)} {
		if _, err := journal.ReadExport(context.Background(), strings.NewReader(none)); !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryByteOfAnExport changes each byte of an export, each in a different bit: it is found in its line, or it is the
// same export, spelled otherwise.
//
// covers: J-09 part
func TestEveryByteOfAnExport(t *testing.T) {
	t.Parallel()
	whole := exportOf(exportable(), "b")
	line, harmless := 1, 0
	for i, old := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1 << (i % 8)
		read, err := journal.ReadExport(context.Background(), bytes.NewReader(data))
		if err == nil && read.Damage == nil {
			harmless++
			if m, session := imported(data); !bytes.Equal(exportOf(m, session), whole) {
				t.Errorf("byte %d of line %d was changed from %q, and nothing is found", i, line, old)
			}
		} else if err == nil && i%7 > 0 {
			if read.Damage.Line != line {
				t.Errorf("byte %d of line %d was changed, and found in %v", i, line, read.Damage)
			}
		} else {
			isPrefix(t, data, whole, line)
		}
		if old == '\n' {
			line++
		}
	}
	if harmless > len(whole)/100 {
		t.Errorf("%d of %d bytes do not count", harmless, len(whole))
	}
}

// TestNotAnExport takes lines from an export, doubles them, and puts others in.
func TestNotAnExport(t *testing.T) {
	whole := exportOf(exportable(), "b")
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	other := func(text string) [][]byte { return [][]byte{[]byte(text + "\n")} }
	body := func(at, size string, rest string) [][]byte {
		return other(`{"body":{"at":` + at + `,"bytes":` + size + `,"sha256":"` + sum + `"}` + rest)
	}
	for n := range lines {
		found := func(what string, before int, put [][]byte, line int) {
			t.Helper()
			var data []byte
			for i, l := range lines {
				if i == n {
					data = append(data, bytes.Join(put, nil)...)
				}
				if i != n || before == 0 {
					data = append(data, l...)
				}
			}
			if n == len(lines)-1 && before == 1 && put == nil {
				line = 0 // the end is missing, in whole appends
			}
			read, err := journal.ReadExport(context.Background(), bytes.NewReader(data))
			var at *journal.LineError
			if !errors.As(err, &at) {
				at = read.Damage
			}
			if at == nil && line > 0 || at != nil && at.Line != line && at.Line != line+1 {
				t.Errorf("%s, line %d: %v", what, n+1, at)
			}
		}
		found("a line twice", 0, lines[n:n+1], n+1)
		if n < len(lines)-1 {
			found("a line is missing", 1, nil, n+1)
		}
		found("an empty line", 0, other(""), n+1)
		found("another line", 0, other(`{"note":1}`), n+1)
		found("a body that nothing relies on", 0, body("9999", "0", "}"), n+1)
		found("a body of other bytes", 0, body("9999", "0", `,"text":"x"}`), n+1)
		found("a body that is too large", 0, body("9999", "1073741825", `}`), n+1)
		found("a body of negative length", 0, body("9999", "-1", `}`), n+1)
		found("a body that is longer than it says", 0, body("9999", "5", `,"text":"`+strings.Repeat("x", 1<<18)+`"}`), n+1)
		found("a body that was purged", 0, body("9999", "5", `,"purged":true}`), n+1)
		found("a body's name with blanks", 0, body(" 9999", "0", "}"), n+1)
		found("a body with more behind it", 0, body("9999", "0", `,"text":""} `), n+1)
		found("a body with two texts", 0, body("9999", "0", `,"text":"","text":""}`), n+1)
		found("a frame that is too long", 0, other(`{"frame":1,"seq":`+strings.Repeat("1", journal.MaxFrame)), n+1)
	}
}

// TestImportChanged changes the file between the two readings. Nothing is left of it.
//
// covers: J-09 part
func TestImportChanged(t *testing.T) {
	whole := exportOf(exportable(), "a")
	ctx := context.Background()
	read := must(journal.ReadExport(ctx, bytes.NewReader(whole)))
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)()).(*journal.Dir)
	defer s.Close()
	before := names(m, "home")
	refused := func(what string, export io.ReaderAt, read journal.Exported, want error) {
		t.Helper()
		session, made, err := s.Import(ctx, export, read, "x")
		if err == nil || want != nil && !errors.Is(err, want) || session != "" || made {
			t.Errorf("%s: imported as %q, made %v: %v", what, session, made, err)
		}
		if diff := cmp.Diff(before, names(m, "home")); diff != "" {
			t.Errorf("%s: (-before +after)\n%s", what, diff)
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for what, now := range map[string][]byte{
		"grown":   append(bytes.Clone(whole), lines[0]...),
		"shorter": whole[:len(whole)-len(lines[len(lines)-2])],
		"empty":   nil,
		"a byte":  bytes.Replace(whole, []byte(`"text":"text"`), []byte(`"text":"test"`), 1),
		"a space": bytes.Replace(whole, []byte("\n"), []byte(" \n"), 1),
		"another": exportOf(exportable(), "b"),
	} {
		refused(what, bytes.NewReader(now), read, journal.ErrChanged)
	}
	tail := must(journal.ReadExport(ctx, bytes.NewReader(append(bytes.Clone(whole), "damage 1"...))))
	refused("behind the damage", bytes.NewReader(append(bytes.Clone(whole), "damage 2"...)), tail, journal.ErrChanged)
	refused("nothing was read", bytes.NewReader(whole), journal.Exported{Name: "a"}, nil)
	named := read
	named.Name = "../a"
	refused("no name", bytes.NewReader(whole), named, journal.ErrBadName)
	refused("unreadable", unreadable{}, read, errUnreadable)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := s.Import(canceled, bytes.NewReader(whole), read, "x"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := journal.ReadExport(canceled, bytes.NewReader(whole)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := journal.ReadExport(ctx, unreadable{}); !errors.Is(err, errUnreadable) {
		t.Error(err)
	}
	if diff := cmp.Diff(before, names(m, "home")); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	must(0, s.Close())
	if _, _, err := s.Import(ctx, bytes.NewReader(whole), read, "x"); !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
}

var errUnreadable = errors.New("the disk is gone")

type unreadable struct{}

func (unreadable) ReadAt([]byte, int64) (int, error) { return 0, errUnreadable }

// names are all files and folders below a folder.
func names(fsys vfs.FS, dir string) (all []string) {
	for _, name := range must(fsys.List(dir)) {
		at := path.Join(dir, name)
		all = append(all, at)
		if _, err := fsys.List(at); err == nil {
			all = append(all, names(fsys, at)...)
		}
	}
	return all
}

// TestImportHere imports what is here already, recorded or damaged.
//
// covers: J-09 part
func TestImportHere(t *testing.T) {
	m := exportable()
	export := exportOf(m, "a")
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	ctx := context.Background()
	must(s.Lock(ctx, "a"))
	must(s.Append(ctx, "a", &entry.Gap{})) // it has gone on
	before := names(m, "home")
	if session, made, err := importing(s, export); session != "a" || made || err != nil {
		t.Errorf("imported as %q, made %v: %v", session, made, err)
	}
	if diff := cmp.Diff(before, names(m, "home")); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	must(0, s.Close())
	first := path.Join(folder, "entries", "000000000001.jsonl")
	write(m, first, bytes.Replace(read(m, first), []byte("a title"), []byte("A title"), 1))
	s = must(opener("home/me/ambit", m)())
	defer s.Close()
	if session, made, err := importing(s, export); session != "a-2" || !made || err != nil {
		t.Errorf("a damaged session holds nothing, and it was imported as %q, made %v: %v", session, made, err)
	}
	if session, made, err := importing(s, export); session != "a-2" || made || err != nil {
		t.Errorf("imported as %q, made %v: %v", session, made, err)
	}
	folders := must(m.List(path.Dir(folder)))
	if want := []string{"a", "a-2", "b"}; !cmp.Equal(folders, want) {
		t.Errorf("folders are %q, want %q", folders, want)
	}
}

// TestImportLeftOver finds what imports left that died, and one that is under way.
func TestImportLeftOver(t *testing.T) {
	export := exportOf(exportable(), "a")
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	sessions := path.Dir(folder)
	for _, name := range []string{"a", "other", "live"} {
		dir := path.Join(sessions, ".importing-"+name)
		write(m, path.Join(dir, "entries", "000000000001.jsonl"), export)
		write(m, path.Join(dir, "entries", "000000000077.jsonl"), export)
		write(m, path.Join(dir, "bodies", "literals.log"), export)
		write(m, path.Join(dir, "lock"), nil)
	}
	live := must(m.Lock(path.Join(sessions, ".importing-live", "lock"), []byte(`{"pid":7,"command":"import"}`)))
	if got := must(s.Sessions(context.Background())); len(got) > 0 {
		t.Errorf("sessions are %q", got)
	}
	if session, made, err := importing(s, export); session != "a" || !made || err != nil {
		t.Fatalf("imported as %q, made %v: %v", session, made, err)
	}
	if !bytes.Equal(exportOf(m, "a"), export) {
		t.Error("it does not come back")
	}
	if got, want := must(m.List(sessions)), []string{".importing-live", "a"}; !cmp.Equal(got, want) {
		t.Errorf("folders are %q, want %q", got, want)
	}
	other := bytes.ReplaceAll(export, []byte(`"id":"a"`), []byte(`"id":"a"`))
	x := must(journal.ReadExport(context.Background(), bytes.NewReader(other)))
	x.Name = "live"
	_, _, err := s.(*journal.Dir).Import(context.Background(), bytes.NewReader(other), x, "x")
	var busy *journal.BusyError
	if !errors.As(err, &busy) || busy.Holder.PID != 7 || busy.Session != "live" {
		t.Errorf("while it is imported: %v", err)
	}
	must(0, live.Close())
	if session, made, err := s.(*journal.Dir).Import(context.Background(), bytes.NewReader(other), x, "x"); session != "live" || !made || err != nil {
		t.Errorf("imported as %q, made %v: %v", session, made, err)
	}
	if got, want := must(m.List(sessions)), []string{"a", "live"}; !cmp.Equal(got, want) {
		t.Errorf("folders are %q, want %q", got, want)
	}
}

// TestImportedFiles wants an import to be in files as a session that was recorded is, and to be known for one by the end
// of its newest file.
func TestImportedFiles(t *testing.T) {
	m := exportable()
	to, _ := imported(exportOf(m, "b"))
	dir := path.Join(path.Dir(folder), "b", "entries")
	files := must(to.List(dir))
	if len(files) < 3 || files[0] != "000000000001.jsonl" {
		t.Errorf("files are %q", files)
	}
	for _, name := range files {
		lines := bytes.SplitAfter(read(to, path.Join(dir, name)), []byte("\n"))
		if bytes.Contains(lines[len(lines)-2], []byte(`"more":true`)) {
			t.Errorf("file %s ends in an append", name)
		}
	}
	ctx := context.Background()
	for _, row := range []struct {
		m       *vfs.Mem
		session string
		want    bool
	}{{m, "a", false}, {m, "b", false}, {to, "b", true}} {
		d := must(opener("home/me/ambit", row.m)()).(*journal.Dir)
		if got, err := d.Imported(ctx, row.session); got != row.want || err != nil {
			t.Errorf("session %q is said to be imported: %v, %v", row.session, got, err)
		}
		must(d.Lock(ctx, row.session))
		if got, err := d.Imported(ctx, row.session); got != row.want || err != nil {
			t.Errorf("session %q, locked, is said to be imported: %v, %v", row.session, got, err)
		}
		must(0, d.Close())
	}
	d := must(opener("home/me/ambit", to)()).(*journal.Dir)
	defer d.Close()
	if _, err := d.Imported(ctx, "none"); !errors.Is(err, journal.ErrNoSession) {
		t.Errorf("no session gives %v", err)
	}
	unlock := must(d.Lock(ctx, "b"))
	must(d.Append(ctx, "b", &entry.Purged{}))
	must(0, unlock())
	if got, err := d.Imported(ctx, "b"); !got || err != nil {
		t.Errorf("once it was purged: %v, %v", got, err)
	}
	newest := path.Join(dir, must(to.List(dir))[len(must(to.List(dir)))-1])
	write(to, newest, append(read(to, newest), `{"frame":1,"seq":9`+"\x00\x00"...))
	if got, err := d.Imported(ctx, "b"); !got || err != nil {
		t.Errorf("with an append that was interrupted: %v, %v", got, err)
	}
}

// TestImportedLog wants nothing of an import's log to be cut off as if an append had been interrupted.
func TestImportedLog(t *testing.T) {
	export := exportOf(exportable(), "a")
	log := path.Join(folder, "bodies", "literals.log")
	ctx := context.Background()
	for name, change := range map[string]func([]byte) []byte{
		"the last byte":       func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"a byte less":         func(b []byte) []byte { return b[:len(b)-1] },
		"half":                func(b []byte) []byte { return b[:len(b)/2] },
		"the file":            func([]byte) []byte { return nil },
		"nothing":             func(b []byte) []byte { return b },
		"zeros behind it":     func(b []byte) []byte { return append(b, 0, 0, 0) },
		"a record behind it":  func(b []byte) []byte { return append(b, b[:20]...) },
		"a part of its first": func(b []byte) []byte { b[9] ^= 1; return b },
	} {
		m, _ := imported(export)
		whole := change(read(m, log))
		write(m, log, whole)
		s := must(opener("home/me/ambit", m)())
		unlock, err := s.Lock(ctx, "a")
		clean := name == "nothing" || name == "zeros behind it" || name == "a record behind it"
		if clean != (err == nil) || err != nil && !errors.Is(err, journal.ErrCorrupt) {
			t.Errorf("%s: lock says %v", name, err)
		}
		if err == nil {
			must(0, unlock())
			if !bytes.Equal(exportOf(m, "a"), export) {
				t.Errorf("%s: the export is another", name)
			}
		} else if !bytes.Equal(read(m, log), whole) {
			t.Errorf("%s: the log was changed", name)
		}
		if r, _, _ := checkedIn(t, m, "a"); clean != r.Sound() {
			t.Errorf("%s: check found %+v", name, r)
		}
		must(0, s.Close())
	}
}

// TestReaderOfImports lets both readers read imports, whole and damaged, and a fork of one.
func TestReaderOfImports(t *testing.T) {
	t.Parallel()
	needReader(t)
	export := exportOf(exportable(), "a")
	m, _ := imported(export)
	s := must(opener("home/me/ambit", m)())
	fork(s, "a", 10, "c", 2)
	must(0, s.Close())
	agreeOn(t, m, "a")
	agreeOn(t, m, "c")
	root := path.Dir(folder)
	for n := uint64(0); n < 8*size(m, root); n += 8 * size(m, root) / 25 {
		n := n + n%8
		t.Log(flip(m, root, n))
		agreeOn(t, m, "a")
		agreeOn(t, m, "c")
		flip(m, root, n)
	}
	file := filepath.Join(t.TempDir(), "x.jsonl")
	for _, session := range []string{"a", "c"} {
		write(vfs.OS{}, filepath.ToSlash(file), exportOf(m, session))
		if got := reader(t, "--export", file); !got.Sound || got.Bodies < 8 {
			t.Errorf("of the export of %q reader.py says %+v", session, got)
		}
	}
	if got := fmt.Sprint(bytes.Count(export, []byte(`"at":0`))); got != "0" {
		t.Errorf("%s bodies are at the same place in both logs", got)
	}
}

// TestImportPurged imports a session that was purged, and one that was imported and then purged. Where an export has no
// bodies and no entry says so, it ends before.
func TestImportPurged(t *testing.T) {
	ctx := context.Background()
	m := exportable()
	purge := func(m *vfs.Mem, session string) {
		t.Helper()
		d := must(opener("home/me/ambit", m)()).(*journal.Dir)
		defer d.Close()
		unlock := must(d.Lock(ctx, session))
		must(d.Purge(ctx, session))
		must(0, unlock())
	}
	again := func(export []byte) *vfs.Mem {
		t.Helper()
		m, session := imported(export)
		for range 2 {
			r, _, err := checkedIn(t, m, session)
			if err != nil || !r.Sound() || r.Bodies != 0 || r.Purged != 8 {
				t.Errorf("%v, %+v", err, r)
			}
			if !bytes.Equal(exportOf(m, session), export) {
				t.Errorf("the export is another: %s", exportOf(m, session))
			}
			d := must(opener("home/me/ambit", m)()).(*journal.Dir)
			unlock := must(d.Lock(ctx, session))
			if _, err := d.Append(ctx, session, &entry.Gap{}); !errors.Is(err, journal.ErrPurged) {
				t.Errorf("append says %v", err)
			}
			if is, err := d.Imported(ctx, session); !is || err != nil {
				t.Errorf("it is said to be imported: %v, %v", is, err)
			}
			must(0, unlock())
			must(0, d.Close())
		}
		return m
	}
	whole := exportOf(m, "a")
	purge(m, "a")
	export := exportOf(m, "a")
	again(exportOf(again(export), "a"))
	first, _ := imported(whole)
	purge(first, "a")
	again(exportOf(first, "a"))
	isPrefix(t, export[:bytes.LastIndex(export, []byte(`{"frame"`))], export, 2)
	isPrefix(t, exportOf(m, "b"), exportOf(m, "b"), 2) // its parent was purged
}

// TestDiscard takes away what a session without entries has left, and nothing else.
func TestDiscard(t *testing.T) {
	ctx, mem := t.Context(), vfs.NewMem()
	d, err := journal.Open("data", journal.Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	unlock, err := d.Lock(ctx, "a")
	if err == nil {
		_, err = d.Put(ctx, "a", []byte("never named"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(ctx, "a"); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("while it is locked: %v", err)
	}
	if err := errors.Join(unlock(), d.Discard(ctx, "a")); err != nil {
		t.Fatal(err)
	}
	if names, err := mem.List("data/sessions"); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
	unlock, err = d.Lock(ctx, "b")
	if err == nil {
		_, err = d.Append(ctx, "b", &entry.Session{ID: "b"})
	}
	if err := errors.Join(err, unlock()); err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(ctx, "b"); err == nil {
		t.Error("a session with an entry was discarded")
	}
	if _, err := d.First(ctx, "b"); err != nil {
		t.Error(err)
	}
}

// TestLockImports lets one at a time import into a store.
func TestLockImports(t *testing.T) {
	mem := vfs.NewMem()
	var unlock [2]func() error
	for i, want := range []error{nil, journal.ErrImporting} {
		d, err := journal.Open("data", journal.Options{FS: mem})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if unlock[i], err = d.LockImports(); !errors.Is(err, want) {
			t.Errorf("import %d: %v, want %v", i, err, want)
		}
	}
	if err := unlock[0](); err != nil {
		t.Fatal(err)
	}
	d, err := journal.Open("data", journal.Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	left, err := d.Lock(t.Context(), "left") // by an import that dies
	if err == nil {
		_, err = d.Put(t.Context(), "left", []byte("never named"))
	}
	held, heldErr := d.Lock(t.Context(), "held") // by somebody who is about to write
	if err := errors.Join(err, heldErr, left()); err != nil {
		t.Fatal(err)
	}
	if _, err = d.LockImports(); err != nil {
		t.Error(err)
	}
	if names, err := mem.List("data/sessions"); err != nil || !slices.Equal(names, []string{"held"}) {
		t.Errorf("left: %v, %v", names, err)
	}
	if err := held(); err != nil {
		t.Error(err)
	}
}
