package server

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"ambit/internal/reading"
	"ambit/internal/thread"
	"ambit/provider"
)

const (
	// maxLooks and maxLooked bound the answers, and their bytes, that are looked at for one request though nothing says
	// that it goes on from them and they have not come to their end.
	maxLooks  = 16
	maxLooked = 4 << 20
	// maxEnding is how much of a stream's end is searched for its last event, in bytes.
	maxEnding = 4 << 10
)

// endings stand in the last events of streams.
var endings = [][]byte{
	[]byte("message_stop"), []byte("response.completed"), []byte("response.incomplete"), []byte("response.failed"), []byte("[DONE]"),
	[]byte("finish_reason"), []byte("finishReason"),
}

// coming is an answer that is still under way, as far as it has come.
type coming struct {
	at                    int
	x                     *exchange
	body                  []byte
	contentType, encoding string
	likely                bool // the request may go on from it, by its messages
}

// look tells the index what has come so far of answers that are still under way and could matter to the place of a
// request: a client goes on as soon as it has read the last event, which may be before the recorder has. p is the place
// that was found without.
//
// To look is to decode from the beginning. So where a parent was found that the request simply goes on from, only that and
// its like are looked at; else all whose end has come, and the newest of the others.
func (s *space) look(q thread.Request, p thread.Place) (more bool) {
	simple := p.Parent != thread.None && p.Relation == thread.Extends && (q.Previous == "" || p.Evidence == thread.ByName)
	var others []coming
	for at, x := range s.live {
		if !s.index.Pending(at) || thread.Wire(s.index.Node(at).Key) != thread.Wire(q.Key) {
			continue
		}
		c := coming{at: at, x: x, likely: s.alike(at, p.Parent)}
		left := x.ctx.Err() != nil // before the look: what came until then is all
		c.body, c.contentType, c.encoding = x.sofar()
		grown, ended := len(c.body) > x.looked, false
		if grown && (!simple || c.likely) {
			ended = c.ended()
		}
		switch {
		case left:
			if more = true; grown {
				s.learn(c)
			}
			if s.index.Pending(at) {
				s.index.Failed(at)
			}
		case !grown || simple && !c.likely:
		case ended && (c.likely || !x.finished), c.likely && c.due():
			more, x.finished = true, ended
			s.learn(c)
		case c.due():
			others = append(others, c)
		}
	}
	slices.SortFunc(others, func(a, b coming) int { return cmp.Compare(b.at, a.at) })
	size := 0
	for _, c := range others[:min(len(others), maxLooks)] {
		if size += len(c.body); size > maxLooked {
			break
		}
		more = true
		s.learn(c)
	}
	return more
}

// alike reports whether a node is another, or holds the same messages.
func (s *space) alike(at, other int) bool {
	if at == other || other == thread.None {
		return at == other
	}
	a, b := s.index.Node(at), s.index.Node(other)
	return a.Key == b.Key && a.Chain == b.Chain
}

// learn tells the index of an answer what has come of it.
func (s *space) learn(c coming) {
	c.x.looked = len(c.body)
	plain, _ := provider.Decode(c.body, c.encoding, maxDecoded) // what could be decoded, of what came
	s.index.Answering(c.at, reading.Answer(c.x.family.Response(c.x.q, c.contentType, plain).Answer))
}

// due reports whether enough has come since an answer was looked at: so all looks together cost a few times what the last
// does. What is compressed does not show its end, so of what is likely all counts.
func (c *coming) due() bool {
	return len(c.body)-c.x.looked > c.x.looked/4 || c.encoding != "" && c.likely
}

// ended reports whether the last event of an answer seems to have come.
func (c *coming) ended() bool {
	body := bytes.TrimRight(c.body, "\r\n")
	if len(body) == 0 || c.encoding != "" {
		return false
	}
	if !strings.HasPrefix(c.contentType, "text/event-stream") {
		return bytes.IndexByte([]byte("}]"), body[len(body)-1]) >= 0 && (body[0] == '[') == (body[len(body)-1] == ']')
	}
	last := body[max(0, bytes.LastIndex(body, []byte("\ndata:"))):]
	for _, part := range [][]byte{last[:min(len(last), maxEnding)], body[max(0, len(body)-maxEnding):]} {
		for _, ending := range endings {
			if bytes.Contains(part, ending) {
				return true
			}
		}
	}
	return false
}
