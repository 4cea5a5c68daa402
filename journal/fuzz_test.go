package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
)

// FuzzFrame parses lines. With seal set, the line gets the sum that it needs.
func FuzzFrame(f *testing.F) {
	line, _ := appendFrame(nil, 7, true, firstPrev, []byte(`{"time":"2031-01-02T03:04:05Z","kind":"gap","exchanges":1,"cause":"x"}`))
	line = line[:len(line)-1]
	f.Add(line, false)
	f.Add(line, true)
	f.Add(line[:len(line)-1], false)
	f.Add(bytes.Replace(line, []byte(`"seq":7`), []byte(`"seq":007`), 1), true)
	f.Add(bytes.Replace(line, []byte(`"seq":7`), []byte(`"seq":18446744073709551616`), 1), true)
	f.Add(bytes.Replace(line, []byte(`"kind":"gap"`), []byte(`"kind":"later"`), 1), true)
	f.Add(bytes.Replace(line, []byte(`"entry":`), []byte(`"other":`), 1), true)
	f.Add([]byte(frameHead+frameSum+strings.Repeat("0", sumLen)+frameTail), true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, line []byte, seal bool) {
		if cut := len(line) - tailLen; seal && cut >= 0 {
			line = append(line[:cut:cut], frameSum+sumOf(line[:cut])+frameTail...)
		}
		torn(line)
		got, err := parseFrame(line)
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(line, []byte(framePrev))
		again, sum := appendFrame(nil, got.Seq, got.More, got.Prev, rest[sumLen+len(frameBody):len(rest)-tailLen])
		if !bytes.Equal(again, append(line[:len(line):len(line)], '\n')) || sum != got.Sum {
			t.Errorf("%q is read as a frame, and written as %q", line, again)
		}
	})
}

// FuzzRecord parses headers. With seal set, the header gets the checksum that it needs.
func FuzzRecord(f *testing.F) {
	r := record{payload: 30, start: 1 << 40, literal: 1000, recipe: 12, size: 5000, crc: 77}
	f.Add(r.append(nil), false)
	f.Add(record{}.append(nil), false)
	f.Add(bytes.Repeat([]byte{255}, RecordHeader), true)
	f.Add(append([]byte(recordMagic), make([]byte, RecordHeader)...), true)
	f.Fuzz(func(t *testing.T, head []byte, seal bool) {
		if len(head) < RecordHeader {
			return
		}
		head = head[:RecordHeader]
		if seal {
			copy(head, recordMagic)
			binary.LittleEndian.PutUint32(head[RecordHeader-4:], crc32.Checksum(head[:RecordHeader-4], castagnoli))
		}
		r, err := parseRecord(5, head)
		if err != nil {
			return
		}
		if again := r.append(nil); !bytes.Equal(again, head) {
			t.Errorf("%x is read as %+v, and written as %x", head, r, again)
		}
		if r.size > MaxBody || r.literal > MaxBody || r.recipe > MaxBody || r.at != 5 {
			t.Errorf("%+v is too large", r)
		}
	})
}

// FuzzRecipe parses extents.
func FuzzRecipe(f *testing.F) {
	extents := []extent{{100, 50}, {0, 7}, {149, 1}, {1 << 40, 1000}}
	f.Add(appendRecipe(nil, 90, extents), uint64(90), uint64(1058), uint64(1<<41))
	f.Add([]byte{}, uint64(1), uint64(0), uint64(1))
	f.Add(bytes.Repeat([]byte{255}, 30), uint64(0), uint64(10), uint64(10))
	f.Add([]byte{1, 5}, uint64(0), uint64(5), uint64(1<<63))
	f.Add([]byte{0, 0, 0, 0}, uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, buf []byte, start, size, limit uint64) {
		size %= MaxBody + 1
		extents, err := parseRecipe(buf, start, size, limit)
		if err != nil {
			return
		}
		total := uint64(0)
		for _, x := range extents {
			if x.length == 0 || x.start > limit || x.start+x.length > limit {
				t.Errorf("extent %+v is not before %d", x, limit)
			}
			total += x.length
		}
		if total != size {
			t.Errorf("extents %v make up %d of %d bytes", extents, total, size)
		}
		again, err := parseRecipe(appendRecipe(nil, start, extents), start, size, limit)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(extents) {
			t.Errorf("%v is written and read as %v, %v", extents, again, err)
		}
	})
}

// FuzzExport reads exports. With seal set, frames get the prev and the sum that they need. What is read can be imported,
// and gives the same back; where nothing was damaged and bodies are spelled as an export does, byte for byte.
func FuzzExport(f *testing.F) {
	ctx := context.Background()
	open := func() *Dir {
		d, err := Open("d", Options{FS: vfs.NewMem(), Rotate: 1000})
		if err != nil {
			f.Fatal(err)
		}
		return d
	}
	d := open()
	unlock, err := d.Lock(ctx, "a")
	for _, body := range []string{"text \u2028\n", "\xff", ""} {
		var b entry.Body
		if err == nil {
			b, err = d.Put(ctx, "a", []byte(body))
		}
		if err == nil {
			_, err = d.Append(ctx, "a", &entry.Session{ID: "a"}, &entry.Request{Body: &b}, &entry.Response{Body: &b})
		}
	}
	var whole bytes.Buffer
	if err := errors.Join(err, unlock(), Export(ctx, d, "a", &whole), d.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes(), false)
	f.Add(whole.Bytes()[:whole.Len()-10], false)
	f.Add(bytes.Replace(whole.Bytes(), []byte(`"id":"a"`), []byte(`"id":"b"`), 1), true)
	f.Add(bytes.Replace(whole.Bytes(), []byte(`"kind":"response"`), []byte(`"kind":"imported","format":"ambit"`), 3), true)
	f.Add(bytes.ReplaceAll(whole.Bytes(), []byte(`\u2028`), []byte("\u2028")), false)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealExport(data)
		}
		read, err := ReadExport(ctx, bytes.NewReader(data))
		if err != nil {
			return
		}
		d := open()
		defer d.Close()
		name, made, err := d.Import(ctx, bytes.NewReader(data), read, "x")
		if err != nil || !made || name != read.Name {
			t.Fatalf("%+v is imported as %q, made %v: %v", read, name, made, err)
		}
		var out bytes.Buffer
		if err := Export(ctx, d, name, &out); err != nil {
			t.Fatal(err)
		}
		if r, err := d.Check(ctx, name); err != nil || !r.Sound() || r.Entries != read.Entries+1 {
			t.Errorf("check of %q found %+v, %v", data, r, err)
		}
		again, err := ReadExport(ctx, bytes.NewReader(out.Bytes()))
		if err != nil || again.Damage != nil || again.Sum != read.Sum || again.Bodies != read.Bodies || again.Bytes != read.Bytes {
			t.Errorf("%q is read as %+v, exported as %q, and read as %+v, %v", data, read, &out, again, err)
		}
		if read.Damage == nil && len(data) == out.Len() && !bytes.Equal(data, out.Bytes()) && !bytes.ContainsAny(data, `\`) {
			t.Errorf("%q is exported as %q", data, &out)
		}
	})
}

// sealExport gives frames the prev and the sum that they need.
func sealExport(data []byte) []byte {
	lines := bytes.Split(bytes.Clone(data), []byte("\n"))
	prev := firstPrev
	for i, line := range lines {
		at, cut := bytes.Index(line, []byte(framePrev))+len(framePrev), len(line)-tailLen
		if !bytes.HasPrefix(line, []byte(frameHead)) || at+sumLen > cut {
			continue
		}
		copy(line[at:], prev)
		prev = sumOf(line[:cut])
		lines[i] = append(line[:cut:cut], frameSum+prev+frameTail...)
	}
	return bytes.Join(lines, []byte("\n"))
}
