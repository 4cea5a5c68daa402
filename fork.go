package ambit

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// SessionName makes a session's name: when it begins, UTC, to the millisecond, and four random letters. It fails when
// the source of randomness does.
func SessionName(at time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("name a session: %w", err)
	}
	suffix := strings.ToLower(base32.StdEncoding.EncodeToString(b[:])[:4])
	return strings.Replace(at.UTC().Format("20060102-150405.000-"), ".", "-", 1) + suffix, nil
}

// TagKey is the key of the session that a proxy's path names by a tag.
func TagKey(tag string) string { return "tag:" + tag }

// ErrNoEntry says that a session has no entry of a number.
var ErrNoEntry = errors.New("no such entry")

// Fork begins a session that goes on from an entry of another, which it leaves as it is. Of first, ID is the name of the
// new session; an empty Client is the other's. The fork holds the entries up to there, sees nothing that comes after,
// and may replay nothing that is native to a provider; what it shares with a session that was imported stays evidence. It returns after the fork is durable.
func Fork(ctx context.Context, store *journal.Dir, from string, at entry.Seq, first entry.Session) error {
	last, err := entryAt(ctx, store, from, at)
	if err != nil {
		return fmt.Errorf("fork session %q at %s: %w", from, at.Ref(), err)
	}
	if first.Client == "" {
		if parent, err := store.First(ctx, from); err == nil {
			if s, ok := parent.Fact.(*entry.Session); ok {
				first.Client = s.Client
			}
		}
	}
	p, err := pool.Load(ctx, store, from)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) { // behind the entry it may be damaged
		return err
	}
	first.From = &entry.Fork{Session: from, Seq: at, Sum: last.Sum, Imported: p.IsEvidence(at)}
	unlock, err := store.Lock(ctx, first.ID)
	if err != nil {
		return err
	}
	_, err = store.Append(ctx, first.ID, &first)
	return errors.Join(err, unlock())
}

// entryAt reads up to an entry, so that whatever is wrong with what a fork would share is known before it is begun.
func entryAt(ctx context.Context, store *journal.Dir, session string, at entry.Seq) (journal.Frame, error) {
	for f, err := range store.Read(ctx, session, 0) {
		if err != nil || f.Seq == at {
			return f, err
		}
	}
	return journal.Frame{}, ErrNoEntry
}
