package openai

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
)

// What may be changed, in many spellings, of both APIs.
const (
	chatWork = `{"model":"m", "messages":[
  {"role":"system","content":"s"},
  {"role":"user","content":"a"},
  {"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]},
  {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]},
  {"role":"tool","tool_call_id":"c1","content":"first"},
  {"content":[{"type":"text","text":"second"},{"type":"text","text":"more","cache_control":{"type":"ephemeral"}}],"role":"tool","tool_call_id":"c2"},
  {"role":"assistant","content":"done","reasoning_content":"secret"},
  {"role":"developer","content":"mind"},
  {"role":"function","name":"old","content":"third"},
  {"role":"tool","tool_call_id":"c3"},
  {"role":"assistant","content":"bye","refusal":"no"}
], "stream":true}`
	itemWork = `{"model":"m", "input":[
  {"type":"message","role":"developer","content":"s"},
  "plain",
  {"type":"message","role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two","prompt_cache_breakpoint":{"mode":"explicit"}}]},
  {"type":"reasoning","id":"rs_1","encrypted_content":"e","summary":[]},
  {"type":"function_call","id":"fc_1","call_id":"c1","name":"read","arguments":"{}"},
  {"type":"function_call_output","call_id":"c1","output":"first"},
  {"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"second"}]},
  {"type":"additional_tools","role":"developer","tools":[]},
  {"type":"local_shell_call_output","id":"c3","output":"{}"},
  {"type":"shell_call_output","call_id":"c4","output":[{"stdout":"o"}]},
  {"role":"assistant","content":"said"},
  {"type":"compaction_trigger"}
], "stream":true}`
)

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
		said  = `{"role":"user","content":"new"}`
		asked = `{"type":"message","role":"user","content":[{"type":"input_text","text":"new"}]}`
	)
	one := func(id string) map[string]string { return map[string]string{id: "new"} }
	tests := map[string]struct {
		kind, body string
		change     provider.Change
		was, now   string
	}{
		"chat: a string": {"chat", chatWork, provider.Change{At: 0, Texts: one("")}, `"a"`, `"new"`},
		"chat: blocks of text": {
			"chat", chatWork,
			provider.Change{At: 1, Texts: one("")},
			`[{"type":"text","text":"one"},{"type":"text","text":"two","cache_control":{"type":"ephemeral"}}]`,
			`[{"type":"text","text":"new","cache_control":{"type":"ephemeral"}}]`,
		},
		"chat: a result": {"chat", chatWork, provider.Change{At: 3, Texts: one("c1")}, `"first"`, `"new"`},
		"chat: a marked result": {
			"chat", chatWork,
			provider.Change{At: 4, Texts: one("c2")},
			`[{"type":"text","text":"second"},{"type":"text","text":"more","cache_control":{"type":"ephemeral"}}]`,
			`[{"type":"text","text":"new","cache_control":{"type":"ephemeral"}}]`,
		},
		"chat: a result without an id":     {"chat", chatWork, provider.Change{At: 7, Texts: one("")}, `"third"`, `"new"`},
		"chat: a result without content":   {"chat", chatWork, provider.Change{At: 8, Texts: one("c3")}, `"c3"`, `"c3","content":"new"`},
		"chat: reasoning that is gone":     {"chat", chatWork, provider.Change{At: 5, Gone: true}, `{"role":"assistant","content":"done","reasoning_content":"secret"},` + "\n  ", ""},
		"chat: something behind results":   {"chat", chatWork, provider.Change{At: 4, Behind: []string{"new"}}, `"c2"},`, `"c2"},` + said + ","},
		"items: a string":                  {"responses", itemWork, provider.Change{At: 0, Texts: one("")}, `"plain"`, `"new"`},
		"items: something behind a string": {"responses", itemWork, provider.Change{At: 0, Behind: []string{"new"}}, `"plain"`, `"plain",` + asked},
		"items: blocks of text": {
			"responses", itemWork,
			provider.Change{At: 1, Texts: one("")},
			`[{"type":"input_text","text":"one"},{"type":"input_text","text":"two","prompt_cache_breakpoint":{"mode":"explicit"}}]`,
			`[{"type":"input_text","text":"new","prompt_cache_breakpoint":{"mode":"explicit"}}]`,
		},
		"items: a result":           {"responses", itemWork, provider.Change{At: 4, Texts: one("c1")}, `"first"`, `"new"`},
		"items: a result of blocks": {"responses", itemWork, provider.Change{At: 5, Texts: one("c2")}, `[{"type":"input_text","text":"second"}]`, `"new"`},
		"items: a shell's result":   {"responses", itemWork, provider.Change{At: 6, Texts: one("c3")}, `"{}"}` + ",\n  " + `{"type":"shell`, `"new"}` + ",\n  " + `{"type":"shell`},
		"items: an answer":          {"responses", itemWork, provider.Change{At: 8, Texts: one("")}, `"said"`, `"new"`},
		"items: gone":               {"responses", itemWork, provider.Change{At: 2, Gone: true}, `{"type":"reasoning","id":"rs_1","encrypted_content":"e","summary":[]},` + "\n  ", ""},
		"input: another text":       {"responses", `{"input":"a"}`, provider.Change{Texts: one("")}, `"a"`, `"new"`},
		"input: something behind":   {"compact", `{"input":"a"}`, provider.Change{Behind: []string{"new"}}, `"a"`, `[{"role":"user","content":"a"},` + asked + `]`},
		"input: both":               {"responses", `{"input":"a"}`, provider.Change{Texts: one(""), Behind: []string{"new"}}, `"a"`, `[{"role":"user","content":"new"},` + asked + `]`},
		"input: gone":               {"count_tokens", `{"input":"a"}`, provider.Change{Gone: true}, `"a"`, `[]`},
		"input: something instead":  {"responses", `{"input":"a"}`, provider.Change{Gone: true, Behind: []string{"new"}}, `"a"`, `[` + asked + `]`},
		"behind an answer that the provider holds": {
			"responses", `{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"c","output":"o"}]}`,
			provider.Change{Texts: one("c"), Behind: []string{"new"}},
			`"o"}`, `"new"},` + asked,
		},
	}
	for name, test := range tests {
		want := strings.Replace(test.body, test.was, test.now, 1)
		if got, err := change(t, test.kind, test.body, test.change); err != nil || got != want || !strings.Contains(test.body, test.was) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

// TestNotEdited: what may not be changed is not, and the error says which message and why.
func TestNotEdited(t *testing.T) {
	const held = `{"previous_response_id":"r","input":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`
	own := map[string]string{"": "new"}
	behind := []string{"new"}
	tests := map[string]struct {
		kind, body string
		change     provider.Change
		why        string
	}{
		"between a call and its result":       {"chat", chatWork, provider.Change{At: 2, Behind: behind}, "results follow"},
		"between results":                     {"chat", chatWork, provider.Change{At: 3, Behind: behind}, "results follow"},
		"between results, instead of one":     {"chat", chatWork, provider.Change{At: 3, Gone: true, Behind: behind}, "results follow"},
		"reasoning":                           {"chat", chatWork, provider.Change{At: 5, Texts: own}, "reasoning"},
		"the developer":                       {"chat", chatWork, provider.Change{At: 6, Texts: own}, "system"},
		"a refusal":                           {"chat", chatWork, provider.Change{At: 9, Texts: own}, "refusal"},
		"calls without text":                  {"chat", chatWork, provider.Change{At: 2, Texts: own}, "no text of its own"},
		"a reasoning item":                    {"responses", itemWork, provider.Change{At: 2, Texts: own}, "reasoning"},
		"behind a reasoning item":             {"responses", itemWork, provider.Change{At: 2, Behind: behind}, "reasoning"},
		"a result of a shape of its own":      {"responses", itemWork, provider.Change{At: 7, Texts: map[string]string{"c4": "x"}}, "its kind"},
		"what asks for a compaction":          {"responses", itemWork, provider.Change{At: 9, Gone: true}, "only the provider"},
		"behind what asks for a compaction":   {"responses", itemWork, provider.Change{At: 9, Behind: behind}, "at the end"},
		"gone, with an answer that is held":   {"responses", held, provider.Change{At: 0, Gone: true}, "holds what stands before"},
		"behind, with an answer that is held": {"responses", held, provider.Change{At: 0, Behind: behind}, "holds what stands before"},
		"a prompt":                            {"completions", `{"prompt":"a"}`, provider.Change{Texts: own}, "no conversation"},
	}
	for name, test := range tests {
		got, err := change(t, test.kind, test.body, test.change)
		var refused *provider.EditError
		if !errors.As(err, &refused) || got != "" || refused.At != test.change.At || !strings.Contains(refused.Why, test.why) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.why)
		}
	}
	results := []provider.Change{{At: 2, Behind: behind}, {At: 3, Gone: true}, {At: 4, Gone: true}}
	if got, err := change(t, "chat", chatWork, results...); err != nil || !strings.Contains(got, `"new"`) {
		t.Errorf("behind a call whose results are gone: %q, %v", got, err)
	}
}

// TestEditRepairs: a result without a call, and a call without results, can be left out, and what stays holds no half of one.
// covers: V-07 part
func TestEditRepairs(t *testing.T) {
	const (
		good  = `{"role":"user","content":"a"}, {"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"n","arguments":"{}"}}]}, {"role":"tool","tool_call_id":"c1","content":"r"}`
		stray = `, {"role":"tool","tool_call_id":"c9","content":"of nothing"}`
		open  = `, {"role":"assistant","tool_calls":[{"id":"c2","function":{"name":"n","arguments":"{}"}}]}`
		on    = `, {"role":"user","content":"b"}`
	)
	got, err := change(t, "chat", `{"messages":[`+good+stray+open+on+`]}`,
		provider.Change{At: 3, Gone: true}, provider.Change{At: 4, Gone: true, Behind: []string{"It was broken off."}})
	want := `{"messages":[` + good + `, {"role":"user","content":"It was broken off."}` + on + `]}`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestEditLaws(t *testing.T) {
	providertest.Edits(t, Protocol{}, provider.Request{Type: provider.TypeChat}, chatWork)
	for _, kind := range []string{provider.TypeResponses, provider.TypeCompact, provider.TypeCountTokens} {
		providertest.Edits(t, Protocol{}, provider.Request{Type: kind}, itemWork)
		providertest.Edits(t, Protocol{}, provider.Request{Type: kind}, `{"input": "a" }`)
		providertest.Edits(t, Protocol{}, provider.Request{Type: kind}, strings.Replace(itemWork, `"model"`, `"previous_response_id":"r","model"`, 1))
	}
}

// TestEditsRecorded: the laws hold for what real agents sent.
func TestEditsRecorded(t *testing.T) {
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "transcripts", "openai-chat-requests", "*.jsonl"))
	if len(files) == 0 {
		t.Skip("no recorded requests; set AMBIT_SHARED")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range bytes.Lines(data) {
			found := provider.JSON(line).Find("request_params", "messages")
			body := found[0]
			if found[1] != nil {
				body = bytes.TrimSpace(line)
			}
			if n++; body != nil && n%6 <= 1 {
				t.Run(fmt.Sprint(filepath.Base(file), ":", n), func(t *testing.T) {
					providertest.Edits(t, Protocol{}, provider.Request{Type: provider.TypeChat}, string(body))
				})
			}
		}
	}
}

func FuzzEdit(f *testing.F) {
	list := slices.Concat(exchanges, richResponses, richChat)
	for kind, body := range map[string]string{provider.TypeChat: chatWork, provider.TypeResponses: itemWork} {
		list = append(list, providertest.Exchange{Body: body, Request: provider.Request{Type: kind}})
	}
	providertest.FuzzEdit(f, Protocol{}, list...)
}
