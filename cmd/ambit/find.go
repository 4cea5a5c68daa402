package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// location is where a recording is.
type location struct {
	path  string
	shown string                                // how it is called
	read  func(context.Context) ([]byte, error) // nil for a file
	found bool                                  // in a folder: what is no recording, or was purged here, is passed over
}

// finding looks for recordings where the arguments of a command say. What cannot be read is said, and the others are gone
// on with.
type finding struct {
	*env
	take   func(context.Context, location) error // takes a file that may be a recording
	taken  func() int                            // how many were
	failed int
	passed int      // files of folders that are no recordings
	later  []func() // what is to be cleaned up at the end
}

// clean cleans up.
func (f *finding) clean() {
	for _, clean := range slices.Backward(f.later) {
		clean()
	}
}

// path finds a file, or what a folder holds.
func (f *finding) path(ctx context.Context, path string) error {
	if db, ok := openCodeDatabase(path); ok {
		return f.openCode(ctx, db)
	}
	about, err := os.Stat(path)
	if err != nil || !about.IsDir() {
		return f.take(ctx, location{path: path, shown: path})
	}
	before, failed, passed := f.taken(), f.failed, f.passed
	root := path + string(filepath.Separator) // so that a link to a folder is the folder
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.fail(at, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && (at != root && skipped[d.Name()] || f.isHome(d)):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if db, ok := openCodeDatabase(at); ok {
			return f.openCode(ctx, db)
		}
		if !recordingExts[filepath.Ext(at)] {
			f.passed++
			return nil
		}
		return f.take(ctx, location{path: at, shown: at, found: true})
	})
	if err == nil && f.taken() == before && f.failed == failed {
		f.passed = passed
		f.fail(path, errors.New("no recording is in this folder"))
	}
	return err
}

// isHome reports whether a folder is the data directory: what was recorded there is here.
func (f *finding) isHome(d fs.DirEntry) bool {
	dir, err := f.home()
	if err != nil {
		return false
	}
	home, err := os.Stat(dir)
	if err != nil {
		return false
	}
	here, err := d.Info()
	return err == nil && os.SameFile(home, here)
}

// skipped are folders that are large and hold no recordings.
var skipped = map[string]bool{"node_modules": true, ".git": true}

// fail says why a path gave nothing. The others are gone on with.
func (f *finding) fail(path string, err error) {
	f.failed++
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	f.say("%s: %v", path, err)
}

// recordingExts are how files end that may be recordings.
var recordingExts = map[string]bool{".jsonl": true, ".json": true, ".ndjson": true, ".traj": true, ".md": true}
