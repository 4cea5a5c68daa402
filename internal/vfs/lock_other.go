//go:build !unix

package vfs

import (
	"errors"
	"io/fs"
)

// Lock implements FS: there is no lock on this system yet, so it always fails with errors.ErrUnsupported.
func (OS) Lock(name string, holder []byte) (Lock, error) {
	return nil, &fs.PathError{Op: "lock", Path: name, Err: errors.ErrUnsupported}
}
