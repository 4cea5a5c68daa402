package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/journal/journaltest"
)

// bodied makes a session with one body and gives it up.
func bodied(s journaltest.Store, name string) entry.Body {
	ctx := context.Background()
	unlock := must(s.Lock(ctx, name))
	b := must(s.Put(ctx, name, bytes.Repeat([]byte(name), 500)))
	must(s.Append(ctx, name, &entry.Request{Body: &b}))
	must(0, unlock())
	return b
}

// TestLockUnderReader locks a session while a body of it is being read, and lets the reader finish then.
//
// covers: J-07 part
func TestLockUnderReader(t *testing.T) {
	fault := &vfs.Fault{FS: vfs.NewMem()}
	s := must(opener("home/me/ambit", fault)())
	defer s.Close()
	ctx := context.Background()
	b := bodied(s, "a")
	reading, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	fault.SetInject(func(op vfs.Op, name string) error {
		if op == vfs.OpRead && path.Ext(name) == ".log" {
			once.Do(func() { close(reading); <-goOn })
		}
		return nil
	})
	done := make(chan error)
	go func() {
		_, err := s.Body(ctx, "a", b)
		done <- err
	}()
	<-reading
	fault.SetInject(nil)
	must(s.Lock(ctx, "a"))
	must(s.Append(ctx, "a", &entry.Gap{}))
	close(goOn)
	must(0, <-done)
	must(s.Body(ctx, "a", b))
}

// TestFilesClosed counts the process's open files after stores that were closed in the middle of everything.
//
// covers: J-10 part
func TestFilesClosed(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Skipf("open files cannot be counted here: %v", err)
	}
	root := filepath.ToSlash(t.TempDir())
	ctx := context.Background()
	bodies := map[string]entry.Body{}
	first := must(opener(root, vfs.OS{})())
	for i := range 20 {
		name := fmt.Sprint("s", i)
		bodies[name] = bodied(first, name)
	}
	must(0, first.Close())
	before := len(must(os.ReadDir("/proc/self/fd")))
	for range 30 {
		s := must(opener(root, vfs.OS{})())
		var group sync.WaitGroup
		for name, b := range bodies {
			group.Go(func() {
				_, err := s.Body(ctx, name, b)
				_, lerr := s.Lock(ctx, name)
				_, cerr := s.Check(ctx, name)
				for _, err := range []error{err, lerr, cerr} {
					if err != nil && !errors.Is(err, journal.ErrClosed) {
						t.Errorf("session %q: %v", name, err)
					}
				}
			})
		}
		group.Go(func() { must(0, s.Close()) })
		group.Wait()
	}
	if after := len(must(os.ReadDir("/proc/self/fd"))); after > before {
		t.Errorf("%d files are left open", after-before)
	}
}
