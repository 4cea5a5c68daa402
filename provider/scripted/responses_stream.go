package scripted

// responseEvent is one event of the stream; only the members of its type are set.
type responseEvent struct {
	Type      string      `json:"type"`
	Number    int         `json:"sequence_number"`
	Response  *response   `json:"response,omitempty"`
	Index     *int        `json:"output_index,omitempty"`
	Item      *outputItem `json:"item,omitempty"`
	ItemID    string      `json:"item_id,omitempty"`
	Content   *int        `json:"content_index,omitempty"`
	Summary   *int        `json:"summary_index,omitempty"`
	Part      any         `json:"part,omitempty"`
	Delta     string      `json:"delta,omitempty"`
	Text      *string     `json:"text,omitempty"`
	Arguments *string     `json:"arguments,omitempty"`
}

// events spells a response as OpenAI streams it.
func (r response) events() []sent {
	var out []sent
	say := func(kind string, e responseEvent) {
		e.Type, e.Number = kind, len(out)
		out = append(out, sent{name: kind, data: e})
	}
	head := r
	head.Status, head.Output, head.Usage = "in_progress", []outputItem{}, nil
	say("response.created", responseEvent{Response: &head})
	say("response.in_progress", responseEvent{Response: &head})
	for i, item := range r.Output {
		sayItem(say, i, item)
	}
	say("response.completed", responseEvent{Response: &r})
	return out
}

// sayItem streams an item.
func sayItem(say func(string, responseEvent), i int, item outputItem) {
	open := item
	switch {
	case item.Summary != nil:
		open.Summary = &[]summary{}
	case item.Content != nil:
		open.Status, open.Content = "in_progress", &[]outputText{}
	default:
		open.Status, open.Arguments = "in_progress", new(string)
	}
	say("response.output_item.added", responseEvent{Index: &i, Item: &open})
	switch {
	case item.Summary != nil:
		saySummary(say, i, item)
	case item.Content != nil:
		sayText(say, i, item)
	default:
		for _, p := range pieces(*item.Arguments) {
			say("response.function_call_arguments.delta", responseEvent{Index: &i, ItemID: item.ID, Delta: p})
		}
		say("response.function_call_arguments.done", responseEvent{Index: &i, ItemID: item.ID, Arguments: item.Arguments})
	}
	say("response.output_item.done", responseEvent{Index: &i, Item: &item})
}

// saySummary streams the one text that is shown of a thought.
func saySummary(say func(string, responseEvent), index int, item outputItem) {
	at, whole := responseEvent{Index: &index, ItemID: item.ID, Summary: new(int)}, (*item.Summary)[0]
	begin, end, done := at, at, at
	begin.Part, end.Text, done.Part = summary{whole.Type, ""}, &whole.Text, whole
	say("response.reasoning_summary_part.added", begin)
	for _, p := range pieces(whole.Text) {
		delta := at
		delta.Delta = p
		say("response.reasoning_summary_text.delta", delta)
	}
	say("response.reasoning_summary_text.done", end)
	say("response.reasoning_summary_part.done", done)
}

// sayText streams the one text of a message.
func sayText(say func(string, responseEvent), index int, item outputItem) {
	at, whole := responseEvent{Index: &index, ItemID: item.ID, Content: new(int)}, (*item.Content)[0]
	part := whole
	part.Text = ""
	begin, end, done := at, at, at
	begin.Part, end.Text, done.Part = part, &whole.Text, whole
	say("response.content_part.added", begin)
	for _, p := range pieces(whole.Text) {
		delta := at
		delta.Delta = p
		say("response.output_text.delta", delta)
	}
	say("response.output_text.done", end)
	say("response.content_part.done", done)
}
