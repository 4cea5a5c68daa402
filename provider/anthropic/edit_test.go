package anthropic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

// work is a conversation whose messages may be changed, in many spellings.
const work = `{"model":"m","tools":[{"name":"read"}],"system":"s", "messages":[
  {"role":"user","content":"a\u00e9"},
  {"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral","ttl":"1h"}} , {"text":"three","type":"text"}]},
  {"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"read","input":{}},{"type":"tool_use","id":"t2","name":"read","input":{}},{"type":"tool_use","id":"t3","name":"read","input":{}}]},
  {"role":"user","content":[
    {"tool_use_id":"t1","type":"tool_result","content":"first","is_error":true},
    {"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"second","cache_control":{"type":"ephemeral"}},{"type":"text","text":"more"}]},
    {"type":"tool_result","tool_use_id":"t3"},
    {"type":"text","text":"and now?"}]},
  {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"done"}]},
  {"role":"system","content":"mind"},
  {"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AA"}},{"type":"text","text":"see"}]},
  {"role":"assistant","content":[{"type":"compaction","content":"c"}]},
  {"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]}
], "stream":true}`

func editWork(t *testing.T, body string, changes ...provider.Change) (string, error) {
	t.Helper()
	req := provider.Request{Type: provider.TypeMessages}
	e, err := (Protocol{}).Elements(req, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := (Protocol{}).Edit(req, []byte(body), e, changes)
	return string(got), err
}

// TestEdit: what is changed in the bytes is what was asked for, and nothing beside it.
func TestEdit(t *testing.T) {
	const said = `{"role":"user","content":[{"type":"text","text":"new"}]}`
	text := func(pairs ...string) map[string]string {
		texts := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			texts[pairs[i]] = pairs[i+1]
		}
		return texts
	}
	tests := map[string]struct {
		change   provider.Change
		was, now string
	}{
		"a string": {provider.Change{At: 0, Texts: text("", "b\"")}, `"a\u00e9"`, `"b\""`},
		"blocks of text": {
			provider.Change{At: 1, Texts: text("", "new")},
			`[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral","ttl":"1h"}} , {"text":"three","type":"text"}]`,
			`[{"type":"text","text":"new","cache_control":{"type":"ephemeral","ttl":"1h"}}]`,
		},
		"text beside calls": {provider.Change{At: 2, Texts: text("", "new")}, `"I look."`, `"new"`},
		"a result":          {provider.Change{At: 3, Texts: text("t1", "cut")}, `"first"`, `"cut"`},
		"a result of blocks": {
			provider.Change{At: 3, Texts: text("t2", "cut")},
			`[{"type":"text","text":"second","cache_control":{"type":"ephemeral"}},{"type":"text","text":"more"}]}`, `"cut","cache_control":{"type":"ephemeral"}}`,
		},
		"a result without content": {provider.Change{At: 3, Texts: text("t3", "cut")}, `"tool_use_id":"t3"}`, `"tool_use_id":"t3","content":"cut"}`},
		"gone":                     {provider.Change{At: 8, Gone: true}, ",\n  " + `{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]}`, ""},
		"gone in front":            {provider.Change{At: 0, Gone: true}, `{"role":"user","content":"a\u00e9"},` + "\n  ", ""},
		"reasoning that is gone": {
			provider.Change{At: 4, Gone: true, Texts: text("", "says nothing")},
			`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"done"}]},` + "\n  ", "",
		},
		"something behind":     {provider.Change{At: 0, Behind: []string{"new", "new"}}, `"a\u00e9"},`, `"a\u00e9"},` + said + "," + said + ","},
		"something instead":    {provider.Change{At: 0, Gone: true, Behind: []string{"new"}}, `{"role":"user","content":"a\u00e9"},`, said + ","},
		"something at the end": {provider.Change{At: 8, Behind: []string{"new"}}, `"ephemeral"}}]}` + "\n]", `"ephemeral"}}]},` + said + "\n]"},
		"behind what is fixed": {provider.Change{At: 6, Behind: []string{"new"}}, `"text":"see"}]},`, `"text":"see"}]},` + said + ","},
	}
	for name, test := range tests {
		want := strings.Replace(work, test.was, test.now, 1)
		if got, err := editWork(t, work, test.change); err != nil || got != want || strings.Count(work, test.was) != 1 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
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
		"reasoning":                 {provider.Change{At: 4, Texts: own}, "reasoning"},
		"the system":                {provider.Change{At: 5, Texts: own}, "system"},
		"an image":                  {provider.Change{At: 6, Texts: own}, "image"},
		"an image that is to go":    {provider.Change{At: 6, Gone: true}, "image"},
		"what was compacted":        {provider.Change{At: 7, Gone: true}, "only the provider"},
		"no such result":            {provider.Change{At: 3, Texts: map[string]string{"t9": "x"}}, "each of these"},
		"no such message":           {provider.Change{At: 9, Gone: true}, "no such message"},
		"between calls and results": {provider.Change{At: 2, Behind: []string{"x"}}, "results follow"},
		"an empty text":             {provider.Change{At: 0, Texts: map[string]string{"": " "}}, "empty"},
		"an empty text behind":      {provider.Change{At: 0, Behind: []string{""}}, "empty"},
	}
	for name, test := range tests {
		got, err := editWork(t, work, test.change)
		var refused *provider.EditError
		if !errors.As(err, &refused) || got != "" || refused.At != test.change.At || !strings.Contains(refused.Why, test.why) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.why)
		}
	}
	if _, err := editWork(t, work, provider.Change{At: 1, Gone: true}, provider.Change{At: 1, Gone: true}); err == nil {
		t.Error("two changes of one message were made")
	}
	twice := `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"},{"type":"tool_result","tool_use_id":"t","content":"b"}]}]}`
	if _, err := editWork(t, twice, provider.Change{Texts: map[string]string{"t": "x"}}); err == nil {
		t.Error("of two results of one call one was changed")
	}
}

// TestEditLeavesAllOut: whichever messages of a few are left out, what stays is a list.
func TestEditLeavesAllOut(t *testing.T) {
	for n := 1; n < 5; n++ {
		body := `{"messages": [ ` + strings.Repeat(`{"role":"user","content":"a"} , `, n-1) + `{"role":"user","content":"a"} ] }`
		var changes []provider.Change
		for i := range n {
			changes = append(changes, provider.Change{At: i, Gone: true})
		}
		for only := range n {
			got, err := editWork(t, body, slices.Delete(slices.Clone(changes), only, only+1)...)
			if err != nil || strings.Count(got, "role") != 1 || strings.Contains(got, ",") && !strings.Contains(got, `"user","content"`) {
				t.Errorf("all but %d of %d: %q, %v", only, n, got, err)
			}
		}
		if got, err := editWork(t, body, changes...); err != nil || strings.Join(strings.Fields(got), "") != `{"messages":[]}` {
			t.Errorf("all of %d: %q, %v", n, got, err)
		}
	}
}

func TestEditLaws(t *testing.T) {
	for _, kind := range []string{provider.TypeMessages, provider.TypeCountTokens} {
		providertest.Edits(t, Protocol{}, provider.Request{Type: kind}, work)
	}
}

// TestEditsRecorded: the laws hold for what a real client sent.
func TestEditsRecorded(t *testing.T) {
	n := 0
	recorded(t, func(name string, body []byte) {
		if n++; n%8 == 0 {
			t.Run(name, func(t *testing.T) {
				providertest.Edits(t, Protocol{}, provider.Request{Type: provider.TypeMessages}, string(body))
			})
		}
	})
}

func FuzzEdit(f *testing.F) {
	x := providertest.Exchange{Body: work, Request: provider.Request{Type: provider.TypeMessages}}
	providertest.FuzzEdit(f, Protocol{}, append(slices.Concat(exchanges, rich), x)...)
}

// BenchmarkEdit leaves 1,500 of 2,000 messages out of a body of 1 MB and changes a result in 200 others.
func BenchmarkEdit(b *testing.B) {
	result := strings.Repeat(`\tif err := s.open(\"file.go\"); err != nil {\n`, 19)
	var body strings.Builder
	body.WriteString(`{"messages":[`)
	var changes []provider.Change
	for i := range 1000 {
		fmt.Fprintf(&body, `{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{"path":"a/b.go"}}]},`, i)
		fmt.Fprintf(&body, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]},`, i, result)
		if i < 750 {
			changes = append(changes, provider.Change{At: 2 * i, Gone: true}, provider.Change{At: 2*i + 1, Gone: true})
		} else if i < 950 {
			changes = append(changes, provider.Change{At: 2*i + 1, Texts: map[string]string{fmt.Sprint("t", i): "cut"}})
		}
	}
	body.WriteString(`{"role":"user","content":"go on"}]}`)
	req := provider.Request{Type: provider.TypeMessages}
	text := []byte(body.String())
	e, err := (Protocol{}).Elements(req, text)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Protocol{}).Edit(req, text, e, changes); err != nil {
			b.Fatal(err)
		}
	}
}
