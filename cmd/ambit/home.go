package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// home is the data directory.
func (e *env) home() (string, error) {
	if dir := e.getenv("AMBIT_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	user := e.getenv("HOME")
	if user == "" {
		return "", misused("neither AMBIT_HOME nor HOME is set: there is no data directory")
	}
	return filepath.Join(user, ".ambit"), nil
}

// record opens the store for writing, making it when it is missing.
func (e *env) record(holder journal.Holder) (*journal.Dir, string, error) {
	dir, err := e.home()
	if err != nil {
		return nil, "", err
	}
	holder.PID = os.Getpid()
	d, err := journal.Open(dir, journal.Options{Now: e.now, Holder: holder})
	return d, dir, err
}

// read opens the store for reading. It makes nothing; a store that is missing is fs.ErrNotExist.
func (e *env) read(progress func(journal.Report)) (*journal.Dir, error) {
	dir, err := e.home()
	if err != nil {
		return nil, err
	}
	d, err := journal.Open(dir, journal.Options{Existing: true, Progress: progress})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &hintError{nothingError(dir), e.self() + " demo records a session"}
	}
	return d, err
}

// nothingError says that there is no store in a directory.
type nothingError string

func (e nothingError) Error() string { return "nothing is recorded in " + string(e) }
func (e nothingError) Unwrap() error { return fs.ErrNotExist }

// session finds the session that an argument names: by its name, as "last", by the beginning of exactly one name, or by
// its title, of which the newest counts.
func (e *env) session(ctx context.Context, d *journal.Dir, arg string) (string, error) {
	all, err := d.Sessions(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range all {
		if s == arg {
			return s, nil
		}
		if arg != "" && strings.HasPrefix(s, arg) {
			found = append(found, s)
		}
	}
	if arg == "last" && len(all) > 0 {
		return all[len(all)-1], nil
	}
	if len(found) == 1 {
		return found[0], nil
	}
	for _, s := range slices.Backward(all) {
		if arg != "" && called(ctx, d, s, arg) {
			return s, nil
		}
	}
	hint := e.self() + " sessions lists them; a title or the beginning of a name is enough, and last is the one begun last"
	if len(found) == 0 {
		return "", &hintError{fmt.Errorf("no session %q", arg), hint}
	}
	return "", &hintError{fmt.Errorf("%d sessions begin with %q", len(found), arg), hint}
}

// called reports whether a session has a title, or is reached by a tag.
func called(ctx context.Context, d *journal.Dir, name, arg string) bool {
	f, err := d.First(ctx, name)
	first, ok := f.Fact.(*entry.Session)
	if err != nil || !ok || first.Title == arg || first.Key == ambit.TagKey(arg) {
		return err == nil && ok
	}
	if !ambit.IsImport(first) && first.Client != ambit.Client {
		return false
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	return err == nil && rec.Title(ctx) == arg
}

// one opens the store for reading and finds one session in it. The caller closes the store.
func (e *env) one(ctx context.Context, arg string) (*journal.Dir, string, error) {
	d, err := e.read(nil)
	if err != nil {
		return nil, "", err
	}
	name, err := e.session(ctx, d, arg)
	if err != nil {
		d.Close()
		return nil, "", err
	}
	return d, name, nil
}

// some returns the sessions that arguments name, each once; all of them when there are no arguments.
func (e *env) some(ctx context.Context, d *journal.Dir, args []string) ([]string, error) {
	if len(args) == 0 {
		return d.Sessions(ctx)
	}
	var names []string
	for _, arg := range args {
		name, err := e.session(ctx, d, arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// secret reads the key of the data directory, by which one credential is told from another without keeping either. It
// is made on first use.
func secret(dir string) ([]byte, error) {
	name := filepath.Join(dir, "secret")
	key, err := os.ReadFile(name)
	if err == nil && len(key) == 32 {
		return key, nil
	}
	if err == nil {
		return nil, &hintError{fmt.Errorf("%s is damaged: it has %d bytes, not 32", name, len(key)), "delete it; clients whose session the URL does not name then begin new ones"}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key = make([]byte, 32)
	rand.Read(key) // never fails
	next, err := os.CreateTemp(dir, "secret-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(next.Name())
	_, err = next.Write(key)
	if err := errors.Join(err, next.Sync(), next.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(next.Name(), name); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(name) // another process was first
	} else if err != nil {
		return nil, err
	}
	return key, nil
}

// printJSON writes a value as the command's one line of data.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
