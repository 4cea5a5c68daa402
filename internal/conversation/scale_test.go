package conversation_test

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/provider"
)

// long is a session of so many turns, each with a prompt and an answer of a recording.
func long(turns int) *session {
	s := newSession()
	for n := 1; n <= turns; n++ {
		how := entry.Extends
		if n == 1 {
			how = entry.Root
		}
		s.facts = append(s.facts, &entry.Request{N: n}, &entry.Relation{N: n, Thread: "t1", How: how, Parent: n - 1}, &entry.Response{N: n, End: entry.EndComplete})
		for _, role := range []string{"user", "assistant"} {
			s.unit(entry.Unit{N: n, Of: entry.PartRecord, Thread: "t1"}, provider.Message{Role: role, Texts: []provider.Text{{Said: role, Text: "said"}}})
		}
	}
	return s
}

// proxied is a session of requests that pass, with bodies that grow up to so many messages and are then compacted.
func proxied(requests, most int) *session {
	s := newSession()
	element := func(n int, role string) conversation.Element {
		hash := sha256.Sum256(binary.AppendVarint([]byte(role), int64(n)))
		return conversation.Element{Hash: hash, Message: func() provider.Message {
			return provider.Message{Role: role, Texts: []provider.Text{{Said: role, Text: string(hash[:8])}}}
		}}
	}
	var elements []conversation.Element
	for n := 1; n <= requests; n++ {
		how := entry.Extends
		switch {
		case n == 1:
			how = entry.Root
		case len(elements) >= most:
			how, elements = entry.ClientCompaction, nil
		default:
			elements = append(elements, element(n-1, "assistant"))
		}
		elements = append(elements, element(n, "user"))
		s.elements[n] = elements[:len(elements):len(elements)]
		s.facts = append(s.facts, &entry.Request{N: n, Body: new(entry.Body)}, &entry.Relation{N: n, Thread: "t1", How: how, Parent: n - 1}, &entry.Response{N: n, End: entry.EndComplete})
		answer := element(n, "assistant").Message()
		s.answers[n] = provider.Answer{Text: answer.Texts[0].Text}
		s.facts = append(s.facts, &entry.Unit{N: n, Of: entry.PartAnswer, Thread: "t1", Role: "assistant"})
	}
	return s
}

// taken is what making the conversations of a session takes.
func taken(t *testing.T, s *session) (all []*conversation.Conversation, bytes uint64, d time.Duration) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	all = s.conversations(t)
	d = time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(s)
	return all, after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc), d
}

// TestScale bounds what stays of long sessions. Lists of their own for each request would take some 500 MB each.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	for _, c := range []struct {
		name  string
		s     *session
		turns int
		most  uint64 // bytes that stay
	}{
		{"5,000 turns told, 10,000 messages", long(5000), 5000, 20 << 20},
		{"4,000 requests passed, with up to 2,000 messages", proxied(4000, 2000), 4000, 40 << 20},
	} {
		all, bytes, took := taken(t, c.s)
		t.Logf("%s: %d MB, %v", c.name, bytes>>20, took)
		if len(all) != 1 || len(all[0].Turns) != c.turns || bytes > c.most {
			t.Errorf("%s: %d conversations, %d bytes", c.name, len(all), bytes)
		}
	}
}

// BenchmarkOf makes the conversations of 20,000 requests with bodies of up to 2,000 messages.
func BenchmarkOf(b *testing.B) {
	s := proxied(20000, 2000)
	b.ReportAllocs()
	for b.Loop() {
		s.conversations(b)
	}
}
