package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ambit"
	"ambit/journal"
)

// readTo writes the whole text of an entry into a file that only its owner reads, and that must not be there yet. After an
// error there is none.
func (e *env) readTo(ctx context.Context, arg string, q ambit.Reading, file string) error {
	d, name, err := e.one(ctx, arg)
	if err != nil {
		return err
	}
	defer d.Close()
	key, err := e.cursorKey()
	if err != nil {
		return err
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	damage := err
	text, err := rec.Whole(ctx, key, q)
	switch {
	case err != nil && damage != nil:
		return e.damaged(damage)
	case errors.Is(err, ambit.ErrNoRef):
		if what, hint, is := e.textless(factAt(ctx, d, name, q.Ref), name, q.Ref); is && q.Field == "" {
			return &hintError{errors.New(what), hint}
		}
		return &hintError{err, e.self() + " log " + name + " shows the entries"}
	case err != nil:
		return e.damaged(err)
	}
	if err := writeNew(file, text); err != nil {
		return err
	}
	e.say("%s bytes written to %s", count(len(text)), file)
	return nil
}

// writeNew writes a file that must not be there yet.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &hintError{fmt.Errorf("%s is there already, and nothing is written over it", file), "name another file"}
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}
