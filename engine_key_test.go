package ambit_test

import (
	"bytes"
	"strings"
	"testing"

	"ambit"
	"ambit/provider"
)

// Requests to Responses say whose they are, so that the provider finds them in its cache: the same in all requests of a session, in
// another process and beside the conversation, too; what the caller says himself counts. Other servers are not told what they
// may not know.
func TestCacheKey(t *testing.T) {
	for wire := range wireNames {
		d := newDesk(t, wire, talker(9))
		s := d.begin("One.")
		d.run(s)
		if _, err := s.Aside(t.Context(), ambit.Aside{Text: "Why?"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
		if err != nil {
			t.Fatal(err)
		}
		d.run(s, "Two.")
		key := []byte(`"prompt_cache_key":"` + s.ID() + `"`)
		for i, a := range d.asked {
			if bytes.Count(a.body, key) != map[string]int{provider.TypeResponses: 1}[wire] || bytes.Contains(a.body, []byte("prompt_cache_key")) != (wire == provider.TypeResponses) {
				t.Errorf("%s: request %d is %s", wire, i+1, a.body)
			}
		}
		d.setup.Model.Rest = append(d.setup.Model.Rest, provider.Member{Name: "prompt_cache_key", Value: []byte(`"mine"`)})
		if err := s.Switch(t.Context(), d.setup); err != nil {
			t.Fatal(err)
		}
		d.run(s, "Three.")
		if body := string(d.asked[len(d.asked)-1].body); strings.Count(body, "prompt_cache_key") != 1 || !strings.Contains(body, `"prompt_cache_key":"mine"`) {
			t.Errorf("%s: with a key of its own %s", wire, body)
		}
	}
}
