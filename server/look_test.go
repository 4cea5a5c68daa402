package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ambit/internal/thread"
	"ambit/provider"
	"ambit/provider/anthropic"
)

// streams is a space with answers under way.
type streams struct {
	t *testing.T
	*space
}

// begin adds a request whose answer has come so far.
func (s *streams) begin(key, text, stream string) *exchange {
	s.t.Helper()
	q := asks(key, text)
	at := s.index.Add(q, s.index.Place(q), thread.Node{Session: "s", N: s.index.Len() + 1, Thread: fmt.Sprint("t", s.index.Len()+1)})
	x := &exchange{
		ctx: context.Background(), status: http.StatusOK, back: http.Header{"Content-Type": {"text/event-stream"}},
		family: anthropic.Protocol{}, q: provider.Request{Type: provider.TypeMessages},
	}
	x.response.bytes = []byte(stream)
	s.live[at] = x
	return x
}

func asks(key string, texts ...string) thread.Request {
	q := thread.Request{Key: key, Tools: true, Read: func(i int) thread.Message { return thread.Message{Said: texts[i]} }}
	for _, text := range texts {
		var h thread.Hash
		copy(h[:], text)
		q.Elements = append(q.Elements, h)
	}
	return q
}

const (
	streamHead = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	streamTail = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func streamPiece(n int) string {
	text, _ := json.Marshal(strings.Repeat("word ", n/5))
	return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":" + string(text) + "}}\n\n"
}

// TestLooksAtFew has many answers under way while a conversation begins: a few of them are decoded, and none again before it
// has grown by a quarter or come to its end.
func TestLooksAtFew(t *testing.T) {
	s := &streams{t, newSpace("k", nil)}
	var all []*exchange
	for i := range 100 {
		all = append(all, s.begin("messages", fmt.Sprint("task ", i), streamHead+streamPiece(1000)))
	}
	foreign := s.begin("chat", "task of another wire", streamHead)
	decoded := func() (n int) {
		for _, x := range all {
			if x.looked > 0 {
				n++
			}
		}
		return n
	}
	s.place(asks("messages", "another task"))
	if n := decoded(); n != maxLooks || foreign.looked > 0 {
		t.Fatalf("%d answers were looked at, want %d", n, maxLooks)
	}
	newest := all[len(all)-1]
	if newest.looked == 0 {
		t.Fatal("the newest was not among them")
	}
	was := newest.looked
	newest.response.bytes = append(newest.response.bytes, streamPiece(10)...)
	s.place(asks("messages", "a third task"))
	if newest.looked != was {
		t.Error("an answer was looked at again that had grown by little")
	}
	newest.response.bytes = append(newest.response.bytes, streamPiece(1000)...)
	s.place(asks("messages", "a third task"))
	if newest.looked == was {
		t.Error("an answer was not looked at again that had doubled")
	}
	// All that have come to their end are looked at.
	for _, x := range all {
		x.response.bytes = append(x.response.bytes, streamTail...)
	}
	s.place(asks("messages", "a fourth task"))
	for i, x := range all {
		if x.looked != len(x.response.bytes) {
			t.Fatalf("answer %d has come to its end and was not looked at", i)
		}
	}
	// Long ones are fewer.
	s = &streams{t, newSpace("k", nil)}
	all = nil
	for i := range 4 {
		all = append(all, s.begin("messages", fmt.Sprint("task ", i), streamHead+streamPiece(maxLooked/3)))
	}
	s.place(asks("messages", "another task"))
	if n := decoded(); n != 2 {
		t.Errorf("%d long answers were looked at, want 2", n)
	}
}

// TestLooksAtLikely has a request go on from one of many that are under way: that one is looked at, with those that hold the
// same messages.
func TestLooksAtLikely(t *testing.T) {
	s := &streams{t, newSpace("k", nil)}
	oldest := s.begin("messages", "task", streamHead+streamPiece(100))
	twin := s.begin("messages", "task", streamHead+streamPiece(50))
	others := []*exchange{s.begin("messages", "another", streamHead+streamPiece(50)), s.begin("messages", "a third", streamHead+streamTail)}
	p := s.place(asks("messages", "task", strings.Repeat("word ", 100/5), "more"))
	if p.Parent != 0 || p.Relation != thread.Extends {
		t.Errorf("%+v", p)
	}
	if oldest.looked == 0 || twin.looked == 0 || others[0].looked+others[1].looked > 0 {
		t.Errorf("looked at %d and %d bytes of the likely ones and at %d and %d of others", oldest.looked, twin.looked, others[0].looked, others[1].looked)
	}
}

// TestEnded tells answers whose last event has come.
func TestEnded(t *testing.T) {
	long := strings.Repeat("x", 3*maxEnding)
	for _, c := range []struct {
		contentType, encoding, body string
		want                        bool
	}{
		{"text/event-stream", "", "", false},
		{"text/event-stream", "", streamHead + streamPiece(100), false},
		{"text/event-stream", "", streamHead + streamPiece(100) + streamTail, true},
		{"text/event-stream", "gzip", streamTail, false},
		{"text/event-stream; charset=utf-8", "", "data: {}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":\"" + long + "\"}}\n\n", true},
		{"text/event-stream", "", "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: {\"usage\":{}}\n\ndata: [DONE]\n\n", true},
		{"text/event-stream", "", "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n", true},
		{"application/json", "", `{"content":[`, false},
		{"application/json", "", "{\"content\":[]}\n", true},
		{"application/json", "", `[{"candidates":[]}`, false},
		{"application/json", "", "[{\"candidates\":[]}\n]", true},
	} {
		if got := (&coming{body: []byte(c.body), contentType: c.contentType, encoding: c.encoding}).ended(); got != c.want {
			t.Errorf("%.60q of %s %s: %v", c.body, c.contentType, c.encoding, got)
		}
	}
}
