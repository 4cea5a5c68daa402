package replay

import (
	"fmt"
	"hash/fnv"
	"slices"

	"ambit/internal/conversation"
)

// Pins is how many texts are planted in each recording.
const Pins = 5

// pin is a text that the user said once and meant for good. It has quotes, a newline and characters that are not ASCII,
// because those are where texts are lost.
func pin(i int) string {
	rules := [Pins]string{
		"Never touch \"legacy/\": it is frozen — even for größere fixes.\nAsk first.",
		"Every message to users says \"bitte\" and ends with ✓.\nNo exceptions.",
		"The name is 'Ångström', never \"Angstrom\".\n\tIt stands in three files.",
		"Commit as \"チーム <team@example.com>\".\nNothing else is accepted.",
		"Prices are in €: \"1 234,50 €\", with a thin space.\nDo not convert.",
	}
	return fmt.Sprintf("Pinned rule %d: %s", i+1, rules[i])
}

// pinned are the turns at which the pins are planted, in order: chosen by what the conversation is, so that each replay
// of one recording has them at the same places.
func pinned(c *conversation.Conversation) (turns [Pins]int) {
	n := len(c.Turns)
	for i := range turns {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %d %d", c.Thread, n, i)
		turns[i] = int(h.Sum64() % uint64(n))
	}
	slices.Sort(turns[:])
	return turns
}
