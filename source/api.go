package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// API returns a source api/KEY for each value that was put under a key over an API, in the order of the keys. A value is
// JSON; a string is shown as the text that it is, all else as JSON without spaces and with its members sorted. What is
// wrong with a key or a value, Compose says. To remove a value is to leave its source out of the next composition.
func API(values map[string]json.RawMessage) []Source {
	var sources []Source
	for _, k := range slices.Sorted(maps.Keys(values)) {
		value, err := canonical(values[k])
		if err != nil {
			sources = append(sources, broken("api/"+k, err))
			continue
		}
		sources = append(sources, put(k, value))
	}
	return sources
}

func put(k string, value json.RawMessage) Source {
	text := func(v json.RawMessage) string {
		return block("context", "key", k, shown(v))
	}
	return Of(Spec[json.RawMessage]{
		Key:      "api/" + k,
		Load:     func(context.Context) (json.RawMessage, error) { return value, nil },
		Baseline: text,
		Update: func(_, v json.RawMessage) string {
			return fmt.Sprintf("The context %q has changed. This supersedes what it said before:\n%s", k, text(v))
		},
		Removal: func(json.RawMessage) string {
			return fmt.Sprintf("The context %q no longer applies; disregard it.", k)
		},
	})
}

// shown is a value as the model reads it.
func shown(value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	_ = d.Decode(&v) // canonical has read it before
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was decoded is encoded
	return b.String()
}

// canonical spells a JSON value in one way: no spaces, members sorted, numbers as they are.
func canonical(value json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("its value is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("its value is more than one")
	}
	return json.Marshal(v)
}
