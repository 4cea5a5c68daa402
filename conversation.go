package ambit

import (
	"context"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/provider"
)

// Conversations are the session's threads, each with who said what, as its requests held it and whole. What was purged or
// cannot be read stands as an empty message.
func (r *Recording) Conversations(ctx context.Context) []*conversation.Conversation {
	s := &retained{ctx: ctx, r: r, pool: r.pool}
	return conversation.Of(r.pool, conversation.Reader{
		Message: func(u *pool.Unit) (provider.Message, error) { return s.message(u) },
		Answer:  func(n int) (provider.Answer, error) { return r.Answer(ctx, n) },
		Body:    func(n int) ([]conversation.Element, error) { return r.elements(ctx, n) },
	})
}

// elements are the messages of a request whose body is known, nil where none is, or where it is no whole conversation.
func (r *Recording) elements(ctx context.Context, n int) ([]conversation.Element, error) {
	if r.Body(ctx, n) == nil {
		return nil, nil
	}
	a, err := r.understood(ctx, n)
	if err != nil || a.Elements.Previous != "" {
		return nil, err
	}
	list := make([]conversation.Element, len(a.Elements.Messages))
	for i, el := range a.Elements.Messages {
		list[i] = conversation.Element{Hash: el.Hash, Message: func() provider.Message { return a.Message(el) }}
	}
	return list, nil
}

// Body is the decoded body of a request of a conversation that passed, or that a log of requests has; nil where there is
// none.
func (r *Recording) Body(ctx context.Context, n int) []byte {
	x := r.pool.Exchange(n)
	if x == nil || x.Request.Body == nil && (x.Request.Recorded == nil || x.Request.Recorded.Length == 0) {
		return nil
	}
	a, err := r.body(ctx, n)
	if err != nil {
		return nil
	}
	return a.Body
}

// Format is how the session was recorded: FormatAmbit when it passed through the proxy, or the format of the recording
// that was imported.
func (r *Recording) Format() string {
	for i := range r.pool.Recordings {
		if rec := &r.pool.Recordings[i]; r.pool.Imported != nil || rec.Seq <= entry.Seq(len(r.pool.Units)) {
			return rec.Format
		}
	}
	return FormatAmbit
}
