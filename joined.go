package ambit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/provider"
	"ambit/provider/openai"
	"ambit/unit"
)

// errHeld says that nobody knows what a request goes on from.
var errHeld = errors.New("what the request goes on from is not known")

// Joined is request n of a session of Ambit's own as the provider understood it: its body, and where that has only what is new,
// because the provider held the rest, the message that would have had all of it, byte for byte. Who else led a session did not say
// in which bytes it would have sent an answer again: that is ErrRefused.
func (r *Recording) Joined(ctx context.Context, n int) ([]byte, error) {
	x := r.pool.Exchange(n)
	if x == nil {
		return nil, fmt.Errorf("request %d: %w", n, ErrNotRecorded)
	}
	if r.pool.Own == nil {
		return nil, sayf(ErrRefused, "session %s is not led by Ambit: what its requests go on from is not known byte for byte", r.session)
	}
	return whole(r.pool, x, asCame, func(b *entry.Body) ([]byte, error) { return r.decoded(ctx, b, nil) })
}

// understood decodes request n as the provider understood it. Where a part of that is gone, it is what the body says.
func (r *Recording) understood(ctx context.Context, n int) (*Asked, error) {
	a, err := r.Asked(ctx, n)
	if err != nil || a.Elements.Previous == "" || r.pool.Own == nil {
		return a, err
	}
	body, err := r.Joined(ctx, n)
	if err != nil {
		return a, nil // what it goes on from was purged
	}
	all := *a
	all.Body = body
	if all.Elements, err = a.family.Elements(a.Request, body); err != nil {
		return a, nil // so was a part of it
	}
	return &all, nil
}

// asCame is the body of a request as if nothing had been edited.
func asCame(x *pool.Exchange) *entry.Body { return x.Request.Body }

// asWent is the body that went.
func asWent(x *pool.Exchange) *entry.Body {
	if n := len(x.Sent); n > 0 && x.Sent[n-1].Body != nil {
		return x.Sent[n-1].Body
	}
	return x.Request.Body
}

// whole joins the messages that a request goes on from, each of which has a body.
func whole(p *pool.Pool, x *pool.Exchange, of func(*pool.Exchange) *entry.Body, read func(*entry.Body) ([]byte, error)) ([]byte, error) {
	var links []openai.Link
	for {
		body, err := read(of(x))
		if err != nil {
			return nil, fmt.Errorf("read request %d: %w", x.Request.N, err)
		}
		id := ""
		if x.Request.Type == provider.TypeResponses && x.Request.Method == http.MethodGet {
			id = provider.JSON(body).Find("previous_response_id")[0].Text()
		}
		if id == "" {
			if len(links) == 0 {
				return body, nil
			}
			slices.Reverse(links)
			all, err := openai.Join(body, links)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errHeld, err)
			}
			return all, nil
		}
		before := answerNamed(p, id, x.Request.N)
		if before == nil {
			return nil, fmt.Errorf("request %d: %w", x.Request.N, errHeld)
		}
		came, err := read(before.Response.Body)
		if err != nil {
			return nil, fmt.Errorf("read response %d: %w", before.Request.N, err)
		}
		answer, err := readAnswer(before, came)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errHeld, err)
		}
		links, x = append(links, openai.Link{Answer: answer, Message: body}), before
	}
}

// answerNamed is the newest exchange before a request whose answer has an id.
func answerNamed(p *pool.Pool, id string, before int) *pool.Exchange {
	for i := len(p.Units) - 1; i >= 0; i-- {
		if u := &p.Units[i]; u.Of == entry.PartAnswer && u.Name == id && u.N < before {
			return p.Exchange(u.N)
		}
	}
	return nil
}

// readAnswer reads the answer of an exchange as later requests hold it.
func readAnswer(x *pool.Exchange, body []byte) (unit.Unit, error) {
	family := Family(x.Request.Provider, x.Request.Method, x.Request.Path)
	r, err := replyOf(family, family.Request(x.Request.Method, x.Request.Path, nil), x.Response.Headers["content-type"], body)
	return r.Unit, err
}
