package scripted

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/coder/websocket"
)

// upgrades reports whether a request is to open a WebSocket.
func upgrades(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// line is a connection of a client: what it holds of the answer before.
type line struct {
	id       string                     // of the answer; empty when it holds none
	settings map[string]json.RawMessage // of the request that was answered: all but its input
	items    []json.RawMessage          // what that held, with the answer behind it
}

// serveSocket answers the messages of a connection, one after the other, until the client closes it.
func (p *Provider) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // it has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(MaxBody)
	l := line{}
	for {
		_, body, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		p.hear(http.MethodGet, r.URL.RequestURI(), body)
		a := p.message(r, &l, body)
		if a.refused != nil {
			a.events = []sent{{data: errorEvent(*a.refused)}}
		}
		if a.drop {
			a.events = a.events[:lastDelta(a.events)]
		}
		for _, e := range a.events {
			text, err := marshal(e.data)
			if err != nil || conn.Write(r.Context(), websocket.MessageText, text) != nil {
				return
			}
		}
		if a.drop {
			return
		}
	}
}

// message answers one, and holds the answer. What fails takes what is held with it.
func (p *Provider) message(r *http.Request, l *line, body []byte) played {
	held := *l
	*l = line{}
	settings, items, err := held.join(body)
	var req request
	if err == nil && p.options.Strict {
		if err = whole(int64(len(body)), body); err == nil {
			err = held.alike(settings)
		}
	}
	if err == nil {
		req, err = p.joined(r, settings, items)
	}
	if err != nil {
		f := invalid(err)
		p.note(Refusal{Path: r.URL.Path, Status: f.Status, Message: f.Message})
		return played{refused: &f}
	}
	a := p.play(r.URL.Path, &responsesWire, &req)
	if answer, is := a.whole.(response); is && !a.drop {
		l.id, l.settings, l.items = answer.ID, settings, items
		for _, item := range answer.Output {
			raw, err := marshal(item)
			if err != nil {
				return played{refused: &Fault{Status: http.StatusInternalServerError, Message: err.Error()}}
			}
			l.items = append(l.items, raw)
		}
	}
	return a
}

// join takes a message apart, and puts what is held in front of its input where it names the answer before.
func (l *line) join(body []byte) (settings map[string]json.RawMessage, items []json.RawMessage, err error) {
	if err := json.Unmarshal(body, &settings); err != nil {
		return nil, nil, wrong("the message is not valid JSON: %v", err)
	}
	if kind := string(settings["type"]); kind != `"response.create"` {
		return nil, nil, &mistake{fmt.Sprintf("Invalid value: %s. Supported values are: 'response.create'.", kind), "invalid_value", "type"}
	}
	for _, name := range []string{"stream", "background"} {
		if _, has := settings[name]; has {
			return nil, nil, &mistake{fmt.Sprintf("Unknown parameter: '%s'.", name), "unknown_parameter", name}
		}
	}
	if items, err = inputItems(settings["input"]); err != nil {
		return nil, nil, err
	}
	if raw := settings["previous_response_id"]; isSet(raw) {
		var id string
		if err := json.Unmarshal(raw, &id); err != nil || id == "" || id != l.id {
			return nil, nil, &mistake{fmt.Sprintf("Previous response with id '%s' not found.", id), "previous_response_not_found", "previous_response_id"}
		}
		items = slices.Concat(l.items, items)
	} else {
		*l = line{}
	}
	maps.DeleteFunc(settings, func(name string, _ json.RawMessage) bool {
		return slices.Contains([]string{"type", "input", "previous_response_id"}, name)
	})
	return settings, items, nil
}

// alike wants a request that goes on from another to have the settings of that, which is more than the real API does.
func (l *line) alike(settings map[string]json.RawMessage) error {
	if l.id == "" || maps.EqualFunc(l.settings, settings, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return nil
	}
	return wrong("the request goes on from %s, and has other settings", l.id)
}

// joined reads a request as it would be if nothing were held.
func (p *Provider) joined(r *http.Request, settings map[string]json.RawMessage, items []json.RawMessage) (request, error) {
	input, err := marshal(items)
	if err != nil {
		return request{}, err
	}
	all := maps.Clone(settings)
	all["input"], all["stream"] = input, json.RawMessage("true")
	body, err := marshal(all)
	if err != nil {
		return request{}, err
	}
	if p.options.Strict {
		if err := verifyResponses(body, p.issued); err != nil {
			return request{}, err
		}
	}
	req, err := decodeResponses(r.URL.RequestURI(), body, p.issued)
	req.prefix.per = p.options.BytesPerToken
	return req, err
}

// errorEvent is an error as OpenAI sends it over a WebSocket: with the status, and the headers, that it would have over HTTP.
func errorEvent(f Fault) any {
	e := map[string]any{"type": "error", "status": f.Status}
	if said, is := responseRefusal(f).(map[string]any); is {
		maps.Copy(e, said)
	}
	if f.RetryAfter != "" {
		e["headers"] = map[string]string{"retry-after": f.RetryAfter}
	}
	return e
}
