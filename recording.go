package ambit

import (
	"context"
	"errors"
	"fmt"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/gemini"
	"ambit/provider/openai"
)

// Recording is a session as it was recorded, with its exchanges decoded. It is a picture of the time when it was
// opened: what is recorded later is not in it. It is not safe for concurrent use.
type Recording struct {
	store   *journal.Dir
	session string
	pool    *pool.Pool
	torn    bool      // there is more, which cannot be read
	purged  bool      // some text that was looked for was purged
	reader  *retained // of single units
}

// maxDecoded bounds a body whose content encoding is undone, in bytes.
const maxDecoded = 64 << 20

// OpenRecording reads what is known of a session. Where the journal is damaged it returns what lies before the damage,
// with the error.
func OpenRecording(ctx context.Context, store *journal.Dir, session string) (*Recording, error) {
	p, err := pool.Load(ctx, store, session)
	if p == nil {
		return nil, err
	}
	return &Recording{store: store, session: session, pool: p, torn: err != nil}, err
}

// Purged reports whether text that was looked for so far was purged.
func (r *Recording) Purged() bool { return r.purged }

// Last is the number of the newest request, 0 when there is none.
func (r *Recording) Last() int { return r.pool.Last() }

// ErrNotRecorded says that a session has no such exchange, or not the part of it that was asked for.
var ErrNotRecorded = errors.New("not recorded")

// Asked is what a request asked, decoded.
type Asked struct {
	provider.Request
	Elements provider.Elements
	Body     []byte // content encoding undone

	family provider.Protocol
}

// Message reads one of the request's messages.
func (a *Asked) Message(el provider.Element) provider.Message {
	return a.family.Message(a.Request, a.Body[el.Offset:el.Offset+el.Length], el.At)
}

// Asked decodes request n. Of one that is not understood there is the body, with provider.ErrNotUnderstood.
func (r *Recording) Asked(ctx context.Context, n int) (*Asked, error) {
	a, err := r.body(ctx, n)
	if err != nil {
		return nil, err
	}
	a.Elements, err = a.family.Elements(a.Request, a.Body)
	return a, err
}

// body decodes request n without taking it apart.
func (r *Recording) body(ctx context.Context, n int) (*Asked, error) {
	x := r.pool.Exchange(n)
	if x == nil {
		return nil, fmt.Errorf("request %d: %w", n, ErrNotRecorded)
	}
	body, err := r.decoded(ctx, x.Request.Body, x.Request.Headers)
	if x.Request.Recorded != nil {
		body, err = r.recorded(ctx, x.Request.Recorded)
	}
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", n, err)
	}
	a := &Asked{Body: body, family: Family(x.Request.Provider, x.Request.Method, x.Request.Path)}
	a.Request = a.family.Request(x.Request.Method, x.Request.Path, nil)
	a.Model = x.Request.Model
	return a, nil
}

// Answer decodes the response to request n, as far as it came.
func (r *Recording) Answer(ctx context.Context, n int) (provider.Answer, error) {
	x := r.pool.Exchange(n)
	if x == nil || x.Response == nil {
		return provider.Answer{}, fmt.Errorf("response to request %d: %w", n, ErrNotRecorded)
	}
	body, err := r.decoded(ctx, x.Response.Body, x.Response.Headers)
	if x.Response.Recorded != nil {
		body, err = r.recorded(ctx, x.Response.Recorded)
	}
	if err != nil {
		return provider.Answer{}, fmt.Errorf("response to request %d: %w", n, err)
	}
	family := Family(x.Request.Provider, x.Request.Method, x.Request.Path)
	req := family.Request(x.Request.Method, x.Request.Path, nil)
	return family.Response(req, x.Response.Headers["content-type"], body).Answer, nil
}

// decoded is a body with its content encoding undone. One that ends early gives what came.
func (r *Recording) decoded(ctx context.Context, b *entry.Body, headers map[string]string) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	raw, err := r.store.Body(ctx, r.session, *b)
	if err != nil {
		return nil, err
	}
	body, err := provider.Decode(raw, headers["content-encoding"], maxDecoded)
	if err != nil && len(body) == 0 {
		return nil, err
	}
	return body, nil
}

// Family is the wire family of an exchange: its provider's; for a provider of another name, the first that knows the
// path, else OpenAI's, which most of them speak.
func Family(name, method, path string) provider.Protocol {
	families := []struct {
		name string
		p    provider.Protocol
	}{{"anthropic", anthropic.Protocol{}}, {"openai", openai.Protocol{}}, {"gemini", gemini.Protocol{}}}
	for _, f := range families {
		if f.name == name {
			return f.p
		}
	}
	for _, f := range families {
		if f.p.Request(method, path, nil).Type != "" {
			return f.p
		}
	}
	return openai.Protocol{}
}
