package source_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"ambit/source"
)

// disk is files in memory. A path under links stands for another one.
type disk struct {
	mu     sync.Mutex
	files  map[string]string
	links  map[string]string
	broken map[string]bool // finding it fails
	gone   map[string]bool // it is found, and reading it fails
	looks  []string        // what was looked for
}

func (d *disk) Files() source.Files {
	return source.Files{Find: d.find, Read: d.read, Names: d.names}
}

// real follows the links of a path, of its folders too.
func (d *disk) real(name string) string {
	name = path.Clean(name)
	for at := name; ; at = path.Dir(at) {
		if to, ok := d.links[at]; ok {
			return d.real(to + strings.TrimPrefix(name, at))
		}
		if at == path.Dir(at) {
			return name
		}
	}
}

func (d *disk) find(name string) (source.Found, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.looks = append(d.looks, name)
	if d.broken[name] {
		return source.Found{}, errDown
	}
	real := d.real(name)
	if _, ok := d.files[real]; ok {
		return source.Found{Real: real}, nil
	}
	for file := range d.files {
		if strings.HasPrefix(file, strings.TrimSuffix(real, "/")+"/") {
			return source.Found{Real: real, Folder: true}, nil
		}
	}
	return source.Found{}, nil
}

func (d *disk) read(name string, limit int) ([]byte, int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.files[d.real(name)]
	if !ok || d.gone[name] {
		return nil, 0, fmt.Errorf("%s is not there", name)
	}
	return []byte(text[:min(limit, len(text))]), int64(len(text)), nil
}

func (d *disk) names(name string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken[name] {
		return nil, errDown
	}
	var out []string
	for file := range d.files {
		if rest, ok := strings.CutPrefix(file, d.real(name)+"/"); ok {
			first, _, _ := strings.Cut(rest, "/")
			out = append(out, first)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// covers: S-15 part
func TestLocate(t *testing.T) {
	d := &disk{
		files:  map[string]string{"/r/.git/HEAD": "", "/r/a/b/x": "", "/s/sub/.git": "gitdir: …", "/s/sub/x": "", "/plain/x": ""},
		links:  map[string]string{"/link": "/r/a"},
		broken: map[string]bool{"/bad": true},
	}
	for dir, want := range map[string]source.Place{
		"/r/a/b":  {Dir: "/r/a/b", Root: "/r", Git: true},
		"/r/":     {Dir: "/r", Root: "/r", Git: true},
		"/link/b": {Dir: "/r/a/b", Root: "/r", Git: true},
		"/s/sub":  {Dir: "/s/sub", Root: "/s/sub", Git: true},
		"/plain":  {Dir: "/plain", Root: "/plain"},
		"/":       {Dir: "/", Root: "/"},
	} {
		if got, err := source.Locate(d.Files(), dir); err != nil || got != want {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
	for dir, want := range map[string]string{"/none": "no such folder", "/r/a/b/x": "no such folder", "/bad": "the disk is gone"} {
		if _, err := source.Locate(d.Files(), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
