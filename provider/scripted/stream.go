package scripted

import (
	"io"
	"net/http"
	"strconv"
	"strings"
)

// sent is one event of a stream.
type sent struct {
	name string // empty where the wire names no events
	data any    // verbatim, or what becomes JSON
	part bool   // it carries a part of a block, where its name does not tell
}

// verbatim is a text that is sent as it stands.
type verbatim string

// stream sends events, one flush each. A write error means that the client left, which is its right.
func stream(w http.ResponseWriter, events []sent, drop bool) {
	w.Header().Set("content-type", "text/event-stream; charset=utf-8")
	w.Header().Set("cache-control", "no-cache")
	w.WriteHeader(http.StatusOK)
	if drop {
		events = events[:lastDelta(events)]
	}
	flusher := http.NewResponseController(w)
	for _, e := range events {
		text, err := e.text()
		if err != nil {
			return
		}
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		_ = flusher.Flush() // a writer that cannot flush gets the events all the same
	}
	if drop {
		panic(http.ErrAbortHandler)
	}
}

// text is an event as it stands in a stream.
func (e sent) text() (string, error) {
	name := ""
	if e.name != "" {
		name = "event: " + e.name + "\n"
	}
	if v, ok := e.data.(verbatim); ok {
		return name + "data: " + string(v) + "\n\n", nil
	}
	raw, err := marshal(e.data)
	return name + "data: " + string(raw) + "\n\n", err
}

// lastDelta is the place of the last event that carries a part of a block or an item.
func lastDelta(events []sent) int {
	for i := len(events) - 1; i > 0; i-- {
		if name := events[i].name; events[i].part || name == "content_block_delta" || strings.HasSuffix(name, ".delta") {
			return i
		}
	}
	return 0
}

// dropReply begins an answer that is not streamed, and breaks the connection.
func dropReply(w http.ResponseWriter, v any) {
	raw, err := marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("content-type", "application/json")
	w.Header().Set("content-length", strconv.Itoa(len(raw)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(raw[:len(raw)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
