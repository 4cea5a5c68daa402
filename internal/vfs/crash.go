package vfs

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Loss says what a crash does to that which was not durable.
type Loss uint8

const (
	// Dropped loses everything pending: each file is as of its last Sync, each folder as of its last SyncDir.
	Dropped Loss = iota
	// Kept loses nothing, as when the process dies and the machine lives on.
	Kept
	// Torn keeps a part, chosen for each file and folder on its own. A folder keeps the first of its pending steps,
	// any number of them. A file does too; a write that comes next keeps the first of its bytes; and in one case of
	// four the file gets the length that it had before the crash, by zeros at its end or by a cut.
	Torn
)

// String returns the name in lower case.
func (l Loss) String() string {
	switch l {
	case Dropped:
		return "dropped"
	case Kept:
		return "kept"
	case Torn:
		return "torn"
	}
	return fmt.Sprintf("loss(%d)", uint8(l))
}

// Crash returns the file system as a power loss at this moment would leave it. Everything in it is durable and nothing
// is locked. The receiver and its open files go on unaffected. Only Torn reads rng, which may otherwise be nil; equal
// trees and equal random numbers give equal results.
func (m *Mem) Crash(loss Loss, rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := crash{loss: loss, rng: rng, files: map[*content]*content{}}
	return &Mem{root: c.folder(m.root)}
}

type crash struct {
	loss  Loss
	rng   *rand.Rand
	files map[*content]*content // a file can have two names, see Mem
}

func (c crash) folder(f *folder) *folder {
	names := maps.Clone(f.synced)
	for _, step := range f.pending[:c.survivors(len(f.pending))] {
		step.apply(names)
	}
	after := newFolder()
	for _, name := range slices.Sorted(maps.Keys(names)) { // sorted, for the random numbers' sake
		switch n := names[name].(type) {
		case *folder:
			after.names[name] = c.folder(n)
		case *content:
			after.names[name] = c.file(n)
		}
	}
	after.synced = maps.Clone(after.names)
	return after
}

func (c crash) file(f *content) *content {
	if after, ok := c.files[f]; ok {
		return after
	}
	data := bytes.Clone(f.synced)
	n := c.survivors(len(f.pending))
	for _, step := range f.pending[:n] {
		data = step.apply(data)
	}
	if c.loss == Torn && n < len(f.pending) {
		data = c.tear(data, f.pending[n], int64(len(f.data)))
	}
	after := &content{data: data, synced: bytes.Clone(data)}
	c.files[f] = after
	return after
}

// tear applies a part of the first step that is lost, and of the rest perhaps the length.
func (c crash) tear(data []byte, next edit, size int64) []byte {
	if !next.cut {
		next.bytes = next.bytes[:c.rng.IntN(len(next.bytes)+1)]
		data = next.apply(data)
	}
	if c.rng.IntN(4) == 0 {
		data = resize(data, size)
	}
	return data
}

func (c crash) survivors(pending int) int {
	switch {
	case c.loss == Kept:
		return pending
	case c.loss == Torn && pending > 0:
		return c.rng.IntN(pending + 1)
	}
	return 0
}
