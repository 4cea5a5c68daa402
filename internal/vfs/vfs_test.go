package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/internal/vfs"
)

// TestFS holds every file system to the same expectations. Each starts with an empty folder.
func TestFS(t *testing.T) {
	systems := []struct {
		name string
		make func(t *testing.T) (vfs.FS, string)
	}{
		{"os", func(t *testing.T) (vfs.FS, string) { return vfs.OS{}, filepath.ToSlash(t.TempDir()) }},
		{"mem", func(t *testing.T) (vfs.FS, string) { return vfs.NewMem(), "/" }},
		{"fault", func(t *testing.T) (vfs.FS, string) { return &vfs.Fault{FS: vfs.NewMem()}, "/" }},
	}
	cases := []struct {
		name string
		test func(t *testing.T, d disk)
	}{
		{"missing", testMissing},
		{"taken", testTaken},
		{"folder for file", testFolderForFile},
		{"file for folder", testFileForFolder},
		{"read", testRead},
		{"write beyond the end", testWriteBeyond},
		{"truncate", testTruncate},
		{"read only", testReadOnly},
		{"bad offset", testBadOffset},
		{"closed", testClosed},
		{"rename", testRename},
		{"rename folder", testRenameFolder},
		{"remove", testRemove},
		{"open across names", testOpenAcrossNames},
		{"list", testList},
		{"lock", testLock},
		{"concurrent", testConcurrent},
	}
	for _, s := range systems {
		for _, c := range cases {
			t.Run(s.name+"/"+c.name, func(t *testing.T) {
				fsys, root := s.make(t)
				c.test(t, disk{T: t, FS: fsys, root: root})
			})
		}
	}
}

// disk is a file system under test, with the steps that must succeed as methods.
type disk struct {
	*testing.T
	vfs.FS
	root string
}

func (d disk) at(name string) string { return path.Join(d.root, name) }

func (d disk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// fails wants an error that is want, when want is not nil, and that names the path.
func (d disk) fails(err error, want error, name string) {
	d.Helper()
	if err == nil || want != nil && !errors.Is(err, want) {
		d.Errorf("%s: got error %v, want %v", name, err, want)
	} else if !strings.Contains(err.Error(), name) {
		d.Errorf("error %q does not name %q", err, name)
	}
}

func (d disk) create(name, text string) vfs.File {
	d.Helper()
	f, err := d.Create(d.at(name))
	d.ok(err)
	d.write(f, 0, text)
	return f
}

func (d disk) put(name, text string) {
	d.Helper()
	d.ok(d.create(name, text).Close())
}

func (d disk) write(f vfs.File, off int64, text string) {
	d.Helper()
	n, err := f.WriteAt([]byte(text), off)
	if n != len(text) || err != nil {
		d.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func (d disk) holds(f vfs.File, want string) {
	d.Helper()
	got, err := content(f)
	d.ok(err)
	if got != want {
		d.Errorf("content is %q, want %q", got, want)
	}
}

func (d disk) reads(name, want string) {
	d.Helper()
	f, err := d.Open(d.at(name))
	d.ok(err)
	d.holds(f, want)
	d.ok(f.Close())
}

func (d disk) lists(dir string, want ...string) {
	d.Helper()
	got, err := d.List(d.at(dir))
	d.ok(err)
	if len(got)+len(want) > 0 && !cmp.Equal(got, want) {
		d.Errorf("names in %q are %q, want %q", dir, got, want)
	}
}

func content(f vfs.File) (string, error) {
	size, err := f.Size()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size+1))
	return string(data), err
}

// tree returns the names below a folder with the files' content; a folder's name ends in a slash.
func tree(fsys vfs.FS, dir string) (map[string]string, error) {
	all := map[string]string{}
	names, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		at := path.Join(dir, name)
		if below, err := tree(fsys, at); err == nil {
			all[name+"/"] = ""
			for k, v := range below {
				all[name+"/"+k] = v
			}
			continue
		}
		f, err := fsys.Open(at)
		if err != nil {
			return nil, err
		}
		if all[name], err = content(f); err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func testMissing(t *testing.T, d disk) {
	for _, name := range []string{"no", "no/f"} {
		at := d.at(name)
		_, err := d.Open(at)
		d.fails(err, fs.ErrNotExist, at)
		_, err = d.Edit(at)
		d.fails(err, fs.ErrNotExist, at)
		_, err = d.List(at)
		d.fails(err, fs.ErrNotExist, at)
		d.fails(d.Remove(at), fs.ErrNotExist, at)
		d.fails(d.SyncDir(at), fs.ErrNotExist, at)
		d.fails(d.Rename(at, d.at("b")), fs.ErrNotExist, at)
	}
	_, err := d.Create(d.at("no/f"))
	d.fails(err, fs.ErrNotExist, d.at("no/f"))
	_, err = d.Lock(d.at("no/f"), nil)
	d.fails(err, fs.ErrNotExist, d.at("no/f"))
	d.put("a", "")
	d.fails(d.Rename(d.at("a"), d.at("no/f")), fs.ErrNotExist, d.at("no/f"))
	d.lists("", "a")
}

func testTaken(t *testing.T, d disk) {
	d.put("a", "text")
	d.ok(d.MkdirAll(d.at("d")))
	for _, name := range []string{"a", "d"} {
		_, err := d.Create(d.at(name))
		d.fails(err, fs.ErrExist, d.at(name))
	}
	d.reads("a", "text")
}

func testFolderForFile(t *testing.T, d disk) {
	at := d.at("d")
	d.ok(d.MkdirAll(at))
	_, err := d.Open(at)
	d.fails(err, nil, at)
	_, err = d.Edit(at)
	d.fails(err, nil, at)
	_, err = d.Lock(at, nil)
	d.fails(err, nil, at)
}

func testFileForFolder(t *testing.T, d disk) {
	d.put("a", "")
	_, err := d.List(d.at("a"))
	d.fails(err, nil, d.at("a"))
	_, err = d.Open(d.at("a/f"))
	d.fails(err, nil, d.at("a/f"))
	_, err = d.Create(d.at("a/f"))
	d.fails(err, nil, d.at("a/f"))
	d.fails(d.MkdirAll(d.at("a")), nil, d.at("a"))
	d.fails(d.MkdirAll(d.at("a/d")), nil, d.at("a"))
	d.fails(d.SyncDir(d.at("a")), nil, d.at("a"))
}

func testRead(t *testing.T, d disk) {
	f := d.create("a", "abcdef")
	rows := []struct {
		off  int64
		n    int
		want string
		err  error
	}{
		{0, 6, "abcdef", nil},
		{2, 3, "cde", nil},
		{4, 2, "ef", nil},
		{4, 5, "ef", io.EOF},
		{6, 1, "", io.EOF},
		{9, 1, "", io.EOF},
		{9, 0, "", nil},
	}
	for _, r := range rows {
		p := make([]byte, r.n)
		n, err := f.ReadAt(p, r.off)
		if string(p[:n]) != r.want || err != r.err {
			t.Errorf("read %d at %d: %q, %v; want %q, %v", r.n, r.off, p[:n], err, r.want, r.err)
		}
	}
	d.ok(f.Close())
}

func testWriteBeyond(t *testing.T, d disk) {
	f := d.create("a", "ab")
	d.write(f, 4, "ef")
	d.holds(f, "ab\x00\x00ef")
	d.write(f, 1, "BCDE")
	d.holds(f, "aBCDEf")
	d.write(f, 9, "")
	d.holds(f, "aBCDEf")
	d.ok(f.Sync())
	d.ok(f.Close())
	d.ok(d.SyncDir(d.root))
	d.reads("a", "aBCDEf")
}

func testTruncate(t *testing.T, d disk) {
	f := d.create("a", "abcdef")
	d.ok(f.Truncate(2))
	d.holds(f, "ab")
	d.ok(f.Truncate(4))
	d.holds(f, "ab\x00\x00") // not what stood there before
	d.ok(f.Truncate(0))
	d.holds(f, "")
	d.ok(f.Close())
}

func testReadOnly(t *testing.T, d disk) {
	d.put("a", "abc")
	f, err := d.Open(d.at("a"))
	d.ok(err)
	n, err := f.WriteAt([]byte("x"), 0)
	d.fails(err, nil, d.at("a"))
	if n != 0 {
		t.Errorf("wrote %d bytes", n)
	}
	d.fails(f.Truncate(0), nil, d.at("a"))
	d.holds(f, "abc")
	d.ok(f.Sync())
	d.ok(f.Close())
	f, err = d.Edit(d.at("a"))
	d.ok(err)
	d.write(f, 3, "d")
	d.holds(f, "abcd")
	d.ok(f.Close())
}

func testBadOffset(t *testing.T, d disk) {
	f := d.create("a", "abc")
	_, err := f.ReadAt(make([]byte, 1), -1)
	d.fails(err, nil, d.at("a"))
	_, err = f.WriteAt([]byte("x"), -1)
	d.fails(err, nil, d.at("a"))
	d.fails(f.Truncate(-1), nil, d.at("a"))
	d.holds(f, "abc")
	d.ok(f.Close())
}

func testClosed(t *testing.T, d disk) {
	f := d.create("a", "abc")
	d.ok(f.Close())
	_, err := f.ReadAt(make([]byte, 1), 0)
	d.fails(err, fs.ErrClosed, d.at("a"))
	_, err = f.WriteAt([]byte("x"), 0)
	d.fails(err, fs.ErrClosed, d.at("a"))
	_, err = f.Size()
	d.fails(err, nil, "a")
	d.fails(f.Truncate(0), fs.ErrClosed, d.at("a"))
	d.fails(f.Sync(), fs.ErrClosed, d.at("a"))
	d.fails(f.Close(), fs.ErrClosed, d.at("a"))
	d.reads("a", "abc")
}

func testRename(t *testing.T, d disk) {
	d.put("a", "one")
	d.put("b", "two")
	d.ok(d.MkdirAll(d.at("d")))
	d.ok(d.Rename(d.at("a"), d.at("a")))
	d.reads("a", "one")
	d.ok(d.Rename(d.at("a"), d.at("b")))
	d.lists("", "b", "d")
	d.reads("b", "one")
	d.ok(d.Rename(d.at("b"), d.at("d/c")))
	d.lists("", "d")
	d.reads("d/c", "one")
	d.put("e", "")
	d.fails(d.Rename(d.at("e"), d.at("d")), fs.ErrExist, d.at("d"))
	d.lists("", "d", "e")
}

func testRenameFolder(t *testing.T, d disk) {
	d.ok(d.MkdirAll(d.at("d")))
	d.put("d/f", "text")
	d.ok(d.Rename(d.at("d"), d.at("e")))
	d.lists("", "e")
	d.reads("e/f", "text")
	d.ok(d.MkdirAll(d.at("empty")))
	d.put("file", "")
	d.fails(d.Rename(d.at("e"), d.at("empty")), fs.ErrExist, d.at("empty"))
	d.fails(d.Rename(d.at("e"), d.at("file")), nil, d.at("file"))
	d.fails(d.Rename(d.at("e"), d.at("e/in")), nil, d.at("e/in"))
	d.ok(d.MkdirAll(d.at("full")))
	d.put("full/f", "other")
	d.fails(d.Rename(d.at("e"), d.at("full")), fs.ErrExist, d.at("full"))
	d.reads("full/f", "other")
	d.reads("e/f", "text")
	lock, err := d.Lock(d.at("e/lock"), []byte("me"))
	d.ok(err)
	f, err := d.Edit(d.at("e/f"))
	d.ok(err)
	d.ok(d.Rename(d.at("e"), d.at("again"))) // with what is open and locked in it
	d.write(f, 4, "!")
	d.ok(f.Close())
	d.reads("again/f", "text!")
	if lock.Named() {
		d.Error("the lock's file is said to have its name")
	}
	_, err = d.Lock(d.at("again/lock"), nil)
	d.fails(err, vfs.ErrLocked, d.at("again/lock"))
	d.ok(lock.Close())
	lock, err = d.Lock(d.at("again/lock"), nil)
	d.ok(err)
	d.ok(lock.Close())
}

func testRemove(t *testing.T, d disk) {
	d.ok(d.MkdirAll(d.at("d")))
	d.put("d/f", "")
	d.fails(d.Remove(d.at("d")), nil, d.at("d"))
	d.ok(d.Remove(d.at("d/f")))
	d.ok(d.Remove(d.at("d")))
	d.lists("")
}

func testOpenAcrossNames(t *testing.T, d disk) {
	moved, removed, replaced := d.create("a", "one"), d.create("b", "two"), d.create("c", "three")
	d.ok(d.Rename(d.at("a"), d.at("c")))
	d.ok(d.Remove(d.at("b")))
	d.put("b", "new")
	d.write(moved, 3, "!")
	d.write(removed, 3, "!")
	d.write(replaced, 5, "!")
	d.reads("c", "one!")
	d.reads("b", "new")
	d.holds(removed, "two!")
	d.holds(replaced, "three!")
	for _, f := range []vfs.File{moved, removed, replaced} {
		d.ok(f.Sync())
		d.ok(f.Close())
	}
}

func testList(t *testing.T, d disk) {
	d.lists("")
	for _, name := range []string{"b", "a", "c", "B", "a.10", "a.9"} {
		d.put(name, "")
	}
	d.ok(d.MkdirAll(d.at("d/e/f")))
	d.ok(d.MkdirAll(d.at("d/e/f")))
	d.ok(d.MkdirAll(d.root))
	d.lists("", "B", "a", "a.10", "a.9", "b", "c", "d")
	d.lists("d", "e")
	d.lists("d/e", "f")
	d.lists("d/e/f")
}

func testLock(t *testing.T, d disk) {
	at := d.at("lock")
	lock, err := d.Lock(at, []byte("a long first holder"))
	d.ok(err)
	_, err = d.Lock(at, []byte("second"))
	d.fails(err, vfs.ErrLocked, at)
	var held *vfs.LockedError
	if !errors.As(err, &held) || held.Name != at || string(held.Holder) != "a long first holder" {
		t.Errorf("got %#v", err)
	}
	other, err := d.Lock(d.at("other"), nil)
	d.ok(err)
	d.ok(lock.Close())
	again, err := d.Lock(at, []byte("third"))
	d.ok(err)
	d.fails(lock.Close(), nil, at) // and leaves the lock to its holder
	_, err = d.Lock(at, nil)
	d.fails(err, vfs.ErrLocked, at)
	d.ok(again.Close())
	d.ok(other.Close())
	d.lists("", "lock", "other")
	d.reads("lock", "third")
}

func testConcurrent(t *testing.T, d disk) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := d.at(fmt.Sprintf("d%d/f", i%2))
			if err := d.MkdirAll(path.Dir(name)); err != nil {
				t.Error(err)
			}
			f, err := d.Create(fmt.Sprintf("%s%d", name, i))
			if err != nil {
				t.Error(err)
				return
			}
			_, werr := f.WriteAt([]byte("text"), 0)
			if err := errors.Join(werr, f.Sync(), f.Close(), d.SyncDir(path.Dir(name))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	d.lists("d0", "f0", "f2", "f4", "f6")
	d.lists("d1", "f1", "f3", "f5", "f7")
	d.reads("d1/f3", "text")
}
