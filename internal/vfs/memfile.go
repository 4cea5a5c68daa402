package vfs

import (
	"bytes"
	"io"
	"io/fs"
	"syscall"
)

// maxMem bounds a file in memory, so that a wrong offset is an error and not an exhausted machine.
const maxMem = 1 << 30

// content is a file without its name: its bytes as everybody reads them, its bytes as of the last sync, and the steps
// from those to these.
type content struct {
	data    []byte
	synced  []byte
	pending []edit
	locked  bool
}

// edit is one step of a file: bytes written at off, or with cut set, off as the new length.
type edit struct {
	off   int64
	bytes []byte
	cut   bool
}

// change takes over the edit's bytes.
func (c *content) change(e edit) {
	c.data = e.apply(c.data)
	c.pending = append(c.pending, e)
}

func (c *content) sync() {
	for _, e := range c.pending {
		c.synced = e.apply(c.synced)
	}
	c.pending = nil
}

func (e edit) apply(data []byte) []byte {
	if e.cut {
		return resize(data, e.off)
	}
	if len(e.bytes) == 0 {
		return data
	}
	if end := e.off + int64(len(e.bytes)); end > int64(len(data)) {
		data = resize(data, end)
	}
	copy(data[e.off:], e.bytes)
	return data
}

func resize(data []byte, size int64) []byte {
	if size <= int64(len(data)) {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

// handle is an open file of a Mem.
type handle struct {
	mem    *Mem
	file   *content
	name   string
	edit   bool
	closed bool
}

// ReadAt reads as *os.File does: a full read that ends at the end of the file has no error.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	if err := h.check("read", off); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(h.file.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.file.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	if err := h.checkEdit("write", off, len(p)); err != nil {
		return 0, err
	}
	if len(p) > 0 {
		h.file.change(edit{off: off, bytes: bytes.Clone(p)})
	}
	return len(p), nil
}

func (h *handle) Truncate(size int64) error {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	if err := h.checkEdit("truncate", size, 0); err != nil {
		return err
	}
	h.file.change(edit{off: size, cut: true})
	return nil
}

func (h *handle) Size() (int64, error) {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	return int64(len(h.file.data)), h.check("size", 0)
}

func (h *handle) Sync() error {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	if err := h.check("sync", 0); err != nil {
		return err
	}
	h.file.sync()
	h.mem.syncs++
	return nil
}

func (h *handle) Close() error {
	h.mem.mu.Lock()
	defer h.mem.mu.Unlock()
	err := h.check("close", 0)
	h.closed = true
	return err
}

func (h *handle) check(op string, off int64) error {
	switch {
	case h.closed:
		return pathError(op, h.name, fs.ErrClosed)
	case off < 0:
		return pathError(op, h.name, fs.ErrInvalid)
	}
	return nil
}

func (h *handle) checkEdit(op string, off int64, n int) error {
	if err := h.check(op, off); err != nil {
		return err
	}
	switch {
	case !h.edit:
		return pathError(op, h.name, syscall.EBADF)
	case off > maxMem || int64(n) > maxMem-off:
		return pathError(op, h.name, syscall.EFBIG)
	}
	return nil
}
