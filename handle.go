package ambit

import (
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// Handle is the ref of an entry of a session as it is shown to a model, as Recording.Handle gives it.
func Handle(key []byte, session string, seq entry.Seq) string {
	return (&Recording{session: session}).Handle(key, seq)
}

// RecordingOf is a session of which somebody has the pool already, as it is in the journal.
func RecordingOf(store *journal.Dir, session string, p *pool.Pool) *Recording {
	return &Recording{store: store, session: session, pool: p}
}
