package ambit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/provider"
	"ambit/provider/openai"

	"github.com/coder/websocket"
)

// overSocket sends a request as a message and hears the messages that answer it, on the connection that was kept or on a new
// one. What came is in the form of a stream of events, see framing. The connection is the hearing's unless it failed.
func (s *Session) overSocket(ctx context.Context, r *request, h *hearing) *provider.Failure {
	k := r.way.on
	if k == nil {
		var failure *provider.Failure
		if k, failure = s.dial(ctx, r, h); failure != nil {
			return failure
		}
	}
	h.f.Status, h.f.Headers = http.StatusSwitchingProtocols, k.headers
	k.conn.SetReadLimit(int64(h.most) + 1)
	err := k.conn.Write(ctx, websocket.MessageText, r.way.body)
	if err == nil {
		err = k.hear(ctx, r, h)
	}
	if err == nil && h.fault == nil {
		h.socket = k
		return nil
	}
	k.close()
	if err == nil {
		h.f.End, h.f.Error = entry.EndDropped, brief(h.fault.Error())
		return nil
	}
	if failure, said := errors.AsType[*provider.Failure](err); said && ctx.Err() == nil {
		h.f.End, h.f.Error = entry.EndDropped, brief(failure.Message)
		return failure
	}
	return h.broke(ctx, entry.EndDropped, err)
}

// dial opens a connection. A server that refuses has answered, and what it said is taken in, the first 1,024 bytes of it.
func (s *Session) dial(ctx context.Context, r *request, h *hearing) (*socket, *provider.Failure) {
	header := http.Header{"User-Agent": {agentOf}}
	for _, of := range r.family.Headers(r.model.Credential) {
		if of != provider.ContentType() {
			header.Set(of.Name, of.Value)
		}
	}
	conn, resp, err := websocket.Dial(ctx, r.url, &websocket.DialOptions{HTTPClient: s.engine.o.Client, HTTPHeader: header})
	if resp != nil {
		h.begins(resp)
	}
	switch {
	case err == nil:
		delete(h.f.Headers, "content-type") // of no body
		return newSocket(context.WithoutCancel(ctx), conn, r, h.f.Headers, s.engine.o.Now()), nil
	case resp == nil:
		return nil, h.broke(ctx, entry.EndNone, err)
	case resp.StatusCode == http.StatusSwitchingProtocols:
		h.f.End, h.f.Error = entry.EndNone, brief(err.Error())
		return nil, &provider.Failure{Kind: provider.Garbled, Message: err.Error()}
	}
	body, _ := io.ReadAll(resp.Body) // of memory, at most 1,024 bytes
	if err := h.take(body); err != nil {
		return nil, h.broke(ctx, entry.EndDropped, err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return nil, redirected(resp)
	}
	failure, failed := provider.ReadFailure(resp.StatusCode, h.f.Headers, body, s.engine.o.Now())
	if !failed {
		failure.Kind = provider.Garbled
	}
	failure.Message = strings.TrimSuffix("it opens no WebSocket; the transport sse does without: "+failure.Message, ": ")
	return nil, &failure
}

// hear hears the messages of an answer until it ends.
func (k *socket) hear(ctx context.Context, r *request, h *hearing) error {
	for begun := r.way.on == nil; ; {
		message, err := k.message(ctx, h)
		if err != nil {
			return err
		}
		if !utf8.Valid(message) {
			h.fault = &provider.ReplyError{Fault: provider.ReplyStrange, Why: "a message of it is not UTF-8"}
			return nil
		}
		if !begun {
			strays, begins := openai.Strays(message, k.last.id)
			if strays {
				return &provider.Failure{Kind: provider.Unreachable, Code: codeStray, Message: "the connection brought what is no answer to this"}
			}
			begun = begins
		}
		if openai.Ends(message) {
			h.tell()
			return nil
		}
	}
}

// codeStray is the code of what came behind the end of an answer.
const codeStray = "late event"

// message hears the next message, all of which it returns.
func (k *socket) message(ctx context.Context, h *hearing) (message []byte, err error) {
	var f framing
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case p, open := <-k.pieces:
			if !open {
				return nil, k.why()
			}
			if len(h.body) == 0 {
				h.f.FirstByteMS = h.s.engine.o.Now().Sub(h.began).Milliseconds()
			}
			if err := h.take(f.add(nil, p.data, p.last)); err != nil {
				return nil, err
			}
			if message = append(message, p.data...); p.last {
				return message, nil
			}
		}
	}
}

// why says why a connection that has ended has.
func (k *socket) why() error {
	var closed websocket.CloseError
	if errors.As(k.err, &closed) {
		f := provider.ReadClose(int(closed.Code), closed.Reason)
		return &f
	}
	if errors.Is(k.err, websocket.ErrMessageTooBig) {
		return errLong
	}
	return k.err
}

// framing puts messages into the form of a stream of events, in which recordings keep them: "data: ", the message, and an empty
// line. Behind each end of a line in the message itself stands another "data: "; so its bytes are all there, and can be told from
// what was added.
type framing struct {
	inside bool // of a line
}

// add adds a piece of a message.
func (f *framing) add(to, piece []byte, last bool) []byte {
	for len(piece) > 0 || last && !f.inside {
		if !f.inside {
			to = append(to, "data: "...)
		}
		end := bytes.IndexAny(piece, "\r\n") + 1
		if f.inside = end == 0; f.inside {
			end = len(piece)
		}
		to, piece = append(to, piece[:end]...), piece[end:]
	}
	if last {
		to = append(to, "\n\n"...)
	}
	return to
}
