package replay

import (
	"context"

	"ambit"
)

// OfSession makes the conversations of a session that Ambit recorded or imported.
func OfSession(ctx context.Context, name string, r *ambit.Recording) File {
	f := OfConversations(name, r.Format(), r.Conversations(ctx))
	f.Raw = func(n int) []byte { return r.Body(ctx, n) }
	return f
}
