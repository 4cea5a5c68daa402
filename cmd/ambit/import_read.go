package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ambit/journal"
)

// openRegular opens a file to read, and refuses what is none: a pipe or a device has no end.
func openRegular(path string) (*os.File, error) {
	about, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case about.IsDir():
		return nil, errors.New("it is a folder")
	case !about.Mode().IsRegular():
		return nil, errors.New("it is no file, but a pipe or a device")
	}
	return os.Open(path)
}

// steadyTries is how often a file is read that changes meanwhile.
const steadyTries = 3

// readSteady reads a whole file as it was at one time. One that goes on growing, because its agent is at work, is read
// up to the end of its last line; one that changes otherwise each time is refused.
func readSteady(ctx context.Context, path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return steadily(ctx, f)
}

// steadily is readSteady of a file that is open.
func steadily(ctx context.Context, f interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
},
) ([]byte, error) {
	for try := 1; ; try++ {
		before, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if before.Size() > journal.MaxBody {
			return nil, fmt.Errorf("it has %s bytes, and a recording may have %s: split it at line ends", count(before.Size()), count(int64(journal.MaxBody)))
		}
		data, err := read(ctx, f, before.Size())
		if err != nil {
			return nil, err
		}
		after, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if steady(before, after) {
			return data, nil
		}
		grows := after.Size() > before.Size() && int64(len(data)) == before.Size()
		if end := bytes.LastIndexByte(data, '\n'); grows && end >= 0 {
			return data[:end+1], nil
		}
		if try == steadyTries {
			return nil, errors.New("it changes while it is read: import it when its agent is done")
		}
	}
}

func steady(before, after fs.FileInfo) bool {
	return before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

// read reads the first bytes of a file, as many as there are up to a size.
func read(ctx context.Context, f io.ReaderAt, size int64) ([]byte, error) {
	data := make([]byte, size)
	const step = 64 << 20
	for at := int64(0); at < size; at += step {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.ReadAt(data[at:min(at+step, size)], at)
		if errors.Is(err, io.EOF) {
			return data[:at+int64(n)], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}
