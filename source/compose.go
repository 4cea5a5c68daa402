package source

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Composition is sources in the order in which they are told. The zero Composition has none.
type Composition struct {
	sources []Source
}

// Compose puts sources together in the order given. It is an error when two have one key, and when one cannot be used.
func Compose(sources ...Source) (Composition, error) {
	seen := map[string]bool{}
	for _, s := range sources {
		if s.err != nil {
			return Composition{}, s.err
		}
		if s.load == nil {
			return Composition{}, errors.New("a source was not made by Of")
		}
		if seen[s.key] {
			return Composition{}, fmt.Errorf("source %q stands there twice", s.key)
		}
		seen[s.key] = true
	}
	return Composition{sources: slices.Clone(sources)}, nil
}

// Sources returns the sources in their order.
func (c Composition) Sources() []Source { return slices.Clone(c.sources) }

// Registry holds the sources that plug-ins add while a session runs. The zero Registry is empty and ready.
type Registry struct {
	mu      sync.Mutex
	sources map[string]*Source // each registration has a pointer of its own
}

// Register adds a source until unregister is called, which may be called again and then does nothing. It is an error when
// a source of that key is registered, and when the source cannot be used.
func (r *Registry) Register(s Source) (unregister func(), err error) {
	if _, err := Compose(s); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources[s.key] != nil {
		return nil, fmt.Errorf("source %q is registered already", s.key)
	}
	if r.sources == nil {
		r.sources = map[string]*Source{}
	}
	mine := &s
	r.sources[s.key] = mine
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.sources[s.key] == mine {
			delete(r.sources, s.key)
		}
	}, nil
}

// Compose puts the caller's own sources first, in the order given, and then those registered at this moment, in the order
// of their keys: when each was registered makes no difference. The errors are those of the function Compose.
func (r *Registry) Compose(own ...Source) (Composition, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(own)
	for _, k := range slices.Sorted(maps.Keys(r.sources)) {
		all = append(all, *r.sources[k])
	}
	return Compose(all...)
}
