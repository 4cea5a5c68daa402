package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

const folder = "home/me/ambit/sessions/a"

// written is a session in memory: 12 entries in several files, 4 of them with a body, 3 of them of one append.
func written() *vfs.Mem {
	m := vfs.NewMem()
	s := must(opener("home/me/ambit", m)())
	ctx := context.Background()
	must(s.Lock(ctx, "a"))
	body := bytes.Repeat([]byte("a body that grows; "), 12)
	for i := range 4 {
		body = fmt.Appendf(body, "turn %d of %x", i, i*7919)
		b := must(s.Put(ctx, "a", body))
		must(s.Append(ctx, "a", &entry.Request{N: i, Path: strings.Repeat("x", 300), Body: &b}))
		must(s.Append(ctx, "a", &entry.Gap{Exchanges: i}))
	}
	must(s.Append(ctx, "a", &entry.Gap{}, &entry.Response{N: 1}, &entry.Gap{Bytes: 2}))
	must(s.Append(ctx, "a", &entry.Gap{Bytes: 3}))
	must(0, s.Close())
	return m
}

// checked opens the store over a file system, checks the session and reads it; nothing may panic.
func checked(t *testing.T, fsys vfs.FS) (r journal.Report, frames int, err error) {
	t.Helper()
	return checkedIn(t, fsys, "a")
}

func checkedIn(t *testing.T, fsys vfs.FS, session string) (r journal.Report, frames int, err error) {
	t.Helper()
	s := must(opener("home/me/ambit", fsys)())
	defer s.Close()
	r, cerr := s.Check(context.Background(), session)
	if cerr != nil && !errors.Is(cerr, journal.ErrNoSession) {
		t.Fatal(cerr)
	}
	for _, err = range s.Read(context.Background(), session, 0) {
		if err == nil {
			frames++
		}
	}
	return r, frames, err
}

// TestEveryByte changes each byte of a session's files, in each way in which one bit can change the line ends.
//
// covers: J-04
func TestEveryByte(t *testing.T) {
	t.Parallel()
	m := written()
	root := path.Dir(folder)
	for n := range size(m, root) {
		bits := []uint64{n % 8}
		if name, at := locate(m, root, 8*n); read(m, name)[at/8] == '\n' {
			bits = []uint64{0, 1, 2, 3, 4, 5, 6, 7}
		}
		for _, bit := range bits {
			where := flip(m, root, 8*n+bit)
			if r, _, _ := checked(t, m); r.Sound() {
				t.Errorf("%s changed, and check finds nothing", where)
			}
			flip(m, root, 8*n+bit)
		}
	}
	if r, frames, err := checked(t, m); !r.Sound() || frames != 12 || err != nil {
		t.Fatalf("%d frames, %v, %+v", frames, err, r)
	}
}

func read(fsys vfs.FS, name string) []byte {
	f := must(fsys.Open(name))
	defer f.Close()
	data := make([]byte, must(f.Size()))
	if len(data) > 0 {
		must(f.ReadAt(data, 0))
	}
	return data
}

// write replaces a file, or makes it.
func write(fsys vfs.FS, name string, data []byte) {
	must(0, fsys.MkdirAll(path.Dir(name)))
	f, err := fsys.Edit(name)
	if err != nil {
		f = must(fsys.Create(name))
	}
	must(0, f.Truncate(0))
	must(f.WriteAt(data, 0))
	must(0, f.Close())
}

// TestMutilation wants whatever is missing, exchanged or added to be found.
//
// covers: J-04
func TestMutilation(t *testing.T) {
	m := written()
	for _, row := range mutilations(m) {
		t.Run(row.name, func(t *testing.T) {
			m := m.Crash(vfs.Kept, nil)
			row.do(m)
			r, frames, _ := checked(t, m)
			if row.file == "" && len(r.Damage) > 0 || row.file != "" && (len(r.Damage) == 0 || r.Damage[0].File != row.file) {
				t.Errorf("check found %+v, want damage in %q", r.Damage, row.file)
			} else if row.file != "" && row.offset >= 0 && r.Damage[0].Offset != row.offset {
				t.Errorf("check found %+v, want offset %d", r.Damage, row.offset)
			}
			if sound := row.file == "" && row.offset == 0; r.Sound() != sound {
				t.Errorf("check found %+v, want it to be sound: %v", r, sound)
			}
			if row.frames >= 0 && frames != row.frames {
				t.Errorf("%d entries are readable, want %d", frames, row.frames)
			}
			lockable(t, m, r.Sound())
		})
	}
}

// mutilation is something done to a session, and what must be found.
type mutilation struct {
	name   string
	do     func(m *vfs.Mem)
	file   string // of the first damage that check reports; "" when there is none
	offset int64  // of it, -1 for any; without damage, -1 says that bodies are lost
	frames int    // still readable; -1 for any
}

// mutilations take parts of a session away, exchange them, and add some.
func mutilations(m *vfs.Mem) []mutilation {
	dir := path.Join(folder, "entries")
	names := must(m.List(dir))
	file := func(i int) string { return path.Join(dir, names[(i+len(names))%len(names)]) }
	log := path.Join(folder, "bodies", "literals.log")
	end := int64(len(read(m, log)))
	longer := read(putAnother(m), log)
	edit := func(name string, change func([]byte) []byte) func(*vfs.Mem) {
		return func(m *vfs.Mem) { write(m, name, change(read(m, name))) }
	}
	last := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	lines := func(b []byte) [][]byte { return bytes.SplitAfter(b, []byte("\n")) }
	return []mutilation{
		{"nothing", func(*vfs.Mem) {}, "", 0, 12},
		{"first file missing", func(m *vfs.Mem) { m.Remove(file(0)) }, file(1), 0, 0},
		{"second file missing", func(m *vfs.Mem) { m.Remove(file(1)) }, file(2), 0, -1},
		{"newest file missing", func(m *vfs.Mem) { m.Remove(file(-1)) }, "", 0, -1},
		{"log missing", func(m *vfs.Mem) { m.Remove(log) }, "", -1, 12},
		{"log cut by one byte", edit(log, last(1)), "", -1, 12},
		{"log cut to nothing", edit(log, func([]byte) []byte { return nil }), "", -1, 12},
		{"older file cut by its last line end", edit(file(0), last(1)), file(0), -1, -1},
		{"older file cut by a line", edit(file(0), func(b []byte) []byte { l := lines(b); return bytes.Join(l[:len(l)-2], nil) }), file(1), 0, -1},
		{"older file with zeros", edit(file(0), func(b []byte) []byte { return append(b, 0, 0) }), file(0), -1, -1},
		{"older file empty", edit(file(0), func([]byte) []byte { return nil }), file(1), 0, 0},
		{"lines exchanged", edit(file(0), func(b []byte) []byte { l := lines(b); l[0], l[1] = l[1], l[0]; return bytes.Join(l, nil) }), file(0), 0, 0},
		{"a line twice", edit(file(-1), func(b []byte) []byte { return append(b, lines(b)[0]...) }), file(-1), -1, 12},
		{"an empty line", edit(file(-1), func(b []byte) []byte { return append(b, '\n') }), file(-1), -1, 12},
		{"a file of another name", func(m *vfs.Mem) { write(m, path.Join(dir, "9.jsonl"), nil) }, path.Join(dir, "9.jsonl"), 0, 12},
		{"a file that is no entries", func(m *vfs.Mem) { write(m, path.Join(dir, "notes.txt"), []byte("x")) }, "", 0, 12},
		{"newest: part of a line", edit(file(-1), func(b []byte) []byte { return append(b, b[:50]...) }), "", 0, 12},
		{"newest: part of a line, zeros", edit(file(-1), func(b []byte) []byte { return append(append(b, b[:50]...), make([]byte, 3<<20)...) }), "", 0, 12},
		{"newest: zeros", edit(file(-1), func(b []byte) []byte { return append(b, make([]byte, 5000)...) }), "", 0, 12},
		{"newest: zeros, then text", edit(file(-1), func(b []byte) []byte { return append(append(b, make([]byte, 2<<20)...), 'x') }), file(-1), -1, 12},
		{"newest: too long a line", edit(file(-1), func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 2<<20)...) }), file(-1), -1, 12},
		{"newest: line end changed, then part of a line", edit(file(-1), func(b []byte) []byte { return append(append(b[:len(b)-1], 'x'), b[:50]...) }), file(-1), -1, 11},
		{"newest: more than a line and zeros", edit(file(-1), func(b []byte) []byte {
			return append(append(b, bytes.Repeat([]byte("x"), 1<<20+5)...), make([]byte, 3<<20)...)
		}), file(-1), -1, 12},
		{"newest: a line without its end", edit(file(-1), last(1)), "", 0, 11},
		{"an empty newest file", func(m *vfs.Mem) { write(m, path.Join(dir, "000000000013.jsonl"), nil) }, "", 0, 12},
		{"an empty newest file too far", func(m *vfs.Mem) { write(m, path.Join(dir, "000000000014.jsonl"), nil) }, path.Join(dir, "000000000014.jsonl"), 0, 12},
		{"log: part of a header", edit(log, func(b []byte) []byte { return append(b, b[:71]...) }), "", 0, 12},
		{"log: part of a header, zeros", edit(log, func(b []byte) []byte { return append(append(b, b[:60]...), make([]byte, 5000)...) }), "", 0, 12},
		{"log: a header, no payload", edit(log, func([]byte) []byte { return longer[:end+72] }), "", 0, 12},
		{"log: a header, zeros", edit(log, func([]byte) []byte { return append(longer[:end+72:end+72], make([]byte, 5000)...) }), "", 0, 12},
		{"log: a header, most of its payload", edit(log, func([]byte) []byte { return longer[:len(longer)-5] }), "", 0, 12},
		{"log: a whole record", edit(log, func([]byte) []byte { return longer }), "", 0, 12},
		{"log: a record twice", edit(log, func(b []byte) []byte { return append(b, b...) }), log, end, 12},
		{"log: text", edit(log, func(b []byte) []byte { return append(b, bytes.Repeat([]byte("AMB1"), 100)...) }), log, -1, 12},
	}
}

// putAnother is the file system after another body was put.
func putAnother(m *vfs.Mem) *vfs.Mem {
	m = m.Crash(vfs.Kept, nil)
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	must(s.Lock(context.Background(), "a"))
	body := make([]byte, 3000)
	rand.NewChaCha8([32]byte{}).Read(body)
	must(s.Put(context.Background(), "a", body))
	return m
}

// lockable wants a session that is sound to be locked and appended to, and to be sound after it; no other may become
// so by that.
func lockable(t *testing.T, m *vfs.Mem, was bool) {
	t.Helper()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	_, err := s.Lock(context.Background(), "a")
	for _, body := range []string{"", strings.Repeat("a body that grows; ", 20)} {
		var b entry.Body
		if err == nil {
			b, err = s.Put(context.Background(), "a", []byte(body))
		}
		if err == nil {
			_, err = s.Append(context.Background(), "a", &entry.Request{N: 9, Body: &b})
		}
	}
	if was && err != nil || err != nil && !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("append: %v", err)
	}
	if r, _, _ := checked(t, m); r.Sound() != was {
		t.Errorf("after an append check found %+v, sound before: %v", r, was)
	}
}

// TestDamageInMemory wants a check to look at what is stored, not at what the process still has in memory.
//
// covers: J-04 part
func TestDamageInMemory(t *testing.T) {
	m := vfs.NewMem()
	ctx := context.Background()
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	must(s.Lock(ctx, "a"))
	b := must(s.Put(ctx, "a", bytes.Repeat([]byte("a body"), 100)))
	must(s.Append(ctx, "a", &entry.Request{Body: &b}))
	must(s.Body(ctx, "a", b))
	log := path.Join(folder, "bodies", "literals.log")
	data := read(m, log)
	data[len(data)-1] ^= 1
	write(m, log, data)
	if r := must(s.Check(ctx, "a")); r.Sound() {
		t.Error("check finds nothing")
	}
}

// TestStaleReader reads in one process while another writes, and has a failed sync in between.
//
// covers: J-10 part
func TestStaleReader(t *testing.T) {
	fault := &vfs.Fault{FS: vfs.NewMem()}
	ctx := context.Background()
	open := opener("home/me/ambit", fault)
	writer, reader := must(open()), must(open())
	defer writer.Close()
	defer reader.Close()
	must(writer.Lock(ctx, "a"))
	for i := range 10 {
		b := must(writer.Put(ctx, "a", bytes.Repeat([]byte{byte(i)}, 100+i)))
		fault.SetInject(func(op vfs.Op, name string) error {
			if i%2 == 0 && op == vfs.OpSync && path.Ext(name) == ".log" {
				return errors.New("injected")
			}
			return nil
		})
		_, err := writer.Append(ctx, "a", &entry.Request{Body: &b}, &entry.Request{Body: &b})
		if (err == nil) != (i%2 == 1) {
			t.Fatal(err)
		}
		fault.SetInject(nil)
		if err != nil {
			must(writer.Put(ctx, "a", bytes.Repeat([]byte("another"), 50+i)))
			must(writer.Append(ctx, "a", &entry.Gap{}))
		}
		if r := must(reader.Check(ctx, "a")); !r.Sound() {
			t.Fatalf("after append %d the reader's check found %+v", i, r)
		}
	}
}

// TestForgedSizes opens logs whose headers are right and claim much more than there is.
func TestForgedSizes(t *testing.T) {
	m := written()
	log := path.Join(folder, "bodies", "literals.log")
	for at, field := range map[int]string{4: "payload", 16: "literal", 20: "extents", 24: "body"} {
		data := bytes.Clone(read(m, log))
		data[at+3] = 0x3F // a GiB
		seal(data)
		forged := m.Crash(vfs.Kept, nil)
		write(forged, log, data)
		if n := allocated(func() { checked(t, forged) }); n > 64<<20 {
			t.Errorf("%s of a GiB: check allocates %d MiB", field, n>>20)
		}
	}
}

// TestBomb opens a log with a payload that holds much more than its header says.
func TestBomb(t *testing.T) {
	m := written()
	log := path.Join(folder, "bodies", "literals.log")
	enc := must(zstd.NewWriter(nil))
	payload := enc.EncodeAll(make([]byte, 256<<20), nil)
	data := append(bytes.Clone(read(m, log)[:journal.RecordHeader]), payload...)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(data[64:], crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)))
	seal(data)
	write(m, log, data)
	var r journal.Report
	if n := allocated(func() { r, _, _ = checked(t, m) }); n > 32<<20 {
		t.Errorf("check allocates %d MiB", n>>20)
	}
	if len(r.Damage) == 0 || r.Damage[0].Offset != 0 {
		t.Errorf("check found %+v", r.Damage)
	}
}

// TestLargeDamage searches 64 MiB for the next record without holding them in memory.
func TestLargeDamage(t *testing.T) {
	m := written()
	log := path.Join(folder, "bodies", "literals.log")
	data := read(m, log)
	write(m, log, append(bytes.Repeat([]byte("AMB0"), 16<<20), data...))
	var r journal.Report
	if n := allocated(func() { r, _, _ = checked(t, m) }); n > 32<<20 {
		t.Errorf("check allocates %d MiB", n>>20)
	}
	if len(r.Damage) == 0 || r.Damage[0].Offset != 0 {
		t.Errorf("check found %+v", r.Damage)
	}
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	if after.TotalAlloc < before.TotalAlloc {
		return math.MaxUint64
	}
	return after.TotalAlloc - before.TotalAlloc
}

// seal gives a record's header the checksum that it needs.
func seal(head []byte) {
	sum := crc32.Checksum(head[:journal.RecordHeader-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(head[journal.RecordHeader-4:], sum)
}
