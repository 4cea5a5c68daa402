package openai

import (
	"ambit/provider"
	"ambit/unit"
)

// Contract is that of Chat Completions or of Responses, by OpenAI's public API reference. In Chat the tool messages follow
// the assistant's directly; in Responses the output of a call may stand anywhere behind it, and a reasoning item goes with
// the items that it led to. Neither asks for a beginning, and system and developer messages may stand anywhere. A request
// with previous_response_id may leave nothing out: provider.ContractOf.
func (Protocol) Contract(req provider.Request) unit.Contract {
	switch req.Type {
	case provider.TypeChat:
		return unit.Contract{Results: unit.Directly}
	case provider.TypeResponses, provider.TypeCompact, provider.TypeCountTokens:
		return unit.Contract{Bound: true}
	}
	return provider.Whole()
}
