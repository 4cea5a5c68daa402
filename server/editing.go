package server

import (
	"bytes"
	"io"
	"net/http"

	"ambit"
	"ambit/internal/selection"
	"ambit/provider"
)

// editable reports whether a request is of a kind that a policy edits: it has a conversation.
func editable(r *http.Request, to route) bool {
	if r.Method != http.MethodPost || r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 || r.ContentLength > maxDecoded {
		return false
	}
	switch ambit.Family(to.provider, r.Method, to.rest).Request(r.Method, to.rest, nil).Type {
	case provider.TypeMessages, provider.TypeResponses, provider.TypeChat, provider.TypeGenerate, provider.TypeCompact, provider.TypeCountTokens:
		return true
	}
	return false
}

// edits reports whether a request may be sent otherwise than it came: a policy edits, or it did before and what it did
// still stands.
func (s *Server) edits(r *http.Request, x *exchange) bool {
	return editable(r, x.to) && (s.recorder.policy.Name != selection.Record || s.recorder.stands(x.who))
}

// sending is what goes to the provider for a request.
type sending struct {
	body    []byte
	decoded bool // the content encoding that the client used is undone
}

// read takes the whole body of a request, has it recorded, and asks what is to be sent for it. What cannot be read whole, or
// is too large to be edited, goes on as it comes.
func (s *Server) read(x *exchange, out *http.Request) (*http.Request, error) {
	x.direct = true
	whole, err := readAll(io.LimitReader(x.body, maxDecoded+1), out.ContentLength)
	x.keep(whole)
	if err != nil || len(whole) > maxDecoded {
		x.hand()
		if err != nil {
			return nil, err
		}
		out.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(whole), x.body), x.body}
		return out, nil
	}
	x.arrived(nil)
	p := s.recorder.plan(x)
	if p.body == nil {
		p = sending{body: whole}
	}
	return p.put(out), nil
}

// readAll reads to the end, into as much memory as is announced.
func readAll(from io.Reader, announced int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, max(0, min(announced, maxPrepared))+bytes.MinRead))
	_, err := b.ReadFrom(from)
	return b.Bytes(), err
}

// put makes a body that of an outgoing request.
func (p sending) put(out *http.Request) *http.Request {
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(p.body)), int64(len(p.body)), nil
	if len(out.Trailer) > 0 {
		out.ContentLength = -1 // only what has no length announced can have a trailer
	}
	if p.decoded {
		out.Header = out.Header.Clone()
		out.Header.Del("Content-Encoding")
	}
	return out
}

// hand gives a request to the recorder that was not planned.
func (x *exchange) hand() {
	x.mu.Lock()
	direct := x.direct
	x.direct = false
	sealed := x.sealed
	x.mu.Unlock()
	if direct && sealed {
		x.r.enqueue(event{x: x})
	}
}
