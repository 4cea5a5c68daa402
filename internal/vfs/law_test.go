package vfs_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/internal/vfs"
)

// TestCrashLaw compares a Mem with a model that remembers states where the Mem remembers steps: each file's content and
// each folder's names since the last sync, oldest first. A crash may leave the first of them (Dropped), the last (Kept),
// or one of them, a file also something between two (Torn).
func TestCrashLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			mem:     vfs.NewMem(),
			folders: map[string]*history[map[string]int]{"": {{}}, "d": {{}}},
		}
		w.must(t, w.mem.MkdirAll("d"))
		w.must(t, w.mem.SyncDir("/"))
		t.Repeat(map[string]func(*rapid.T){
			"create":   w.create,
			"rename":   w.rename,
			"remove":   w.remove,
			"write":    w.write,
			"truncate": w.truncate,
			"sync":     w.sync,
			"syncdir":  w.syncDir,
			"":         w.check,
		})
	})
}

// history is the states since the last sync, oldest first; there is always one.
type history[S any] []S

func (h history[S]) last() S { return h[len(h)-1] }

type world struct {
	mem     *vfs.Mem
	folders map[string]*history[map[string]int] // names to indices in files
	files   []*modelFile
}

type modelFile struct {
	open   vfs.File
	states history[string]
	writes []int64 // the offset of the write that led to states[i+1], or -1 for a truncate
	bytes  []string
}

var names = []string{"a", "b", "c"}

func (w *world) must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) draw(t *rapid.T, label string) (dir, name string) {
	dir = rapid.SampledFrom([]string{"", "d"}).Draw(t, label+" folder")
	return dir, rapid.SampledFrom(names).Draw(t, label+" name")
}

func (w *world) file(t *rapid.T) *modelFile {
	if len(w.files) == 0 {
		t.Skip("no file")
	}
	return rapid.SampledFrom(w.files).Draw(t, "file")
}

// step adds a state to a folder.
func (w *world) step(dir string, change func(map[string]int)) {
	h := w.folders[dir]
	next := maps.Clone(h.last())
	change(next)
	*h = append(*h, next)
}

func (w *world) create(t *rapid.T) {
	dir, name := w.draw(t, "new")
	f, err := w.mem.Create(dir + "/" + name)
	if _, taken := w.folders[dir].last()[name]; taken != (err != nil) {
		t.Fatalf("taken %v, got %v", taken, err)
	} else if taken {
		return
	}
	w.step(dir, func(names map[string]int) { names[name] = len(w.files) })
	w.files = append(w.files, &modelFile{open: f, states: history[string]{""}})
}

func (w *world) rename(t *rapid.T) {
	fromDir, from := w.draw(t, "from")
	toDir, to := w.draw(t, "to")
	id, found := w.folders[fromDir].last()[from]
	if err := w.mem.Rename(fromDir+"/"+from, toDir+"/"+to); found != (err == nil) {
		t.Fatalf("found %v, got %v", found, err)
	} else if !found || fromDir == toDir && from == to {
		return
	}
	if fromDir == toDir {
		w.step(toDir, func(names map[string]int) { delete(names, from); names[to] = id })
		return
	}
	w.step(toDir, func(names map[string]int) { names[to] = id })
	w.step(fromDir, func(names map[string]int) { delete(names, from) })
}

func (w *world) remove(t *rapid.T) {
	dir, name := w.draw(t, "old")
	_, found := w.folders[dir].last()[name]
	if err := w.mem.Remove(dir + "/" + name); found != (err == nil) {
		t.Fatalf("found %v, got %v", found, err)
	} else if found {
		w.step(dir, func(names map[string]int) { delete(names, name) })
	}
}

func (w *world) write(t *rapid.T) {
	f := w.file(t)
	off := rapid.Int64Range(0, 12).Draw(t, "off")
	text := rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "text")
	_, err := f.open.WriteAt([]byte(text), off)
	w.must(t, err)
	f.states = append(f.states, written(f.states.last(), off, text))
	f.writes, f.bytes = append(f.writes, off), append(f.bytes, text)
}

func (w *world) truncate(t *rapid.T) {
	f := w.file(t)
	size := rapid.IntRange(0, 12).Draw(t, "size")
	w.must(t, f.open.Truncate(int64(size)))
	f.states = append(f.states, sized(f.states.last(), size))
	f.writes, f.bytes = append(f.writes, -1), append(f.bytes, "")
}

func (w *world) sync(t *rapid.T) {
	f := w.file(t)
	w.must(t, f.open.Sync())
	f.states = history[string]{f.states.last()}
	f.writes, f.bytes = nil, nil
}

func (w *world) syncDir(t *rapid.T) {
	dir := rapid.SampledFrom([]string{"", "d"}).Draw(t, "folder")
	w.must(t, w.mem.SyncDir("/"+dir))
	h := w.folders[dir]
	*h = history[map[string]int]{h.last()}
}

func (w *world) check(t *rapid.T) {
	live := w.see(t, w.mem)
	kept, dropped := w.mem.Crash(vfs.Kept, nil), w.mem.Crash(vfs.Dropped, nil)
	w.same(t, "live", w.expect(true), live)
	w.same(t, "kept", live, w.see(t, kept))
	w.same(t, "dropped", w.expect(false), w.see(t, dropped))
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for range 4 {
		torn := w.mem.Crash(vfs.Torn, rng)
		seen := w.see(t, torn)
		w.checkTorn(t, seen)
		w.same(t, "crash of the crashed", seen, w.see(t, torn.Crash(vfs.Dropped, nil)))
	}
	w.same(t, "live after crashes", live, w.see(t, w.mem))
}

func (w *world) see(t *rapid.T, fsys vfs.FS) map[string]string {
	all, err := tree(fsys, "/")
	w.must(t, err)
	return all
}

func (w *world) same(t *rapid.T, what string, want, got map[string]string) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// expect is the tree of the last states, or else of the first ones.
func (w *world) expect(last bool) map[string]string {
	all := map[string]string{"d/": ""}
	for dir, h := range w.folders {
		names := (*h)[0]
		if last {
			names = h.last()
		}
		for name, id := range names {
			text := w.files[id].states[0]
			if last {
				text = w.files[id].states.last()
			}
			all[strings.TrimPrefix(dir+"/"+name, "/")] = text
		}
	}
	return all
}

// checkTorn wants, for each folder, one of its states whose files all have a content that they can have.
func (w *world) checkTorn(t *rapid.T, seen map[string]string) {
	for dir, h := range w.folders {
		here := map[string]string{}
		for at, text := range seen {
			i := strings.LastIndex(at, "/")
			if at != "d/" && max(i, 0) == len(dir) {
				here[at[i+1:]] = text
			}
		}
		if !slices.ContainsFunc(*h, func(names map[string]int) bool { return w.can(names, here) }) {
			t.Fatalf("folder %q is in no state that it had: %s", dir, fmt.Sprintf("%q", here))
		}
	}
}

func (w *world) can(names map[string]int, here map[string]string) bool {
	if len(names) != len(here) {
		return false
	}
	for name, id := range names {
		text, ok := here[name]
		if !ok || !w.files[id].can(text) {
			return false
		}
	}
	return true
}

func (f *modelFile) can(text string) bool {
	size := len(f.states.last())
	for i, state := range f.states {
		candidates := []string{state}
		if i < len(f.writes) && f.writes[i] >= 0 {
			for n := 1; n <= len(f.bytes[i]); n++ {
				candidates = append(candidates, written(state, f.writes[i], f.bytes[i][:n]))
			}
		}
		for _, c := range candidates {
			if text == c || text == sized(c, size) {
				return true
			}
		}
	}
	return false
}

func written(s string, off int64, text string) string {
	end := int(off) + len(text)
	long := sized(s, max(len(s), end))
	return long[:off] + text + long[end:]
}

func sized(s string, n int) string {
	return (s + strings.Repeat("\x00", n))[:n]
}
