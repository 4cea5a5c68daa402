package vfs_test

import (
	"errors"
	"syscall"
	"testing"

	"ambit/internal/vfs"
)

func TestMemNamesAreRooted(t *testing.T) {
	d := disk{T: t, FS: vfs.NewMem()}
	d.ok(d.MkdirAll("d"))
	d.put("d/f", "text")
	for _, name := range []string{"d/f", "/d/f", "./d//f", "d/x/../f", "../d/f"} {
		f, err := d.Open(name)
		d.ok(err)
		d.holds(f, "text")
	}
}

func TestMemCopiesBytes(t *testing.T) {
	m := vfs.NewMem()
	d := disk{T: t, FS: m}
	f := d.create("a", "")
	p := []byte("abc")
	_, err := f.WriteAt(p, 0)
	d.ok(err)
	copy(p, "xyz")
	d.ok(f.Sync())
	d.ok(d.SyncDir("/"))
	disk{T: t, FS: m.Crash(vfs.Dropped, nil)}.reads("a", "abc")
}

func TestMemSyncs(t *testing.T) {
	m := vfs.NewMem()
	d := disk{T: t, FS: m}
	f, g := d.create("a", "one"), d.create("b", "two")
	d.ok(f.Sync())
	d.ok(f.Sync())
	d.ok(g.Sync())
	d.ok(d.SyncDir("/"))
	d.ok(g.Close())
	d.fails(g.Sync(), nil, "b")
	if got := m.Syncs(); got != 3 {
		t.Errorf("%d syncs, want 3", got)
	}
	if got := m.Crash(vfs.Kept, nil).Syncs(); got != 0 {
		t.Errorf("%d syncs after the crash, want 0", got)
	}
}

func TestMemLimits(t *testing.T) {
	d := disk{T: t, FS: vfs.NewMem()}
	f := d.create("a", "abc")
	for _, off := range []int64{1 << 30, 1<<63 - 1} {
		_, err := f.WriteAt([]byte("x"), off)
		d.fails(err, syscall.EFBIG, "a")
	}
	d.fails(f.Truncate(1<<30+1), syscall.EFBIG, "a")
	d.holds(f, "abc")
	d.ok(d.MkdirAll("d"))
	d.ok(d.MkdirAll("e"))
	d.fails(d.Rename("d", "e/d"), syscall.EXDEV, "e/d")
	d.fails(d.Remove("/"), nil, "/")
}

func TestMemLockFollowsFile(t *testing.T) {
	d := disk{T: t, FS: vfs.NewMem()}
	lock, err := d.Lock("a", []byte("first"))
	d.ok(err)
	d.ok(d.Rename("a", "b"))
	if _, err := d.Lock("b", nil); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("renamed lock file: %v", err)
	}
	fresh, err := d.Lock("a", nil)
	d.ok(err)
	d.ok(lock.Close())
	d.ok(fresh.Close())
}
