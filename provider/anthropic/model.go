package anthropic

import "strings"

// systemModels are the beginnings of the names of models that take a message of the role system behind a user's, as
// Anthropic's documentation had it in 2026-10: Opus 4.8 and later, Fable and Mythos; not Sonnet 5.
var systemModels = []string{"claude-opus-4-8", "claude-opus-5", "claude-fable-5", "claude-mythos-5"}

// TakesSystem reports whether a model takes system messages inside the conversation. To others they are told as the user's
// text: LowerParams.Wrap.
func TakesSystem(model string) bool {
	for _, begins := range systemModels {
		if rest, is := strings.CutPrefix(model, begins); is && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return true
		}
	}
	return false
}
