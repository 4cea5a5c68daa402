package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Status is how an observation was reconciled.
type Status string

// The statuses.
const (
	Unchanged Status = "unchanged" // there is nothing to say
	Updated   Status = "updated"   // one message says what changed; the baseline stays
	Ready     Status = "ready"     // a new baseline
	Blocked   Status = "blocked"   // a new baseline is needed, and sources that it needs are unavailable
)

// Outcome is what is to be said at a boundary, and what the model has been told once that is said. Parts and snapshot
// belong into one append, so that neither is ever without the other.
type Outcome struct {
	Status   Status   `json:"status"`
	Parts    []Part   `json:"parts,omitempty"`   // what is said: of Ready the baseline, of Updated the message
	Snapshot Snapshot `json:"snapshot"`          // where nothing is said, the previous one
	Blocked  []string `json:"blocked,omitempty"` // of Blocked, the keys, in the order of the composition
}

// Rendering is which of a source's texts a part is.
type Rendering string

// The renderings.
const (
	Baseline Rendering = "baseline"
	Update   Rendering = "update"
	Removal  Rendering = "removal"
)

// Part is what is said of one source.
type Part struct {
	Key       string    `json:"key"`
	Rendering Rendering `json:"rendering"`
	Text      string    `json:"text"` // never empty, and without newlines at its ends
	Volatile  bool      `json:"volatile,omitempty"`
}

// Text is the exact text of parts: one blank line stands between two.
func Text(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

// Text is all that is said, in one text.
func (o Outcome) Text() string { return Text(o.Parts) }

// Layers returns the parts that are stable and those that are volatile, each in their order. Of a baseline the volatile
// ones are to stand behind the stable layer, so that a new day leaves that as it is.
func (o Outcome) Layers() (stable, volatile []Part) {
	for _, p := range o.Parts {
		if p.Volatile {
			volatile = append(volatile, p)
		} else {
			stable = append(stable, p)
		}
	}
	return stable, volatile
}

// Initialize makes the first baseline of an observation. It is Ready, or Blocked by the sources that are unavailable and
// not optional. What is absent or unavailable is not in the baseline.
//
// Here and in Reconcile and Replace an error is a source's fault: a renderer that panics or gives an empty text, a value
// that its codec does not read. It names the source.
func (c Composition) Initialize(o Observation) (Outcome, error) {
	return c.baseline(o, nil, func(s Source) bool { return !s.optional })
}

// Replace makes a new baseline of an observation. It is Ready, or Blocked by the sources that the model was told of and
// that are unavailable now. Unavailable sources that it was not told of join later.
func (c Composition) Replace(o Observation, previous Snapshot) (Outcome, error) {
	return c.baseline(o, previous, func(s Source) bool { _, told := previous[s.key]; return told })
}

// baseline makes a baseline unless a source is unavailable that is needed.
func (c Composition) baseline(o Observation, previous Snapshot, needed func(Source) bool) (Outcome, error) {
	out := Outcome{Status: Ready, Snapshot: Snapshot{}}
	for _, s := range c.sources {
		if st := o[s.key].State; st != Present && st != Absent && needed(s) {
			out.Blocked = append(out.Blocked, s.key)
		}
	}
	if out.Blocked != nil {
		return Outcome{Status: Blocked, Snapshot: previous.clone(), Blocked: out.Blocked}, nil
	}
	for _, s := range c.sources {
		if o[s.key].State != Present {
			continue
		}
		if err := out.admit(s, o[s.key].Value, nil); err != nil {
			return Outcome{}, err
		}
	}
	return out, nil
}

// Reconcile compares an observation with what the model was told. Sources that it was not told of, and that have a value
// now, are told by their baseline text, changed ones by their update text, in the order of the composition; then come the
// removal texts of those that are absent or no longer in the composition, sorted by key. What is unavailable stays as it
// was told. Where a stored value cannot be read, or a removal has no text, it does as Replace does.
func (c Composition) Reconcile(o Observation, previous Snapshot) (Outcome, error) {
	gone := c.gone(o, previous)
	if c.unreadable(o, previous) || slices.ContainsFunc(gone, func(k string) bool { return previous[k].Removed == "" }) {
		return c.Replace(o, previous)
	}
	out := Outcome{Status: Unchanged, Snapshot: previous.clone()}
	for _, s := range c.sources {
		if o[s.key].State != Present {
			continue
		}
		told, known := previous[s.key]
		if known && s.equal(told.Value, o[s.key].Value) {
			continue
		}
		var before json.RawMessage
		if known {
			before = told.Value
		}
		if err := out.admit(s, o[s.key].Value, before); err != nil {
			return Outcome{}, err
		}
	}
	for _, k := range gone {
		out.Parts = append(out.Parts, Part{Key: k, Rendering: Removal, Text: previous[k].Removed})
		delete(out.Snapshot, k)
	}
	if out.Parts != nil {
		out.Status = Updated
	}
	return out, nil
}

// gone returns the keys, sorted, that the model was told of and that are absent or no longer in the composition.
func (c Composition) gone(o Observation, previous Snapshot) (keys []string) {
	here := map[string]bool{}
	for _, s := range c.sources {
		here[s.key] = o[s.key].State != Absent
	}
	for _, k := range slices.Sorted(maps.Keys(previous)) {
		if !here[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// unreadable reports whether the stored value of a source that is present cannot be read.
func (c Composition) unreadable(o Observation, previous Snapshot) bool {
	for _, s := range c.sources {
		if told, known := previous[s.key]; known && o[s.key].State == Present {
			if _, err := s.again(told.Value); err != nil {
				return true
			}
		}
	}
	return false
}

func (s Source) equal(told, value json.RawMessage) bool {
	a, errA := s.again(told)
	b, errB := s.again(value)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// admit says the value of a source: its baseline without a value before, and its update with one.
func (o *Outcome) admit(s Source, value, before json.RawMessage) error {
	p := Part{Key: s.key, Rendering: Baseline, Volatile: s.volatile}
	t := Told{Value: value}
	var err error
	if before == nil {
		p.Text, err = s.baseline(value)
	} else {
		p.Rendering = Update
		p.Text, err = s.update(before, value)
	}
	if p.Text, err = sound(s.key, p.Rendering, p.Text, err); err != nil {
		return err
	}
	if s.removal != nil {
		t.Removed, err = s.removal(value)
		if t.Removed, err = sound(s.key, Removal, t.Removed, err); err != nil {
			return err
		}
	}
	o.Parts = append(o.Parts, p)
	o.Snapshot[s.key] = t
	return nil
}

// sound takes the newlines off a rendered text and refuses one that says nothing.
func sound(key string, r Rendering, text string, err error) (string, error) {
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("the text is empty")
	}
	if err != nil {
		return "", fmt.Errorf("render the %s of source %q: %w", r, key, err)
	}
	return strings.Trim(text, "\r\n"), nil
}

func (s Snapshot) clone() Snapshot {
	if s == nil {
		return Snapshot{}
	}
	return maps.Clone(s)
}
