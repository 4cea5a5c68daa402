package source

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Snapshot is what the model was last told, by source key: what later observations are compared with.
//
// It is kept in the journal. Its JSON is one object with a member for each key, sorted by key, without spaces:
//
//	{"core/date":{"value":"2026-03-01"},"core/skills":{"value":{"skills":[]},"removed":"No skills …"}}
//
// Equal snapshots have equal JSON. Reading one fails for a key that CheckKey refuses, for a member without a value, and
// for an empty "removed"; members that are not known are passed over.
type Snapshot map[string]Told

// Told is what the model was last told of one source.
type Told struct {
	Value   json.RawMessage `json:"value"`             // by the source's codec
	Removed string          `json:"removed,omitempty"` // what to say when the source is gone; empty: then a new baseline is needed
}

// MarshalJSON writes the snapshot; none is an empty object.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]Told(s))
}

// UnmarshalJSON reads a snapshot, and nothing of one that is wrong.
func (s *Snapshot) UnmarshalJSON(data []byte) error {
	var read map[string]struct {
		Value   json.RawMessage `json:"value"`
		Removed *string         `json:"removed"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	if read == nil {
		return errors.New("read snapshot: null is none")
	}
	out := make(Snapshot, len(read))
	for k, r := range read {
		if err := CheckKey(k); err != nil {
			return fmt.Errorf("read snapshot: %w", err)
		}
		if r.Value == nil {
			return fmt.Errorf("read snapshot: %q has no value", k)
		}
		t := Told{Value: r.Value}
		if r.Removed != nil {
			if t.Removed = *r.Removed; t.Removed == "" {
				return fmt.Errorf("read snapshot: the removal text of %q is empty", k)
			}
		}
		out[k] = t
	}
	*s = out
	return nil
}
