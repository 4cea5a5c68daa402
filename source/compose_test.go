package source_test

import (
	"strings"
	"sync"
	"testing"

	"ambit/source"
)

func keys(c source.Composition) string {
	var all []string
	for _, s := range c.Sources() {
		all = append(all, s.Key())
	}
	return strings.Join(all, " ")
}

// covers: S-02 part
func TestComposeKeepsOrder(t *testing.T) {
	var l live
	if got := keys(compose(t, l.lasting("b/b"), l.lasting("a/a"), l.lasting("c/c"))); got != "b/b a/a c/c" {
		t.Error(got)
	}
	_, err := source.Compose(l.lasting("a/a"), l.lasting("b/b"), l.removable("a/a"))
	if err == nil || !strings.Contains(err.Error(), `"a/a"`) {
		t.Errorf("two of one key: %v", err)
	}
}

// covers: S-02
func TestRegisteredSourcesComeLastByKey(t *testing.T) {
	var r source.Registry
	var l live
	register := func(key string) func() {
		t.Helper()
		unregister, err := r.Register(l.lasting(key))
		if err != nil {
			t.Fatal(err)
		}
		return unregister
	}
	composed := func(want string) {
		t.Helper()
		c, err := r.Compose(l.lasting("z/own"), l.lasting("b/own"))
		if err != nil {
			t.Fatal(err)
		}
		if got := keys(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	composed("z/own b/own")
	register("p/c")
	removeA := register("p/a")
	register("p/b")
	composed("z/own b/own p/a p/b p/c")
	composed("z/own b/own p/a p/b p/c") // as often as asked

	if _, err := r.Register(l.removable("p/a")); err == nil || !strings.Contains(err.Error(), `"p/a" is registered already`) {
		t.Errorf("registered twice: %v", err)
	}
	if _, err := r.Register(l.lasting("nothing")); err == nil {
		t.Error("a source without a namespace is registered")
	}
	if _, err := r.Compose(l.lasting("p/b")); err == nil || !strings.Contains(err.Error(), `"p/b"`) {
		t.Errorf("a registered source has the key of the caller's own: %v", err)
	}

	removeA()
	composed("z/own b/own p/b p/c")
	register("p/a")
	removeA() // ends its own registration alone
	composed("z/own b/own p/a p/b p/c")
}

// covers: S-19 part
func TestUnregisteredAndRegisteredAgain(t *testing.T) {
	var r source.Registry
	own, plug := &live{value: "1"}, &live{value: "2"}
	turn := func(previous source.Snapshot) source.Outcome {
		t.Helper()
		c, err := r.Compose(own.lasting("a/a"))
		if err != nil {
			t.Fatal(err)
		}
		return reconcile(t, c, previous)
	}
	unregister, err := r.Register(plug.removable("p/p"))
	if err != nil {
		t.Fatal(err)
	}
	o := turn(nil)
	expect(t, o, source.Updated, "a/a is 1\n\np/p is 2")
	unregister()
	o = turn(o.Snapshot)
	expect(t, o, source.Updated, "p/p was 2")
	o = turn(o.Snapshot)
	expect(t, o, source.Unchanged, "")
	if _, err := r.Register(plug.removable("p/p")); err != nil {
		t.Fatal(err)
	}
	o = turn(o.Snapshot)
	expect(t, o, source.Updated, "p/p is 2")
	expect(t, turn(o.Snapshot), source.Unchanged, "")
}

// TestRegistryIsConcurrent is for the race detector.
func TestRegistryIsConcurrent(t *testing.T) {
	var r source.Registry
	var wg sync.WaitGroup
	for _, key := range []string{"a/a", "b/b", "c/c", "d/d"} {
		wg.Go(func() {
			var l live
			for range 50 {
				unregister, err := r.Register(l.lasting(key))
				if err != nil {
					t.Error(err)
					return
				}
				if c, err := r.Compose(); err != nil || !strings.Contains(keys(c), key) {
					t.Error(keys(c), err)
				}
				unregister()
			}
		})
	}
	wg.Wait()
	if c, err := r.Compose(); err != nil || keys(c) != "" {
		t.Error(keys(c), err)
	}
}
