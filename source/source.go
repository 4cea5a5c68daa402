// Package source reads live facts at a turn boundary, compares them with what the model was last told, and says what
// changed.
//
// A Source is one fact with a stable key: Of closes its type into a uniform value. Composition.Observe asks all sources
// once. Initialize, Reconcile and Replace then work on that one observation and on the Snapshot of what was told: they
// are pure, so the same three values always give the same Outcome. Two laws hold: reconciling twice admits once, and what
// is unavailable admits nothing.
//
// The package is pure: no clock, no randomness, no goroutine, no file. The sources that stand here read through function
// values (Files, Exec, a clock), and observing at once and within a time limit is an Each; ambit/source/host has them for
// the computer that it runs on. All values may be used concurrently.
package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrAbsent is what a loader returns when it looked and there is nothing: a fact, unlike any other error, which says
// that it could not look.
var ErrAbsent = errors.New("absent")

// Spec says what a source is. Key, Load, Baseline and Update are needed.
//
// Renderers are pure: what they return depends on their arguments alone. They get values as the codec gives them back.
// Newlines at the ends of a text are taken off, and a text of nothing but space is an error.
type Spec[T any] struct {
	Key string // namespaced; see CheckKey

	// Load returns the value of now, ErrAbsent, or an error that says why it cannot be had. A panic, and not to answer
	// until the context ends, also make the source unavailable.
	Load func(ctx context.Context) (T, error)

	Baseline func(current T) string           // the text where the value is told first
	Update   func(previous, current T) string // the text of a change: what is in force now, and that it supersedes
	Removal  func(previous T) string          // the text when it is gone; nil: then a new baseline is needed

	Codec Codec[T] // how the value is kept; without one as encoding/json has it

	Optional bool // while it is unavailable a first baseline is made without it, and it joins later
	Volatile bool // it changes often, so it is to stand behind what is stable
}

// Source is a live fact whose type is hidden. Of makes one.
type Source struct {
	key                string
	optional, volatile bool

	load     func(ctx context.Context) (json.RawMessage, error)
	again    func(value json.RawMessage) (json.RawMessage, error) // decodes and encodes
	baseline func(current json.RawMessage) (string, error)
	update   func(previous, current json.RawMessage) (string, error)
	removal  func(previous json.RawMessage) (string, error) // nil for none

	err error // why it cannot be used
}

// Of closes a typed source. What is wrong with the spec, Compose and Register say.
func Of[T any](s Spec[T]) Source {
	out := Source{key: s.Key, optional: s.Optional, volatile: s.Volatile, err: check(s)}
	if out.err != nil {
		return out
	}
	c := s.Codec
	if c.Encode == nil {
		c = JSON[T]()
	}
	out.again = c.again
	out.load = func(ctx context.Context) (value json.RawMessage, err error) {
		err = guard(func() error {
			v, err := s.Load(ctx)
			if err != nil {
				return err
			}
			value, err = c.settle(v)
			return err
		})
		return value, err
	}
	one := func(render func(T) string) func(json.RawMessage) (string, error) {
		return func(value json.RawMessage) (text string, err error) {
			err = guard(func() error {
				v, err := c.Decode(value)
				if err == nil {
					text = render(v)
				}
				return err
			})
			return text, err
		}
	}
	out.baseline = one(s.Baseline)
	if s.Removal != nil {
		out.removal = one(s.Removal)
	}
	out.update = func(previous, current json.RawMessage) (string, error) {
		p, err := c.Decode(previous)
		if err != nil {
			return "", err
		}
		return one(func(v T) string { return s.Update(p, v) })(current)
	}
	return out
}

// Key returns the source's key.
func (s Source) Key() string { return s.key }

// Optional reports whether a first baseline may be made without the source.
func (s Source) Optional() bool { return s.optional }

// Volatile reports whether the source is to stand behind what is stable.
func (s Source) Volatile() bool { return s.volatile }

func check[T any](s Spec[T]) error {
	if err := CheckKey(s.Key); err != nil {
		return err
	}
	switch {
	case s.Load == nil:
		return fmt.Errorf("source %q has no Load", s.Key)
	case s.Baseline == nil:
		return fmt.Errorf("source %q has no Baseline", s.Key)
	case s.Update == nil:
		return fmt.Errorf("source %q has no Update", s.Key)
	case (s.Codec.Encode == nil) != (s.Codec.Decode == nil):
		return fmt.Errorf("source %q has half a Codec", s.Key)
	}
	return nil
}

// broken is a source of which only the error is known.
func broken(key string, err error) Source {
	return Source{key: key, err: fmt.Errorf("source %q: %w", key, err)}
}

var key = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._/-]*$`)

// CheckKey says what is wrong with a key. It is a namespace, a slash and a name: lower case, each beginning with a letter
// or digit and going on with these, ".", "_" and "-"; the name may have more slashes.
func CheckKey(k string) error {
	switch {
	case key.MatchString(k):
		return nil
	case !strings.Contains(k, "/"):
		return fmt.Errorf("source key %q has no namespace", k)
	}
	return fmt.Errorf("source key %q is not of the form namespace/name in lower case", k)
}

// guard runs a function of the embedder's; a panic becomes its error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
