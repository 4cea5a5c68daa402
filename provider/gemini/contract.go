package gemini

import (
	"ambit/provider"
	"ambit/unit"
)

// Contract is that of generateContent, by the public reference of the Gemini API (Content, Function calling, Thought
// signatures): the content with the functionResponses follows the one with the functionCalls directly, and holds one for
// each; the first content is the user's; the system has a member of its own; a thought's signature goes back with the
// parts of its answer.
func (Protocol) Contract(req provider.Request) unit.Contract {
	switch req.Type {
	case provider.TypeGenerate, provider.TypeCountTokens:
		return unit.Contract{Bound: true, Results: unit.Directly, Together: true, Begin: unit.User, System: unit.Leading}
	}
	return provider.Whole()
}
