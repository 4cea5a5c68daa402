package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/journal/journaltest"
)

var holder = journal.Holder{PID: 4711, Command: "up", Addr: "127.0.0.1:4321"}

// covers: J-01
// covers: J-03
// covers: J-04
// covers: J-05
// covers: J-07 part
// covers: J-08 part
// covers: J-09 part
// covers: J-10
// covers: J-13 part
func TestStoreInMemory(t *testing.T) {
	journaltest.Run(t, func(testing.TB) journaltest.Storage { return inMemory(vfs.NewMem()) })
}

// covers: J-01
// covers: J-04
// covers: J-07 part
// covers: J-08 part
// covers: J-13 part
func TestStoreOnDisk(t *testing.T) {
	journaltest.Run(t, func(t testing.TB) journaltest.Storage {
		root := filepath.ToSlash(t.TempDir())
		return journaltest.Storage{
			Open:   opener(root, vfs.OS{}),
			Holder: holder,
			Flip:   func(n uint64) string { return flip(vfs.OS{}, path.Join(root, "sessions"), n) },
			Import: importing,
			Holds:  func(text []byte) bool { return holds(vfs.OS{}, path.Join(root, "sessions"), text) },
		}
	})
}

func opener(root string, fsys vfs.FS) func() (journaltest.Store, error) {
	return func() (journaltest.Store, error) {
		o := journal.Options{FS: fsys, Holder: holder, Rotate: 2000, Now: tick()}
		d, err := journal.Open(root, o)
		if err != nil {
			return nil, err
		}
		return d, nil
	}
}

// importing makes a session of an export.
func importing(s journaltest.Store, export []byte) (session string, made bool, err error) {
	ctx := context.Background()
	read, err := journal.ReadExport(ctx, bytes.NewReader(export))
	if err != nil {
		return "", false, err
	}
	return s.(*journal.Dir).Import(ctx, bytes.NewReader(export), read, "export.jsonl")
}

// tick is a clock that goes on by a second each time it is asked.
func tick() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2031, 1, 2, 3, 4, 5, 6, time.FixedZone("east", 3600))
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

// inMemory keeps sessions below folders that do not exist yet, as on the first run of a new machine.
func inMemory(m *vfs.Mem) journaltest.Storage {
	const root = "home/me/ambit"
	fault := &vfs.Fault{FS: m}
	return journaltest.Storage{
		Open:   opener(root, fault),
		Holder: holder,
		Crash:  func(seed uint64) journaltest.Storage { return inMemory(crashed(m, seed)) },
		Fail: func(from, until int, err error) func() int {
			f := &faults{from: from, until: until, err: err}
			fault.SetInject(f.inject)
			return f.count
		},
		Ops:    fault.Ops,
		Flip:   func(n uint64) string { return flip(m, path.Join(root, "sessions"), n) },
		Import: importing,
		Holds:  func(text []byte) bool { return holds(m, path.Join(root, "sessions"), text) },
	}
}

func crashed(m *vfs.Mem, seed uint64) *vfs.Mem {
	switch seed {
	case 0:
		return m.Crash(vfs.Dropped, nil)
	case 1:
		return m.Crash(vfs.Kept, nil)
	}
	return m.Crash(vfs.Torn, rand.New(rand.NewPCG(seed, 0)))
}

// faults makes a row of operations fail.
type faults struct {
	from, until int
	err         error

	mu           sync.Mutex
	next, failed int
}

func (f *faults) inject(op vfs.Op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	if at := f.next - 1; at < f.from || at >= f.until {
		return nil
	}
	if op != vfs.OpClose { // what is closed is durable already, or was only read
		f.failed++
	}
	return f.err
}

func (f *faults) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// flip changes bit n, modulo their number, of all files of entries and bodies below a folder.
func flip(fsys vfs.FS, root string, n uint64) string {
	name, at := locate(fsys, root, n%(8*size(fsys, root)))
	f := must(fsys.Edit(name))
	var b [1]byte
	must(f.ReadAt(b[:], int64(at/8)))
	b[0] ^= 1 << (at % 8)
	must(f.WriteAt(b[:], int64(at/8)))
	must(0, f.Close())
	return fmt.Sprintf("bit %d of byte %d of %s", at%8, at/8, name)
}

// size is the number of bytes in the files below a folder; locate finds one of their bits.
func size(fsys vfs.FS, root string) (sum uint64) {
	files(fsys, root, func(_ string, n uint64) bool { sum += n; return true })
	return sum
}

func locate(fsys vfs.FS, root string, bit uint64) (name string, at uint64) {
	files(fsys, root, func(file string, n uint64) bool {
		if bit < 8*n {
			name, at, bit = file, bit, math.MaxUint64
			return false
		}
		bit -= 8 * n
		return true
	})
	return name, at
}

func files(fsys vfs.FS, dir string, each func(name string, size uint64) bool) bool {
	for _, name := range must(fsys.List(dir)) {
		at := path.Join(dir, name)
		if name == "lock" {
			continue
		}
		if path.Ext(name) == "" {
			if !files(fsys, at, each) {
				return false
			}
			continue
		}
		f := must(fsys.Open(at))
		n := must(f.Size())
		must(0, f.Close())
		if !each(at, uint64(n)) {
			return false
		}
	}
	return true
}

// holds reports whether a text is in any of the files below a folder.
func holds(fsys vfs.FS, root string, text []byte) (found bool) {
	files(fsys, root, func(name string, _ uint64) bool {
		f := must(fsys.Open(name))
		defer f.Close()
		data := make([]byte, must(f.Size()))
		f.ReadAt(data, 0)
		found = found || bytes.Contains(data, text)
		return !found
	})
	return found
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
