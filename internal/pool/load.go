package pool

import (
	"context"
	"errors"

	"ambit/journal"
)

// saved is the name under which a session's pool is kept.
const saved = "pool.json"

// Load folds a session, from its saved pool where there is one that the journal bears out. On damage it returns what
// lies before it, with the error.
func Load(ctx context.Context, d *journal.Dir, session string) (*Pool, error) {
	data, err := d.Derived(session, saved)
	if p := Restore(data); err == nil && p != nil {
		if err := p.follow(ctx, d, session); err == nil {
			return p, nil
		}
	}
	return Fresh(ctx, d, session)
}

// Fresh folds a session from its journal alone. On damage it returns what lies before it, with the error.
func Fresh(ctx context.Context, d *journal.Dir, session string) (*Pool, error) {
	p := New()
	for f, err := range d.Read(ctx, session, 0) {
		if err == nil {
			err = p.Fold(f)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// Store keeps a pool for the next Load. The pool may be older than the journal.
func Store(d *journal.Dir, session string, p *Pool) error {
	data, err := p.Save()
	if err != nil {
		return err
	}
	return d.SetDerived(session, saved, data)
}

// errOther says that the saved pool is not of this journal.
var errOther = errors.New("the saved pool is not of this journal")

// follow folds what came after the pool was saved, once the journal's frame of the pool's last entry is the one that
// the pool has seen.
func (p *Pool) follow(ctx context.Context, d *journal.Dir, session string) error {
	known := false
	for f, err := range d.Read(ctx, session, p.Seq-1) {
		if err != nil {
			return err
		}
		if !known {
			if known = f.Seq == p.Seq && f.Sum == p.Sum; !known {
				return errOther
			}
			continue
		}
		if err := p.Fold(f); err != nil {
			return err
		}
	}
	if !known {
		return errOther
	}
	return p.shared(ctx, d, session)
}

// shared reports what is wrong with the entry from which a session goes on: without it nothing vouches for what was
// folded of those before it.
func (p *Pool) shared(ctx context.Context, d *journal.Dir, session string) error {
	from := p.Session.From
	if from == nil {
		return nil
	}
	for f, err := range d.Read(ctx, session, from.Seq-1) {
		if err == nil && f.Sum != from.Sum {
			err = errOther
		}
		return err
	}
	return errOther
}
