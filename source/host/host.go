// Package host lets sources read the computer that they run on: its files, its commands, and a limit on their time.
//
// All functions may be called concurrently. Nothing here writes.
package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"ambit/source"
)

// Each asks all sources at once and returns when all have answered, and at the limit or the end of the context at the
// latest. Their contexts have ended then, so those that heed theirs end, too; one that does not runs on until it returns,
// and nobody waits for it.
func Each(limit time.Duration) source.Each {
	return func(ctx context.Context, n int, load func(ctx context.Context, i int)) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { load(ctx, i) })
		}
		done := make(chan struct{})
		go func() {
			all.Wait()
			close(done)
		}()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
}

// Platform names the operating system and the architecture of this computer, such as "linux/amd64".
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// Files returns the files of this computer.
func Files() source.Files {
	return source.Files{Find: find, Read: read, Names: names}
}

func find(name string) (source.Found, error) {
	real, err := filepath.EvalSymlinks(filepath.FromSlash(name))
	if err == nil {
		real, err = filepath.Abs(real)
	}
	var stat fs.FileInfo
	if err == nil {
		stat, err = os.Stat(real)
	}
	switch {
	case missing(err):
		return source.Found{}, nil
	case err != nil:
		return source.Found{}, err
	case !stat.IsDir() && !stat.Mode().IsRegular():
		return source.Found{}, nil
	}
	return source.Found{Real: filepath.ToSlash(real), Folder: stat.IsDir()}, nil
}

func read(name string, limit int) (data []byte, size int64, err error) {
	f, err := os.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !stat.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file")
	}
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)))
	return data, stat.Size(), err
}

func names(name string) ([]string, error) {
	entries, err := os.ReadDir(filepath.FromSlash(name))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, nil
}
