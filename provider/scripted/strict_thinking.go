package scripted

// thought verifies that thinking is what was issued, and that what was issued with it stands behind it.
func (r *strictRequest) thought(turns []said, is issued) error {
	last := len(turns) - 1
	for last >= 0 && turns[last].role != "assistant" {
		last--
	}
	for i, t := range turns {
		if t.role != "assistant" {
			continue
		}
		for j, b := range t.blocks {
			if b.Type != "thinking" && b.Type != "redacted_thinking" {
				continue
			}
			at, ok := spot{}, false
			if b.Signature != nil {
				at, ok = is[*b.Signature]
			}
			if !ok || b.Thinking == nil || *b.Thinking != at.turn().thought {
				return wrong("messages.%d.content.%d: Invalid `signature` in `thinking` block", b.message, b.block)
			}
			if !followed(at.turn(), t.blocks[j+1:]) {
				if i == last {
					return wrong("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "+
						"These blocks must remain as they were in the original response.", b.message, b.block)
				}
				return wrong("messages.%d.content.%d: what stands behind this `thinking` block is not what was issued behind it", b.message, b.block)
			}
		}
	}
	return r.continued(turns, last, is)
}

// followed reports whether blocks begin with all that a turn issued behind its thought. What follows then may be of another turn,
// since one may stand behind the other without a word of the user's between them.
func followed(t turn, blocks []strictBlock) bool {
	if t.text != "" {
		if len(blocks) == 0 || blocks[0].Type != "text" || *blocks[0].Text != t.text {
			return false
		}
		blocks = blocks[1:]
	}
	if len(blocks) < len(t.calls) {
		return len(blocks) == 0 && t.fault.drops() // it broke off
	}
	for i, c := range t.calls {
		b := blocks[i]
		if b.Type != "tool_use" || b.Name != c.name || b.ID != "toolu_"+c.id && b.ID != "toolu_"+c.id+lost || !same(b.Input, c.args) && !t.fault.drops() {
			return false
		}
	}
	return true
}

// continued wants the last assistant message to begin with its thinking while its calls are being answered.
func (r *strictRequest) continued(turns []said, last int, is issued) error {
	if r.Thinking.Type != "enabled" || last < 0 || last == len(turns)-1 {
		return nil
	}
	for _, b := range turns[last].blocks {
		if b.Type != "tool_use" {
			continue
		}
		at, ok := is.call(b.ID)
		first := turns[last].blocks[0]
		if !ok || at.turn().thought == "" || first.Type == "thinking" || turns[last+1].blocks[0].Type != "tool_result" {
			return nil
		}
		return wrong("messages.%d.content.%d.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, "+
			"a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). "+
			"We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. "+
			"Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking", first.message, first.block, first.Type)
	}
	return nil
}
