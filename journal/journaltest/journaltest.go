// Package journaltest holds the laws that every journal.Store must pass. Run runs them over a store's storage, with
// power losses, failing operations and changed bits wherever the storage can do these to itself.
package journaltest

import (
	"context"
	"io"
	"testing"

	"ambit/entry"
	"ambit/journal"
)

// Store is a store as the laws use it.
type Store interface {
	journal.Store
	io.Closer
}

// Storage is where a store keeps its sessions, and what a test can do to it. Apart from Open, a nil function is
// something that the storage cannot do; Run then leaves out the laws that need it.
//
// Crash, Fail and Ops belong together: their laws need all three, and a store that does the same operations, in the
// same order, whenever the same calls are made one after another.
type Storage struct {
	// Open opens the store as a new process would. Several may be open at a time. Its sessions should be in many
	// small files, if they are in files.
	Open func() (Store, error)
	// Holder is who the opened stores say that they are.
	Holder journal.Holder
	// Crash returns what a power loss at this moment would leave; the storage and its stores go on unaffected. Seed
	// 0 loses everything that was not durable, 1 loses nothing, as when only the process dies, and any other loses
	// a part that depends on it.
	Crash func(seed uint64) Storage
	// Fail makes operations fail: those from the from-th up to the until-th, which does not, counted from 0 at this
	// call. A write that fails has written a half. It replaces what an earlier call armed. The function that it
	// returns counts the operations that have failed so far and whose failure the store's caller must be told of.
	Fail func(from, until int, err error) (failed func() int)
	// Ops returns how many operations there were.
	Ops func() int
	// Flip changes one bit of what is stored, the n-th modulo their number, and says where that is; the same n
	// changes it back. What is for people only, such as a holder's name, does not count.
	Flip func(n uint64) (where string)
	// Import makes a session of an export, as Dir.Import does with what ReadExport found.
	Import func(s Store, export []byte) (session string, made bool, err error)
	// Holds reports whether text is anywhere in what is stored, as it was put.
	Holds func(text []byte) bool
}

func (s Storage) crashes() bool { return s.Crash != nil && s.Fail != nil && s.Ops != nil }

// Run holds a store to all laws, one subtest each. Each call of fresh gives an empty storage of its own.
func Run(t *testing.T, fresh func(t testing.TB) Storage) {
	can := fresh(t)
	always := []law{
		{"goroutines", goroutines}, // the first, while there are no others
		{"chain", chain},
		{"bodies", bodies},
		{"read after", readAfter},
		{"sessions", sessions},
		{"not locked", notLocked},
		{"busy", busy},
		{"bad names", badNames},
		{"foreign bodies", foreignBodies},
		{"too large", tooLarge},
		{"not an entry", notAnEntry},
		{"sealed", sealed},
		{"canceled", canceled},
		{"forks", forks},
		{"forks of forks", forksOfForks},
		{"deep forks", deepForks},
		{"bodies of forks", bodiesOfForks},
		{"not an entry to fork", notForkable},
		{"fork while written", forkWhileWritten},
		{"concurrent appends", concurrentAppends},
		{"concurrent use", concurrentUse},
		{"restart", restart},
		{"unknown kinds", unknownKinds},
		{"closed", closed},
		{"close while in use", closeInUse},
	}
	for _, l := range always {
		t.Run(l.name, func(t *testing.T) { l.run(open(t, fresh(t))) })
	}
	if can.Fail != nil {
		t.Run("only acknowledged is shown", func(t *testing.T) { onlyAcknowledged(open(t, fresh(t))) })
	}
	if can.Crash != nil {
		t.Run("shown is durable", func(t *testing.T) { shownIsDurable(open(t, fresh(t))) })
		t.Run("bodies of a lock before", func(t *testing.T) { bodiesBefore(open(t, fresh(t))) })
		t.Run("dead holder", func(t *testing.T) { deadHolder(open(t, fresh(t))) })
	}
	if can.Flip != nil {
		t.Run("damage", func(t *testing.T) { damage(open(t, fresh(t))) })
		t.Run("damage of a fork", func(t *testing.T) { damageOfFork(open(t, fresh(t))) })
	}
	if can.crashes() {
		t.Run("crash", func(t *testing.T) { crash(t, fresh) })
		t.Run("fault", func(t *testing.T) { fault(t, fresh) })
		t.Run("another fork after a failed one", func(t *testing.T) { otherFork(t, fresh) })
	}
	if can.Import != nil {
		t.Run("import", func(t *testing.T) { imports(t, fresh) })
		t.Run("names of imports", func(t *testing.T) { namesOfImports(t, fresh) })
		t.Run("imports at a time", func(t *testing.T) { importsAtATime(t, fresh) })
		if can.Flip != nil {
			t.Run("damage of an import", func(t *testing.T) { damageOfImport(t, fresh) })
		}
		if can.crashes() {
			t.Run("import and crash", func(t *testing.T) { importAndCrash(t, fresh) })
			t.Run("import and fault", func(t *testing.T) { importAndFault(t, fresh) })
		}
	}
	if purges(t, can) {
		t.Run("purge", func(t *testing.T) { purge(open(t, fresh(t))) })
		t.Run("purge of imports", func(t *testing.T) { purgeOfImports(open(t, fresh(t))) })
		t.Run("purge of forks", func(t *testing.T) { purgeOfForks(open(t, fresh(t))) })
		t.Run("purge of a text", func(t *testing.T) { purgeText(open(t, fresh(t))) })
		if can.crashes() {
			t.Run("purge and crash", func(t *testing.T) { purgeAndCrash(t, fresh) })
			t.Run("purge of a text and crash", func(t *testing.T) { purgeTextAndCrash(t, fresh) })
		}
	}
}

type law struct {
	name string
	run  func(b *bench)
}

// bench is a test with a storage and a store that is open over it.
type bench struct {
	*testing.T
	storage Storage
	store   Store
	ctx     context.Context
}

func open(t *testing.T, st Storage) *bench {
	b := &bench{T: t, storage: st, ctx: context.Background()}
	b.store = b.another()
	return b
}

// another opens a second store over the same storage.
func (b *bench) another() Store {
	b.Helper()
	s, err := b.storage.Open()
	b.ok(err)
	b.Cleanup(func() { s.Close() })
	return s
}

// reopen closes the store and opens it as a new process would.
func (b *bench) reopen() {
	b.Helper()
	b.ok(b.store.Close())
	b.store = b.another()
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) lock(session string) (unlock func() error) {
	b.Helper()
	unlock, err := b.store.Lock(b.ctx, session)
	b.ok(err)
	return unlock
}

func (b *bench) put(session string, body []byte) *entry.Body {
	b.Helper()
	ref, err := b.store.Put(b.ctx, session, body)
	b.ok(err)
	return &ref
}

func (b *bench) append(session string, facts ...entry.Fact) entry.Seq {
	b.Helper()
	seq, err := b.store.Append(b.ctx, session, facts...)
	b.ok(err)
	return seq
}

// frames reads a whole session and verifies its chain.
func (b *bench) frames(session string) []journal.Frame {
	b.Helper()
	all, err := readAll(b.ctx, b.store, session)
	b.ok(err)
	return all
}

// holds wants exactly these facts in a session, with bodies that rebuild, and a sound check.
func (b *bench) holds(session string, facts ...entry.Fact) {
	b.Helper()
	l := ledger{acked: facts}
	b.ok(l.verify(b.ctx, b.store, session))
}
