package vfs_test

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/internal/vfs"
)

var errFull = errors.New("no space left on device")

// everything does each operation once, in the order of their constants, and returns their errors.
func everything(fsys vfs.FS, f vfs.File) []error {
	closeAll := func(f vfs.File, err error) error {
		if err == nil {
			f.Close()
		}
		return err
	}
	_, lerr := fsys.List("/")
	_, lockErr := fsys.Lock("lock", nil)
	_, rerr := f.ReadAt(make([]byte, 1), 0)
	_, werr := f.WriteAt([]byte("x"), 0)
	_, serr := f.Size()
	return []error{
		closeAll(fsys.Open("a")), closeAll(fsys.Edit("a")), closeAll(fsys.Create("b")),
		fsys.Rename("b", "c"), fsys.Remove("c"), fsys.MkdirAll("d"), lerr, fsys.SyncDir("/"), lockErr,
		rerr, werr, f.Truncate(1), f.Sync(), serr, f.Close(),
	}
}

func TestFaultEveryOp(t *testing.T) {
	names := []string{}
	for op := vfs.OpOpen; op <= vfs.OpClose; op++ {
		names = append(names, op.String())
		t.Run(op.String(), func(t *testing.T) {
			f := &vfs.Fault{FS: vfs.NewMem()}
			d := disk{T: t, FS: f}
			file := d.create("a", "text")
			var asked atomic.Int64
			f.SetInject(func(o vfs.Op, name string) error {
				if o == op {
					asked.Add(1)
					return errFull
				}
				return nil
			})
			err := everything(f, file)[op]
			var at *fs.PathError
			if !errors.As(err, &at) || at.Op != op.String() || at.Path == "" || at.Err != errFull {
				t.Errorf("got %#v", err)
			}
			if asked.Load() == 0 {
				t.Error("was not asked")
			}
		})
	}
	want := []string{
		"open", "edit", "create", "rename", "remove", "mkdir", "list", "syncdir", "lock",
		"read", "write", "truncate", "sync", "size", "close",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if got := (vfs.OpClose + 1).String(); got != "op(15)" {
		t.Errorf("got %q", got)
	}
}

func TestFaultDoesNothing(t *testing.T) {
	m := vfs.NewMem()
	f := &vfs.Fault{FS: m}
	d := disk{T: t, FS: f}
	file := d.create("a", "text")
	before := disk{T: t, FS: m}.tree()
	f.SetInject(vfs.From(0, errFull))
	_, cerr := f.Create("b")
	_, lerr := f.Lock("lock", nil)
	for _, err := range []error{
		cerr, lerr, f.Rename("a", "b"), f.Remove("a"), f.MkdirAll("d"), f.SyncDir("/"), file.Truncate(1), file.Sync(),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
	after := disk{T: t, FS: m}
	if diff := cmp.Diff(before, after.tree()); diff != "" {
		t.Error(diff)
	}
	if len((disk{T: t, FS: m.Crash(vfs.Dropped, nil)}).tree()) != 0 || m.Syncs() != 0 {
		t.Error("something became durable")
	}
	f.SetInject(nil)
	d.syncs(file)
	d.ok(d.SyncDir("/"))
	disk{T: t, FS: m.Crash(vfs.Dropped, nil)}.reads("a", "text")
}

func TestFaultHalfWrite(t *testing.T) {
	for _, r := range []struct {
		text string
		n    int
		want string
	}{
		{"ABCDE", 2, "xABxxx"},
		{"ABCD", 2, "xABxxx"},
		{"A", 0, "xxxxxx"},
		{"", 0, "xxxxxx"},
	} {
		f := &vfs.Fault{FS: vfs.NewMem()}
		d := disk{T: t, FS: f}
		file := d.create("a", "xxxxxx")
		f.SetInject(vfs.Nth(0, errFull))
		n, err := file.WriteAt([]byte(r.text), 1)
		if n != r.n || !errors.Is(err, errFull) {
			t.Errorf("%q: wrote %d, %v", r.text, n, err)
		}
		d.holds(file, r.want)
	}
}

func TestFaultCloseCloses(t *testing.T) {
	f := &vfs.Fault{FS: vfs.NewMem()}
	d := disk{T: t, FS: f}
	file := d.create("a", "")
	lock, err := d.Lock("lock", nil)
	d.ok(err)
	f.SetInject(vfs.From(0, errFull))
	d.fails(file.Close(), errFull, "a")
	d.fails(lock.Close(), errFull, "lock")
	f.SetInject(nil)
	d.fails(file.Close(), fs.ErrClosed, "a")
	lock, err = d.Lock("lock", nil)
	d.ok(err)
	d.ok(lock.Close())
}

func TestFaultInjectors(t *testing.T) {
	run := func(inject func(vfs.Op, string) error) (failed []int, ops int) {
		f := &vfs.Fault{FS: vfs.NewMem(), Inject: inject}
		for i := range 5 {
			if err := f.SyncDir("/"); err != nil {
				failed = append(failed, i)
			}
		}
		return failed, f.Ops()
	}
	for _, r := range []struct {
		name   string
		inject func(vfs.Op, string) error
		want   []int
	}{
		{"nil", nil, nil},
		{"nth 0", vfs.Nth(0, errFull), []int{0}},
		{"nth 3", vfs.Nth(3, errFull), []int{3}},
		{"nth 5", vfs.Nth(5, errFull), nil},
		{"from 0", vfs.From(0, errFull), []int{0, 1, 2, 3, 4}},
		{"from 3", vfs.From(3, errFull), []int{3, 4}},
		{"from 5", vfs.From(5, errFull), nil},
	} {
		failed, ops := run(r.inject)
		if diff := cmp.Diff(r.want, failed); diff != "" || ops != 5 {
			t.Errorf("%s: failed %v of %d, want %v of 5", r.name, failed, ops, r.want)
		}
	}
}

func TestFaultConcurrent(t *testing.T) {
	f := &vfs.Fault{FS: vfs.NewMem(), Inject: vfs.Nth(100, errFull)}
	var failed atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if f.SyncDir("/") != nil {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() != 1 || f.Ops() != 400 {
		t.Errorf("%d of %d failed", failed.Load(), f.Ops())
	}
	for range 4 {
		group.Go(func() { f.SetInject(vfs.From(0, errFull)); f.SyncDir("/"); f.SetInject(nil) })
	}
	group.Wait()
}
