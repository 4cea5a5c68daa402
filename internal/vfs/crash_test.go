package vfs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/internal/vfs"
)

func (d disk) tree() map[string]string {
	d.Helper()
	all, err := tree(d.FS, "/")
	d.ok(err)
	return all
}

func (d disk) syncs(f vfs.File) {
	d.Helper()
	d.ok(f.Sync())
}

// TestCrash does each row's steps on a file system where "a" and "d/b" are durable, both with the text "old".
func TestCrash(t *testing.T) {
	type all = map[string]string
	rows := []struct {
		name    string
		steps   func(d disk, a vfs.File)
		dropped all
		kept    all
	}{
		{
			"nothing pending", func(d disk, a vfs.File) {},
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "old", "d/": "", "d/b": "old"},
		},
		{
			"write", func(d disk, a vfs.File) { d.write(a, 3, "er") },
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "older", "d/": "", "d/b": "old"},
		},
		{
			"write, sync, write", func(d disk, a vfs.File) { d.write(a, 3, "er"); d.syncs(a); d.write(a, 0, "O") },
			all{"a": "older", "d/": "", "d/b": "old"},
			all{"a": "Older", "d/": "", "d/b": "old"},
		},
		{
			"truncate", func(d disk, a vfs.File) { d.ok(a.Truncate(1)) },
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "o", "d/": "", "d/b": "old"},
		},
		{
			"create and sync, no syncdir", func(d disk, a vfs.File) { d.syncs(d.create("c", "new")) },
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "old", "c": "new", "d/": "", "d/b": "old"},
		},
		{
			"create and syncdir, no sync", func(d disk, a vfs.File) { d.create("c", "new"); d.ok(d.SyncDir("/")) },
			all{"a": "old", "c": "", "d/": "", "d/b": "old"},
			all{"a": "old", "c": "new", "d/": "", "d/b": "old"},
		},
		{
			"rename over", func(d disk, a vfs.File) {
				d.syncs(d.create("c", "new"))
				d.ok(d.SyncDir("/"))
				d.ok(d.Rename("c", "a"))
			},
			all{"a": "old", "c": "new", "d/": "", "d/b": "old"},
			all{"a": "new", "d/": "", "d/b": "old"},
		},
		{
			"rename over, syncdir", func(d disk, a vfs.File) {
				d.syncs(d.create("c", "new"))
				d.ok(d.Rename("c", "a"))
				d.ok(d.SyncDir("/"))
			},
			all{"a": "new", "d/": "", "d/b": "old"},
			all{"a": "new", "d/": "", "d/b": "old"},
		},
		{
			"rename across, old folder synced", func(d disk, a vfs.File) {
				d.ok(d.Rename("a", "d/c"))
				d.ok(d.SyncDir("/"))
			},
			all{"d/": "", "d/b": "old"},
			all{"d/": "", "d/b": "old", "d/c": "old"},
		},
		{
			"rename across, new folder synced", func(d disk, a vfs.File) {
				d.ok(d.Rename("a", "d/c"))
				d.ok(d.SyncDir("d"))
			},
			all{"a": "old", "d/": "", "d/b": "old", "d/c": "old"},
			all{"d/": "", "d/b": "old", "d/c": "old"},
		},
		{
			"remove", func(d disk, a vfs.File) { d.write(a, 0, "new"); d.syncs(a); d.ok(d.Remove("a")) },
			all{"a": "new", "d/": "", "d/b": "old"},
			all{"d/": "", "d/b": "old"},
		},
		{
			"remove a folder", func(d disk, a vfs.File) { d.ok(d.Remove("d/b")); d.ok(d.Remove("d")) },
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "old"},
		},
		{
			"rename a folder", func(d disk, a vfs.File) {
				d.ok(d.MkdirAll("e/f"))
				d.syncs(d.create("e/f/g", "new"))
				d.create("e/f/h", "unsynced")
				for _, dir := range []string{"e/f", "e", "/"} {
					d.ok(d.SyncDir(dir))
				}
				d.ok(d.Rename("e", "k"))
			},
			all{"a": "old", "d/": "", "d/b": "old", "e/": "", "e/f/": "", "e/f/g": "new", "e/f/h": ""},
			all{"a": "old", "d/": "", "d/b": "old", "k/": "", "k/f/": "", "k/f/g": "new", "k/f/h": "unsynced"},
		},
		{
			"rename a folder, syncdir", func(d disk, a vfs.File) {
				d.ok(d.MkdirAll("e"))
				d.syncs(d.create("e/g", "new"))
				d.ok(d.SyncDir("e"))
				d.ok(d.Rename("e", "k"))
				d.ok(d.SyncDir("/"))
			},
			all{"a": "old", "d/": "", "d/b": "old", "k/": "", "k/g": "new"},
			all{"a": "old", "d/": "", "d/b": "old", "k/": "", "k/g": "new"},
		},
		{
			"new folder, only its inside synced", func(d disk, a vfs.File) {
				d.ok(d.MkdirAll("e/f"))
				d.syncs(d.create("e/f/g", "new"))
				d.ok(d.SyncDir("e/f"))
				d.ok(d.SyncDir("e"))
			},
			all{"a": "old", "d/": "", "d/b": "old"},
			all{"a": "old", "d/": "", "d/b": "old", "e/": "", "e/f/": "", "e/f/g": "new"},
		},
		{
			"lock", func(d disk, a vfs.File) { _, err := d.Lock("l", []byte("me")); d.ok(err); d.ok(d.SyncDir("/")) },
			all{"a": "old", "d/": "", "d/b": "old", "l": ""},
			all{"a": "old", "d/": "", "d/b": "old", "l": "me"},
		},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			m, a := old(t)
			r.steps(disk{T: t, FS: m}, a)
			for loss, want := range map[vfs.Loss]all{vfs.Dropped: r.dropped, vfs.Kept: r.kept} {
				got := disk{T: t, FS: m.Crash(loss, nil)}.tree()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", loss, diff)
				}
			}
		})
	}
}

func old(t *testing.T) (*vfs.Mem, vfs.File) {
	m := vfs.NewMem()
	d := disk{T: t, FS: m}
	d.ok(d.MkdirAll("d"))
	a, b := d.create("a", "old"), d.create("d/b", "old")
	d.syncs(a)
	d.syncs(b)
	d.ok(d.SyncDir("d"))
	d.ok(d.SyncDir("/"))
	return m, a
}

// torn returns how often each content of "a", or "(none)", was there after n torn crashes.
func torn(t *testing.T, m *vfs.Mem, n uint64) map[string]int {
	seen := map[string]int{}
	for seed := range n {
		all := disk{T: t, FS: m.Crash(vfs.Torn, rand.New(rand.NewPCG(seed, 0)))}.tree()
		text, ok := all["a"]
		if !ok {
			text = "(none)"
		}
		seen[text]++
	}
	return seen
}

func TestTornFile(t *testing.T) {
	m, a := old(t)
	d := disk{T: t, FS: m}
	d.write(a, 3, "12")
	d.write(a, 0, "O")
	d.ok(a.Truncate(4))
	d.write(a, 4, "xy")
	want := []string{
		"old", "old1", "old12", // in the first write
		"Old12",                   // after the second
		"Old1", "Old1x", "Old1xy", // after the cut, in the last write
		"old\x00\x00\x00", "old1\x00\x00", "old12\x00", "Old12\x00", "Old1\x00\x00", "Old1x\x00", // with the last length
	}
	seen := torn(t, m, 4000)
	for _, text := range want {
		if seen[text] == 0 {
			t.Errorf("%q was never there", text)
		}
		delete(seen, text)
	}
	if len(seen) > 0 {
		t.Errorf("unexpected: %#v", seen)
	}
}

func TestTornCut(t *testing.T) {
	m, a := old(t)
	disk{T: t, FS: m}.ok(a.Truncate(1))
	seen := torn(t, m, 800)
	if len(seen) != 2 || seen["old"] == 0 || seen["o"] == 0 {
		t.Errorf("got %v", seen)
	}
}

func TestTornFolder(t *testing.T) {
	m, _ := old(t)
	d := disk{T: t, FS: m}
	for _, text := range []string{"new", "newer"} {
		d.syncs(d.create("tmp", text))
		d.ok(d.Rename("tmp", "a"))
	}
	d.ok(d.Remove("a"))
	seen := torn(t, m, 800)
	for _, text := range []string{"old", "new", "newer", "(none)"} {
		if seen[text] == 0 {
			t.Errorf("%q was never there", text)
		}
		delete(seen, text)
	}
	if len(seen) > 0 {
		t.Errorf("unexpected: %v", seen)
	}
}

func TestTornRepeats(t *testing.T) {
	m, a := old(t)
	d := disk{T: t, FS: m}
	for i := range 20 {
		d.write(a, int64(i), "text")
		d.write(d.create(fmt.Sprint("d/", i), ""), 0, "text")
	}
	for seed := range uint64(50) {
		first := disk{T: t, FS: m.Crash(vfs.Torn, rand.New(rand.NewPCG(seed, 0)))}.tree()
		second := disk{T: t, FS: m.Crash(vfs.Torn, rand.New(rand.NewPCG(seed, 0)))}.tree()
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("seed %d differs:\n%s", seed, diff)
		}
	}
}

func TestCrashSeparates(t *testing.T) {
	m, a := old(t)
	d := disk{T: t, FS: m}
	lock, err := d.Lock("l", nil)
	d.ok(err)
	d.write(a, 3, "er")
	after := disk{T: t, FS: m.Crash(vfs.Kept, nil)}
	d.write(a, 0, "ABC")
	d.syncs(a)
	after.reads("a", "older")
	f, err := after.Edit("a")
	after.ok(err)
	after.write(f, 0, "xyz")
	d.reads("a", "ABCer")
	disk{T: t, FS: after.FS.(*vfs.Mem).Crash(vfs.Dropped, nil)}.reads("a", "older")
	free, err := after.Lock("l", nil) // while the original holds its own
	after.ok(err)
	after.ok(free.Close())
	d.ok(lock.Close())
}

func TestCrashKeepsOneFileOfTwoNames(t *testing.T) {
	m, _ := old(t)
	d := disk{T: t, FS: m}
	d.ok(d.Rename("a", "d/c"))
	d.ok(d.SyncDir("d"))
	after := disk{T: t, FS: m.Crash(vfs.Dropped, nil)}
	f, err := after.Edit("a")
	after.ok(err)
	after.write(f, 3, "er")
	after.reads("d/c", "older")
	after.ok(after.Rename("a", "d/c")) // POSIX: nothing to do
	after.reads("a", "older")
}

func TestLossString(t *testing.T) {
	for loss, want := range map[vfs.Loss]string{
		vfs.Dropped: "dropped", vfs.Kept: "kept", vfs.Torn: "torn", 9: "loss(9)",
	} {
		if loss.String() != want {
			t.Errorf("got %q, want %q", loss, want)
		}
	}
}

func BenchmarkCrash(b *testing.B) {
	m := vfs.NewMem()
	f, err := m.Create("a")
	if err != nil {
		b.Fatal(err)
	}
	text := make([]byte, 512)
	for i := range 100 {
		f.WriteAt(text, int64(i*512))
		if i == 80 {
			f.Sync()
			m.SyncDir("/")
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		m.Crash(vfs.Torn, rng)
	}
}
