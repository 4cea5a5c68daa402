package anthropic

import (
	"ambit/provider"
	"ambit/unit"
)

// Contract is that of Messages, by Anthropic's public API reference (Messages, Tool use, Extended thinking, Mid-conversation
// system messages): the results of an answer stand in the user message that follows it, in front of its text; messages of
// one role that follow each other are one, so roles need not alternate; the first is the user's; a system message stands
// behind a user's; reasoning goes back with the answer it is of.
func (Protocol) Contract(req provider.Request) unit.Contract {
	switch req.Type {
	case provider.TypeMessages, provider.TypeCountTokens:
		return unit.Contract{Bound: true, Results: unit.Next, Begin: unit.User, System: unit.AfterUser}
	}
	return provider.Whole()
}
