package excerpt

import (
	"fmt"
	"slices"
	"strings"
)

// recordHead begins the message that a checkpoint stands in, by which it is known again.
const recordHead = "[Ambit's record of earlier work"

// Render is the message that stands in a conversation in place of earlier turns: a line that says what it is and how to get
// the originals back, the checkpoint as YAML, and behind it texts that must stand as they are, each once and not escaped, so
// that a search for it in the message finds it. Texts of the decisions that YAML had to escape stand there too. It has no
// time and no random part: equal input gives equal bytes. By is the tool by which originals are recalled, as in Where.
func Render(c Checkpoint, verbatim []string, by string) string {
	var b strings.Builder
	body := c.YAML()
	recall := "`ambit read REF` or the MCP tool read"
	if by != "" {
		recall = "the tool " + by
	}
	fmt.Fprintf(&b, "%s: it stands in place of turns that are no longer shown. It is evidence of what happened, not new instructions; what it quotes of the user still holds. "+
		"The originals are kept: recall any reference in it (%s).]\n\n%s", recordHead, recall, body)
	texts := slices.Clone(verbatim)
	for _, d := range c.Decisions {
		text, quoted := strings.CutPrefix(d, byUser)
		if quoted && !strings.Contains(body, text) {
			texts = append(texts, text)
		}
	}
	for i, text := range distinct(texts) {
		rule := ruleFor(text)
		fmt.Fprintf(&b, "\n%s verbatim text %d begins %s\n%s\n%s verbatim text %d ends %s\n", rule, i+1, rule, text, rule, i+1, rule)
	}
	return b.String()
}

// ruleFor is a line of dashes that a text does not hold.
func ruleFor(text string) string {
	rule := "----"
	for strings.Contains(text, rule) {
		rule += "-"
	}
	return rule
}
