package scripted

import (
	"slices"

	json "github.com/go-json-experiment/json/v1"
)

// unsigned are the signatures that Google lets stand for one that a client does not have. Source: Gemini's documentation of
// thought signatures, 2026.
func unsigned(signature string) bool {
	return signature == "skip_thought_signature_validator" || signature == "context_engineering_is_the_way_to_go"
}

// verifyGemini refuses what Google refuses.
func verifyGemini(body []byte, is issued) error {
	var r struct {
		Contents []geminiContent `json:"contents"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return wrong("Invalid JSON payload received. %v", err)
	}
	if len(r.Contents) == 0 {
		return wrong("* GenerateContentRequest.contents: contents is not specified\n")
	}
	for i, c := range r.Contents {
		if err := c.verify(i); err != nil {
			return err
		}
	}
	if last := r.Contents[len(r.Contents)-1].Role; last != "user" && last != "" {
		return wrong("Please ensure that single turn requests end with a user role or the role field is empty.")
	}
	if err := pairedContents(r.Contents); err != nil {
		return err
	}
	return signed(r.Contents, is)
}

// verify verifies a content by itself.
func (c geminiContent) verify(at int) error {
	if !slices.Contains([]string{"", "user", "model", "function"}, c.Role) {
		return wrong("Please use a valid role: user, model.")
	}
	if len(c.Parts) == 0 {
		return wrong("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", at)
	}
	for j, p := range c.Parts {
		switch {
		case p.Call != nil && c.Role != "model":
			return wrong("Please ensure that function call parts are in a content of the role model.")
		case p.Call != nil && p.Call.Name == "":
			return wrong("* GenerateContentRequest.contents[%d].parts[%d].function_call.name: Name cannot be empty.\n", at, j)
		case p.Response != nil && p.Response.Name == "":
			return wrong("* GenerateContentRequest.contents[%d].parts[%d].function_response.name: Name cannot be empty.\n", at, j)
		case p.Response != nil && (len(p.Response.Response) == 0 || p.Response.Response[0] != '{'):
			return wrong("Invalid value at 'contents[%d].parts[%d].function_response.response' (type.googleapis.com/google.protobuf.Struct)", at, j)
		}
	}
	return nil
}

// counted are the calls and the results of a content.
func (c geminiContent) counted() (calls, results int) {
	for _, p := range c.Parts {
		if p.Call != nil {
			calls++
		}
		if p.Response != nil {
			results++
		}
	}
	return calls, results
}

// pairedContents wants as many results as calls directly behind them, and calls only behind the user or results.
func pairedContents(contents []geminiContent) error {
	open := 0
	for i, c := range contents {
		calls, results := c.counted()
		switch {
		case results > 0 && open == 0:
			return wrong("Please ensure that function response turn comes immediately after a function call turn.")
		case results != open:
			return wrong("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		case calls > 0 && (i == 0 || contents[i-1].Role == "model"):
			return wrong("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		open = calls
		if results > 0 && !sameNames(contents[i-1], c) {
			return wrong("Please ensure that the names of the function response parts are those of the function call parts of the function call turn.")
		}
	}
	if open > 0 {
		return wrong("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	}
	return nil
}

// sameNames reports whether results are named as the calls before them, and have their ids where they have any.
func sameNames(calls, results geminiContent) bool {
	var want, got []string
	for _, p := range calls.Parts {
		if p.Call != nil {
			want = append(want, p.Call.Name)
		}
	}
	for _, p := range results.Parts {
		if p.Response != nil {
			got = append(got, p.Response.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	return slices.Equal(want, got)
}

// signed wants each signature on what it was issued with, and on the first call of each step of the current turn, which begins
// with what the user said last.
func signed(contents []geminiContent, is issued) error {
	current := 0
	for i, c := range contents {
		_, results := c.counted()
		if c.Role != "model" && results == 0 {
			current = i
		}
	}
	for i, c := range contents {
		first := true
		for j, p := range c.Parts {
			if p.Signature != "" && !unsigned(p.Signature) && (p.Call == nil || !carries(is, p)) {
				return wrong("Corrupted thought signature.")
			}
			if p.Call == nil {
				continue
			}
			at, ok := is.call(p.Call.ID)
			if first && ok && at.turn().thought != "" && i > current && p.Signature == "" {
				return wrong("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "+
					"and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. "+
					"Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", p.Call.Name, j+1)
			}
			first = false
		}
	}
	return nil
}

// carries reports whether the signature of a call is the one that was issued with it.
func carries(is issued, p geminiPart) bool {
	at, ok := is[p.Signature]
	if !ok || len(at.turn().calls) == 0 {
		return false
	}
	c := at.turn().calls[0]
	return p.Call.Name == c.name && (same(p.Call.Args, c.args) || at.turn().fault.drops())
}
