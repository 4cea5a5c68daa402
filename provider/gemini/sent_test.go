package gemini

import (
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/providertest"
	"ambit/unit"
	"ambit/view"
)

// generate is what the laws of requests are to know.
var generate = providertest.Wire{
	Protocol: Protocol{}, Type: provider.TypeGenerate, Failed: true,
	Thinking: []provider.Member{{Name: "generationConfig", Value: []byte(`{"thinkingConfig":{"includeThoughts":true}}`)}},
	Thought:  `{"text":"","thoughtSignature":"c2ln"}`,
}

// covers: S-16 part
// covers: V-02 part
// covers: V-09 part
func TestLowering(t *testing.T) { providertest.Lowering(t, generate) }

// covers: S-16 part
func TestTalk(t *testing.T) { providertest.Talk(t, generate, "", "gemini-3-pro") }

// TestLowered: the Example, word for word.
// covers: S-16 part
func TestLowered(t *testing.T) {
	providertest.Lowered(t, generate, provider.LowerParams{Model: "m", MaxTokens: 64, Rest: []provider.Member{{Name: "generationConfig", Value: []byte(`{"temperature":1,"maxOutputTokens":7}`)}}},
		`{"generationConfig":{"temperature":1,"maxOutputTokens":64},"systemInstruction":{"parts":[{"text":"You fix bugs."},{"text":"Be brief."},{"text":"It is Mon."}]},`,
		`"tools":[{"functionDeclarations":[{"name":"read","description":"Reads <a file>.","parametersJsonSchema":{"type":"object"}},{"name":"list"}]}],`,
		`"contents":[{"role":"user","parts":[{"text":"Fix a."}]},`,
		`{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"c1","name":"read","args":{"path":"ü"}}},{"functionCall":{"id":"c2","name":"list","args":{}}}]},`,
		`{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"list","response":{"error":"The tool failed and said nothing."}}},{"functionResponse":{"id":"c1","name":"read","response":{"error":"a\ud83d"}}},{"text":"<system-update>\nIt is &lt;Tue&gt;.\n</system-update>"}]},`,
		`{"role":"model","parts":[{"text":"Done."}]},`,
		`{"role":"user","parts":[{"text":"<system-update>\nIt is Wed.\n</system-update>"},{"text":"Thanks."},{"text":"Bye."},{"text":"Half is left."}]}]}`,
	)
}

// TestRefusals: what cannot be sent says whose it is, and why.
func TestRefusals(t *testing.T) {
	ask := unit.Unit{Ref: "e0", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}}}
	exchange := func(call, result unit.Part) []unit.Unit {
		return []unit.Unit{ask, {Ref: "e1", Role: unit.Assistant, Parts: []unit.Part{call}}, {Ref: "e2", Role: unit.Tool, Parts: []unit.Part{result}}}
	}
	says := func(role unit.Role, p unit.Part) []unit.Unit {
		return []unit.Unit{ask, {Ref: "e1", Role: role, Parts: []unit.Part{p}}}
	}
	result := unit.Part{Kind: unit.Result, ID: "c"}
	const spelled = `lower "e1": it is spelled as something else than it is`
	providertest.Refused(t, generate, map[string]providertest.Refusal{
		"arguments of no object": {Units: exchange(unit.Part{Kind: unit.Call, ID: "c", Name: "f", Args: []byte("7")}, result), Want: `lower "e1": the arguments are no JSON object`},
		"broken arguments":       {Units: exchange(unit.Part{Kind: unit.Call, ID: "c", Name: "f", Args: []byte("{")}, result), Want: `lower "e1": not understood: no name at byte 1`},
		"another call":           {Units: exchange(unit.Part{Kind: unit.Call, ID: "c", Name: "f", Raw: []byte(`{"functionCall":{"id":"d","name":"f"}}`)}, result), Want: spelled},
		"a call of another tool": {Units: exchange(unit.Part{Kind: unit.Call, ID: "c", Name: "f", Raw: []byte(`{"functionCall":{"name":"g"}}`)}, result), Want: spelled},
		"a hidden call":          {Units: says(unit.Assistant, unit.Part{Kind: unit.Opaque, Raw: []byte(`{"functionCall":{"id":"d","name":"f"}}`)}), Want: spelled},
		"a hidden result":        {Units: says(unit.User, unit.Part{Kind: unit.Opaque, Raw: []byte(`{"functionResponse":{"id":"d","name":"f"}}`)}), Want: spelled},
		"another text":           {Units: says(unit.User, unit.Part{Kind: unit.Text, Text: "b", Raw: []byte(`{"text":"c"}`)}), Want: spelled},
		"another's part":         {Units: says(unit.User, unit.Part{Kind: unit.Opaque, Raw: []byte(`{"type":"image"}`)}), Want: `lower "e1": it is spelled as another wire spells it`},
		"a part of nothing":      {Units: says(unit.User, unit.Part{Kind: unit.Opaque, Raw: []byte(`{}`)}), Want: `lower "e1": it is spelled as another wire spells it`},
		"opaque of nothing":      {Units: says(unit.User, unit.Part{Kind: unit.Opaque}), Want: `lower "e1": an opaque part says nothing of how it is spelled`},
		"a whole message":        {Units: []unit.Unit{{Ref: "e1", Role: unit.User, Raw: []byte(`{}`)}}, Want: `lower "e1": it is spelled as another wire spells it`},
	})
}

// TestResultsFirst: the results stand before what else their unit says.
func TestResultsFirst(t *testing.T) {
	v := view.View{}
	for _, u := range []unit.Unit{
		{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "a"}}},
		{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Call, ID: "c", Name: "f"}}},
		{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Text, Text: "b"}, {Kind: unit.Result, ID: "c", Text: "d"}}},
	} {
		v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u})
	}
	body, err := Protocol{}.Lower(v, provider.LowerParams{})
	if want := `"parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"d"}}},{"text":"b"}]}]}`; err != nil || !strings.HasSuffix(string(body), want) {
		t.Errorf("%s, %v", body, err)
	}
}
