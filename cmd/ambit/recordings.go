package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ambit"
	"ambit/internal/pool"
	"ambit/internal/replay"
	"ambit/internal/transcript"
	"ambit/journal"
)

// recordings reads recordings and sessions, one after the other, for commands that only look at them.
type recordings struct {
	finding
	visit func(context.Context, replay.File) error
	store *journal.Dir // nil until a session is named
	tasks bool         // with a session, those of its sub-agents that have one of their own
	count int
	bytes int64
	bar   *progress
}

func (e *env) recordings(what string, visit func(context.Context, replay.File) error) *recordings {
	r := &recordings{finding: finding{env: e}, visit: visit, bar: e.progress(what)}
	r.take = r.file
	r.taken = func() int { return r.count }
	return r
}

// run visits all that arguments name: a file or a folder, or else a session.
func (r *recordings) run(ctx context.Context, args []string) error {
	defer func() {
		r.bar.end()
		r.clean()
		if r.store != nil {
			r.store.Close()
		}
	}()
	for _, arg := range args {
		if arg == "" {
			return misused("an empty name is neither a file nor a session")
		}
		_, err := os.Lstat(arg)
		if err == nil || filepath.Base(arg) != arg {
			err = r.path(ctx, arg)
		} else {
			err = r.session(ctx, arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file visits a recording.
func (r *recordings) file(ctx context.Context, at location) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	read := at.read
	if read == nil {
		if export, err := isExport(at.path); err == nil && export {
			r.fail(at.shown, errors.New("it is what ambit export wrote: import it, and name the session"))
			return nil
		}
		read = func(ctx context.Context) ([]byte, error) { return readSteady(ctx, at.path) }
	}
	data, err := read(ctx)
	var t *transcript.Recording
	if err == nil {
		t, err = transcript.Read(data)
	}
	switch {
	case errors.Is(err, transcript.ErrFormat) && at.found:
		r.passed++
		return nil
	case err != nil:
		r.fail(at.shown, err)
		return ctx.Err()
	}
	r.bytes += int64(len(data))
	r.count++
	r.bar.at(r.bytes, "%s, %s", plural(r.count, "recording", "recordings"), at.shown)
	return r.visit(ctx, replay.OfTranscript(at.shown, t, data))
}

// session visits a session of the data directory.
func (r *recordings) session(ctx context.Context, arg string) error {
	if r.store == nil {
		d, err := r.read(nil)
		if err != nil {
			return nothingNamed(arg, err)
		}
		r.store = d
	}
	name, err := r.env.session(ctx, r.store, arg)
	if err != nil {
		return nothingNamed(arg, err)
	}
	if err := r.visitSession(ctx, name); err != nil || !r.tasks {
		return err
	}
	return r.subAgents(ctx, name)
}

// subAgents visits the sessions that work for another, and those that work for them. They begin after it, so their names
// come behind its own.
func (r *recordings) subAgents(ctx context.Context, parent string) error {
	names, err := r.store.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name <= parent {
			continue
		}
		p, err := pool.Load(ctx, r.store, name)
		if err != nil || p.Own == nil || p.Own.Works.Parent != parent {
			continue // what is damaged is said of when it is named
		}
		if err := r.visitSession(ctx, name); err != nil {
			return err
		}
		if err := r.subAgents(ctx, name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *recordings) visitSession(ctx context.Context, name string) error {
	rec, err := ambit.OpenRecording(ctx, r.store, name)
	if rec == nil {
		return err
	}
	if err != nil {
		r.fail(name, err)
	}
	r.count++
	r.bar.at(0, "%s, %s", plural(r.count, "recording", "recordings"), name)
	return r.visit(ctx, replay.OfSession(ctx, name, rec))
}

// nothingNamed says that an argument is neither a file nor a session.
func nothingNamed(arg string, err error) error {
	var hint *hintError
	if !errors.As(err, &hint) {
		return err
	}
	return &hintError{fmt.Errorf("no file is named %q: %w", arg, hint.err), hint.hint}
}
