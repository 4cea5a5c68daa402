package providertest

import (
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/provider"
)

// speaks is a protocol whose bodies are one message, at /m, which says what the test wants.
type speaks struct {
	broken
	message provider.Message
}

func (speaks) Elements(_ provider.Request, body []byte) (e provider.Elements, err error) {
	r := provider.NewReader(body)
	r.Members(func(name string) {
		if name == "m" {
			e.Messages = append(e.Messages, r.Element("/m", provider.Form{}))
		}
	})
	if err := r.End(); err != nil {
		return provider.Elements{}, err
	}
	return e, nil
}

func (s speaks) Message(provider.Request, []byte, string) provider.Message { return s.message }

func TestSpeaks(t *testing.T) {
	text := provider.Text{Field: "/m/a~1b/0/c", Said: provider.SaidUser, Text: "x"}
	p := speaks{message: provider.Message{Texts: []provider.Text{text}}}
	body := `{"m":{"a/b":"[{\"c\":\"\\u0078\"}]"}}`
	rapid.Check(t, func(t *rapid.T) { respelled(t, speaks{}, []Exchange{{Body: body}}) })
	rapid.Check(t, func(t *rapid.T) { changed(t, speaks{}, []Exchange{{Body: body}}) })
	if got := complaint(func() { elements(stopped{}, p, provider.Request{}, body) }); got != "" {
		t.Errorf("complaint %q", got)
	}
}

func TestBrokenElements(t *testing.T) {
	one := func(e provider.Element) func([]byte) provider.Elements {
		return func([]byte) provider.Elements { return provider.Elements{Tools: []provider.Element{e}} }
	}
	calls := 0
	tests := map[string]struct {
		body     string
		elements func(body []byte) provider.Elements
		want     string
	}{
		"counts its calls":      {`{}`, func([]byte) provider.Elements { calls++; return provider.Elements{SystemFirst: calls%2 == 0} }, "then"},
		"changes the body":      {`{}`, func(b []byte) provider.Elements { b[0] = 'x'; return provider.Elements{} }, "changed"},
		"takes what is no JSON": {`{`, func([]byte) provider.Elements { return provider.Elements{} }, "no JSON"},
		"outside the body":      {`{}`, one(provider.Element{Offset: 1, Length: 2}), "is not in a body"},
		"at another place":      {`{"a":1}`, one(provider.Element{At: "/b", Offset: 5, Length: 1}), "stands"},
		"hashes the bytes": {`{"a": [ 1]}`, func(b []byte) provider.Elements {
			at := strings.IndexByte(string(b), '[')
			return one(provider.Element{At: "/a", Offset: at, Length: len(b) - 1 - at, Hash: sha256.Sum256(b)})(b)
		}, "another hash"},
	}
	for name, test := range tests {
		got := complaint(func() { elements(stopped{}, broken{elements: test.elements}, provider.Request{}, test.body) })
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
	got := complaint(func() { elements(stopped{}, refuses{}, provider.Request{}, `{}`) })
	if !strings.Contains(got, "was not understood") {
		t.Errorf("refuses: complaint %q", got)
	}
}

// refuses is a protocol that understands no body.
type refuses struct{ broken }

func (refuses) Elements(provider.Request, []byte) (provider.Elements, error) {
	return provider.Elements{}, provider.ErrNotUnderstood
}

func TestBrokenMessages(t *testing.T) {
	tests := map[string]struct {
		text provider.Text
		args string
		want string
	}{
		"nowhere":          {provider.Text{Field: "/m/x", Said: "user", Text: "t"}, `1`, "stands"},
		"another text":     {provider.Text{Field: "/m/t", Said: "user", Text: "u"}, `1`, "stands"},
		"nobody's":         {provider.Text{Field: "/m/t", Said: "narrator", Text: "t"}, `1`, "nobody"},
		"args are no JSON": {provider.Text{Field: "/m/t", Said: "user", Text: "t"}, `{`, "not JSON"},
		"sound":            {provider.Text{Field: "/m/t", Said: "user", Text: "t"}, `1`, ""},
	}
	for name, test := range tests {
		p := speaks{message: provider.Message{Texts: []provider.Text{test.text}, Calls: []provider.Call{{Args: []byte(test.args)}}}}
		got := complaint(func() { elements(stopped{}, p, provider.Request{}, `{"m":{"t":"t"}}`) })
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
}

func TestGoesOn(t *testing.T) {
	call := func(args string) []provider.Call { return []provider.Call{{ID: "a", Args: []byte(args)}} }
	whole := provider.Answer{ID: "r", Text: "text", Results: []string{"a", "b"}, Others: []string{"other"}, Whole: true, Calls: call(`{"x":1}`), Elements: []provider.Hash{{1}}}
	tests := map[string]struct {
		part provider.Answer
		ok   bool
	}{
		"nothing":          {provider.Answer{}, true},
		"all":              {whole, true},
		"a prefix":         {provider.Answer{ID: "r", Text: "te", Calls: call(`"{\"x\""`)}, true},
		"another text":     {provider.Answer{Text: "tx"}, false},
		"another id":       {provider.Answer{ID: "s"}, false},
		"whole too early":  {provider.Answer{Text: "te", Whole: true}, false},
		"more calls":       {provider.Answer{Calls: append(call(`{}`), call(`{}`)...)}, false},
		"another call":     {provider.Answer{Calls: []provider.Call{{ID: "b", Args: []byte(`""`)}}}, false},
		"other args":       {provider.Answer{Calls: call(`"{\"y"`)}, false},
		"args cut to JSON": {provider.Answer{Calls: call(`{}`)}, false},
		"one result":       {provider.Answer{Results: []string{"a"}, Others: []string{"oth"}}, true},
		"another result":   {provider.Answer{Results: []string{"b"}}, false},
		"another choice":   {provider.Answer{Others: []string{"x"}}, false},
		"one more choice":  {provider.Answer{Others: []string{"other", ""}}, false},
		"another element":  {provider.Answer{Elements: []provider.Hash{{2}}}, false},
		"one more element": {provider.Answer{Elements: []provider.Hash{{1}, {2}}}, false},
	}
	for name, test := range tests {
		if err := goesOn(test.part, whole); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
