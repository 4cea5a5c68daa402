package gemini

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

// work is a conversation whose contents may be changed, in many spellings.
const work = `{"systemInstruction":{"parts":[{"text":"s"}]}, "contents":[
  {"role":"user","parts":[{"text":"one"},{"text":"two"}]},
  {"parts":{"text":"only"}},
  {"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{}}},{"functionCall":{"id":"c2","name":"read","args":{}}}]},
  {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"first","more":1}}},{"functionResponse":{"response":{"error":"second"},"id":"c2","name":"read"}}]},
  {"role":"user","parts":[{"functionResponse":{"name":"list","response":{"output":"third"}}}]},
  {"role":"model","parts":[{"thought":true,"text":"secret"},{"text":"done"}]},
  {"role":"model","parts":[{"functionCall":{"name":"list"},"thoughtSignature":"AA"}]},
  {"role":"user","parts":[{"functionResponse":{"id":"c3","name":"look"}},{"text":"and now?"}]},
  {"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}},{"text":"see"}]},
  {"role":"model","parts":[{"text":"bye"}]}
], "generationConfig":{}}`

func change(t *testing.T, kind, body string, changes ...provider.Change) (string, error) {
	t.Helper()
	req := provider.Request{Type: kind}
	e, err := (Protocol{}).Elements(req, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := (Protocol{}).Edit(req, []byte(body), e, changes)
	return string(got), err
}

// TestEdit: what is changed in the bytes is what was asked for, and nothing beside it.
func TestEdit(t *testing.T) {
	const (
		said  = `{"role":"user","parts":[{"text":"new"}]}`
		count = `{"generateContentRequest":{"contents":[{"parts":[{"text":"a"}]}]}}`
		alone = `{"contents":{"parts":[{"text":"a"}]}}`
	)
	one := func(id string) map[string]string { return map[string]string{id: "new"} }
	tests := map[string]struct {
		body     string
		change   provider.Change
		was, now string
	}{
		"parts of text":               {work, provider.Change{At: 0, Texts: one("")}, `{"text":"one"},{"text":"two"}`, `{"text":"new"}`},
		"the only part":               {work, provider.Change{At: 1, Texts: one("")}, `"only"`, `"new"`},
		"a result":                    {work, provider.Change{At: 3, Texts: one("c1")}, `{"output":"first","more":1}`, `{"output":"new"}`},
		"an error":                    {work, provider.Change{At: 3, Texts: one("c2")}, `{"error":"second"}`, `{"error":"new"}`},
		"a result without an id":      {work, provider.Change{At: 4, Texts: one("")}, `{"output":"third"}`, `{"output":"new"}`},
		"a result without a response": {work, provider.Change{At: 7, Texts: one("c3")}, `"name":"look"}`, `"name":"look","response":{"output":"new"}}`},
		"a result and a text": {
			work,
			provider.Change{At: 7, Texts: map[string]string{"c3": "new", "": "now!"}},
			`"name":"look"}},{"text":"and now?"}`, `"name":"look","response":{"output":"new"}}},{"text":"now!"}`,
		},
		"a signed call that is gone":  {work, provider.Change{At: 6, Gone: true}, `{"role":"model","parts":[{"functionCall":{"name":"list"},"thoughtSignature":"AA"}]},` + "\n  ", ""},
		"something at the end":        {work, provider.Change{At: 9, Behind: []string{"new"}}, `[{"text":"bye"}]}`, `[{"text":"bye"}]},` + said},
		"in a count":                  {count, provider.Change{Behind: []string{"new"}}, `[{"text":"a"}]}`, `[{"text":"a"}]},` + said},
		"the only content":            {alone, provider.Change{Texts: one("")}, `"a"`, `"new"`},
		"behind the only content":     {alone, provider.Change{Behind: []string{"new"}}, `{"parts":[{"text":"a"}]}`, `[{"parts":[{"text":"a"}]},` + said + `]`},
		"instead of the only content": {alone, provider.Change{Gone: true, Behind: []string{"new"}}, `{"parts":[{"text":"a"}]}`, `[` + said + `]`},
	}
	for name, test := range tests {
		want := strings.Replace(test.body, test.was, test.now, 1)
		for _, kind := range []string{provider.TypeGenerate, provider.TypeCountTokens} {
			if got, err := change(t, kind, test.body, test.change); err != nil || got != want || strings.Count(test.body, test.was) != 1 {
				t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
			}
		}
	}
}

// TestNotEdited: what may not be changed is not, and the error says which message and why.
func TestNotEdited(t *testing.T) {
	own := map[string]string{"": "new"}
	tests := map[string]struct {
		change provider.Change
		why    string
	}{
		"between calls and results": {provider.Change{At: 2, Behind: []string{"x"}}, "results follow"},
		"between results":           {provider.Change{At: 3, Behind: []string{"x"}}, "results follow"},
		"a thought":                 {provider.Change{At: 5, Texts: own}, "reasoning"},
		"a signature":               {provider.Change{At: 6, Texts: own}, "reasoning"},
		"an image":                  {provider.Change{At: 8, Gone: true}, "image"},
		"results with ids":          {provider.Change{At: 3, Texts: own}, "no text of its own"},
		"no such result":            {provider.Change{At: 3, Texts: map[string]string{"c9": "x"}}, "each of these"},
	}
	for name, test := range tests {
		got, err := change(t, provider.TypeGenerate, work, test.change)
		var refused *provider.EditError
		if !errors.As(err, &refused) || got != "" || refused.At != test.change.At || !strings.Contains(refused.Why, test.why) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.why)
		}
	}
}

func TestEditLaws(t *testing.T) {
	for _, body := range []string{work, `{"generateContentRequest":` + work + `}`, `{"contents": {"parts":{"text":"a"}} , "tools":[]}`} {
		for _, kind := range []string{provider.TypeGenerate, provider.TypeCountTokens} {
			providertest.Edits(t, Protocol{}, provider.Request{Type: kind}, body)
		}
	}
}

func FuzzEdit(f *testing.F) {
	x := providertest.Exchange{Body: work, Request: provider.Request{Type: provider.TypeGenerate}}
	providertest.FuzzEdit(f, Protocol{}, append(slices.Concat(exchanges, rich), x)...)
}
