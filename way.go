package ambit

import (
	"errors"
	"fmt"
	"net/http"

	"ambit/provider"
	"ambit/provider/openai"
)

// way is how an attempt goes. All ways of a request are cut from one body: what they have in common has the same bytes.
type way struct {
	body []byte // what travels
	all  []byte // what would, if nothing were edited, and nothing left out that the provider holds

	socket    bool    // it is a message over a WebSocket, else a body over HTTP
	whole     []byte  // the message, if nothing were left out that the provider holds
	keeps     bool    // the connection is kept for the next request
	on        *socket // the connection; nil for a new one
	continues bool    // what the provider holds is left out
	heard     bool    // something of the answer has come
}

// line is the session's connection, and what it has learnt about it.
type line struct {
	socket  *socket // nil for none
	refused string  // the URL at which no WebSocket was to be had; empty for none
}

// opens finds over what the next attempt travels. The caller holds mu.
func (s *Session) opens(r *request) (w way, err error) {
	transport, refused := r.model.Transport, s.line.refused == r.url
	w.all = r.whole
	var k *socket
	if r.beside == nil {
		k, s.line.socket = s.line.socket, nil
	}
	switch {
	case transport == "", transport == TransportSSE, !hasSocket(r.model.Type), transport == TransportAuto && refused:
	default:
		w.socket, w.keeps = true, transport != TransportWebSocket && r.beside == nil
	}
	if k != nil && (!w.keeps || !k.serves(r, s.engine.o.Now())) {
		k.close()
		k = nil
	}
	if w.on = k; !w.socket {
		return w, nil
	}
	if w.all, err = openai.Create(r.whole); err != nil {
		return w, fmt.Errorf("the request cannot go over a WebSocket: %w", err)
	}
	return w, nil
}

// fill makes what travels, of what is to be sent.
func (w *way) fill(r *request) (err error) {
	if w.body = r.body; !w.socket {
		return nil
	}
	if w.whole, err = openai.Create(r.body); err != nil {
		return fmt.Errorf("the request cannot go over a WebSocket: %w", err)
	}
	w.body = w.whole
	if w.on == nil {
		return nil
	}
	if message, is := openai.Continue(w.whole, w.on.last.message, w.on.last.answer, w.on.last.id); is {
		w.body, w.continues = message, true
	}
	return nil
}

// units are the messages of a body that are new, of which the request has as many at its end.
func (w *way) units(r *request, body []byte) ([]provider.Element, error) {
	if !w.socket {
		return r.units, nil
	}
	e, err := r.family.Elements(r.asked, body)
	if err != nil {
		return nil, fmt.Errorf("read the message that was made: %w", err)
	}
	return e.Messages[max(0, len(e.Messages)-len(r.units)):], nil
}

// drop closes the connection of a way that is not gone.
func (w *way) drop() {
	if w.on != nil {
		w.on.close()
	}
}

// method is that of the request by which the way is opened, and its headers are what the journal keeps of them.
func (w *way) method() (method string, headers map[string]string) {
	if w.socket {
		return http.MethodGet, map[string]string{"upgrade": "websocket"}
	}
	return http.MethodPost, map[string]string{"content-type": "application/json"}
}

// otherwise reports whether a request that has failed goes again at once, another way: whole, where the provider no longer holds
// what it went on from; on another connection, where the one that was kept had died; and over HTTP, where that may be and no
// WebSocket is to be had. Once something of an answer has come, none of these but the first, and a connection that is too old.
func (s *Session) otherwise(r *request, err error) bool {
	failure, failed := errors.AsType[*provider.Failure](err)
	if !failed || !r.way.socket {
		return false
	}
	kept := r.way.on != nil
	switch {
	case failure.Kind == provider.Forgot:
		return r.way.continues
	case failure.Code == codeAged, failure.Code == codeStray:
		return kept
	case r.way.heard:
		return false
	case kept:
		return true
	case r.model.Transport != TransportAuto, failure.Kind == provider.RateLimited, failure.Code == codeAbsent,
		failure.Status == http.StatusUnauthorized, failure.Status == http.StatusPaymentRequired:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.refused = r.url
	return true
}

// codeAged is OpenAI's word for a connection that is too old.
const codeAged = "websocket_connection_limit_reached"

// leave keeps the connection of an answer that can be gone on from, and closes any other.
func (s *Session) leave(r *request, h *hearing, id string, reply *provider.Reply) {
	k := h.socket
	if k == nil {
		return
	}
	if r.way.keeps && id != "" && reply != nil && reply.Reason == "completed" {
		k.last = heldAnswer{id, r.way.whole, reply.Unit}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.broken == nil {
			s.line.socket = k
			return
		}
	}
	k.close()
}
