package journal_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// BenchmarkAppend compares appends of entries without a body with a bare loop that writes and syncs lines of the same
// sizes, in turns within one run: one writer, 64 writers in one session, and one writer in each of 64 sessions, also to
// bare loops over 64 files.
func BenchmarkAppend(b *testing.B) {
	const many = 64
	d, err := journal.Open(b.TempDir(), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("s%d", i))
		if _, err := d.Lock(context.Background(), names[i]); err != nil {
			b.Fatal(err)
		}
	}
	fact := &entry.Response{N: 1, Status: 200, End: entry.EndComplete, Headers: map[string]string{"request-id": strings.Repeat("x", 200)}}
	var bare, bareApart, one, shared, apart rate
	var loops []*bareLoop
	for range many {
		loops = append(loops, newBareLoop(b, d, fact))
	}
	for b.Loop() {
		bare.of(100, loops[0].step)
		bareApart.of(20*many, func() { together(many, func(i int) { repeat(20, loops[i].step) }) }, once)
		one.of(100, func() { appendOne(b, d, names[0], fact) })
		shared.of(100*many, func() { together(many, func(int) { repeat(100, func() { appendOne(b, d, names[0], fact) }) }) }, once)
		apart.of(20*many, func() { together(many, func(i int) { repeat(20, func() { appendOne(b, d, names[i], fact) }) }) }, once)
	}
	b.ReportMetric(one.perSecond()/bare.perSecond(), "one-x-bare")
	b.ReportMetric(shared.perSecond()/one.perSecond(), "64-writers-x-one")
	b.ReportMetric(apart.perSecond()/one.perSecond(), "64-sessions-x-one")
	b.ReportMetric(bareApart.perSecond()/bare.perSecond(), "64-bare-files-x-bare")
	b.ReportMetric(one.perSecond(), "one/s")
}

func appendOne(b *testing.B, d *journal.Dir, name string, fact entry.Fact) {
	if _, err := d.Append(context.Background(), name, fact); err != nil {
		b.Error(err)
	}
}

// rate counts work and the time it took.
type rate struct {
	n    int
	took time.Duration
}

type how bool

const once how = true

// of measures n units of work: n calls, or one call that does them all.
func (r *rate) of(n int, do func(), h ...how) {
	calls := n
	if len(h) > 0 {
		calls = 1
	}
	start := time.Now()
	repeat(calls, do)
	r.took += time.Since(start)
	r.n += n
}

func (r *rate) perSecond() float64 { return float64(r.n) / r.took.Seconds() }

func repeat(n int, do func()) {
	for range n {
		do()
	}
}

func together(n int, do func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { do(i) })
	}
	wait.Wait()
}

// bareLoop writes and syncs lines, and nothing else.
type bareLoop struct {
	b    *testing.B
	file vfs.File
	at   atomic.Int64
	line []byte
}

func newBareLoop(b *testing.B, d *journal.Dir, fact entry.Fact) *bareLoop {
	appendOne(b, d, "s0", fact)
	var line []byte
	for f, err := range d.Read(context.Background(), "s0", 0) {
		if err != nil {
			b.Fatal(err)
		}
		line = append([]byte(string(f.Line)), '\n')
	}
	file, err := vfs.OS{}.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return &bareLoop{b: b, file: file, line: line}
}

func (l *bareLoop) step() {
	if _, err := l.file.WriteAt(l.line, l.at.Load()); err != nil {
		l.b.Fatal(err)
	}
	l.at.Add(int64(len(l.line)))
	if err := l.file.Sync(); err != nil {
		l.b.Fatal(err)
	}
}
