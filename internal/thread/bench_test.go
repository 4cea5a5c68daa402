package thread_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"ambit/internal/thread"
)

// grow records conversations that each grow to as many messages, two a request, until there are so many requests; and
// returns the last request of the last conversation, which is not recorded.
func grow(x *thread.Index, requests, messages int) thread.Request {
	type said struct {
		hash thread.Hash
		m    thread.Message
	}
	for conversation := 0; ; conversation++ {
		var all []said
		add := func(text string, ids ...string) {
			all = append(all, said{sha256.Sum256([]byte(text)), thread.Message{IDs: ids, Said: text}})
		}
		add(fmt.Sprintf("conversation %d ", conversation) + strings.Repeat("begins ", 20))
		for turn := 0; len(all) < messages; turn++ {
			now := all[:len(all):len(all)]
			r := thread.Request{Key: "k", Tools: true, Read: func(i int) thread.Message { return now[i].m }}
			for _, s := range now {
				r.Elements = append(r.Elements, s.hash)
			}
			if x.Len() == requests {
				return r
			}
			p := x.Place(r)
			at := x.Add(r, p, thread.Node{Session: "s", N: x.Len() + 1, Thread: fmt.Sprint("t", conversation)})
			id := fmt.Sprintf("call-%d-%d", conversation, turn)
			text := strings.Repeat(fmt.Sprintf("answer %s says ", id), 40)
			x.Answered(at, thread.Answer{Text: text, Calls: []thread.Call{{ID: id, Args: []string{"an argument of " + id}}}, Whole: true})
			add(text, id)
			add("result of "+id, id)
		}
	}
}

// BenchmarkPlace finds the parent of a request among ten thousand, at the end of a conversation and when nothing is
// like it: then its text is compared with all answers.
func BenchmarkPlace(b *testing.B) {
	x := thread.New()
	last := grow(x, 10_400, 1000)
	b.Run("extends", func(b *testing.B) {
		for b.Loop() {
			if p := x.Place(last); p.Relation != thread.Extends {
				b.Fatal(p)
			}
		}
		b.ReportMetric(float64(len(last.Elements)), "messages")
	})
	b.Run("nothing alike", func(b *testing.B) {
		other := last
		other.Elements = nil
		text := strings.Repeat("something that nobody said before, at some length; ", 40)
		for i := range last.Elements {
			other.Elements = append(other.Elements, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		}
		other.Read = func(int) thread.Message { return thread.Message{Said: text} }
		for b.Loop() {
			if p := x.Place(other); p.Relation != thread.Root {
				b.Fatal(p)
			}
		}
		b.ReportMetric(float64(len(text)*len(other.Elements)), "bytes")
	})
}
