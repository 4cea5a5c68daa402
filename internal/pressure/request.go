package pressure

import (
	"runtime"
	"sync"
	"time"

	"ambit/entry"
	"ambit/internal/selection"
	"ambit/internal/thread"
	"ambit/internal/token"
	"ambit/provider"
)

// Request is a request as whoever leads the conversation makes it, as far as it is understood. It is not for several goroutines at once.
type Request struct {
	Family   provider.Protocol
	Asked    provider.Request
	Body     []byte // without a content encoding
	Elements provider.Elements
	Hashes   []thread.Hash // of its messages

	messages map[int]provider.Message // those that were read
}

// Message reads one of the request's messages, once.
func (r *Request) Message(i int) provider.Message {
	m, ok := r.messages[i]
	if !ok {
		m = r.decode(i)
		r.keep(i, m)
	}
	return m
}

func (r *Request) keep(i int, m provider.Message) {
	if r.messages == nil {
		r.messages = make(map[int]provider.Message)
	}
	r.messages[i] = m
}

// decode reads one of the request's messages.
func (r *Request) decode(i int) provider.Message {
	el := &r.Elements.Messages[i]
	return r.Family.Message(r.Asked, r.Body[el.Offset:el.Offset+el.Length], el.At)
}

// Case is what a decision about a request is made from, beside what stands for its thread.
type Case struct {
	*Request
	N      int // its number
	At     time.Time
	Policy selection.Policy
	Model  string
	Window int  // tokens, where whoever asks knows better than the table; 0 where not
	Long   bool // it asks for the model's longer window

	Before func() int // with how many messages the request begins that the one which it follows held
	Pins   []selection.Pin
	Recall string // as selection.Input has it
	Book   Book
}

// Book is the journal as a decision needs it: the session's, of one thread.
type Book struct {
	Flush  func() error // makes durable what is recorded of the request
	Put    func(body []byte) (*entry.Body, error)
	Append func(facts ...entry.Fact) (last entry.Seq, err error)
	Seq    func(message provider.Hash) entry.Seq // the entry that has a message of the thread; 0 while there is none
	Purged func(message provider.Hash) bool      // its text was purged, so that it is new when it is said again
	Ref    func(seq entry.Seq) string            // how a model is shown an entry that has a message
}

// learn makes the facts of a request's messages that are not known, on all processors, where they are many: the first request of
// a session that was let go waits for it.
func (t *Thread) learn(r *Request, count *token.Model) {
	if len(r.Elements.Messages)-len(t.facts) < many {
		return
	}
	var anew []int
	for i := range r.Elements.Messages {
		if _, ok := t.facts[r.Elements.Messages[i].Hash]; !ok {
			anew = append(anew, i)
		}
	}
	said, facts := make([]provider.Message, len(anew)), make([]selection.Message, len(anew))
	var wait sync.WaitGroup
	readers := runtime.GOMAXPROCS(0)
	for first := range readers {
		wait.Go(func() {
			for k := first; k < len(anew); k += readers {
				var ok bool
				if said[k], ok = r.messages[anew[k]]; !ok { // which nobody changes until all is done
					said[k] = r.decode(anew[k])
				}
				facts[k] = factOf(&r.Elements.Messages[anew[k]], said[k], count)
			}
		})
	}
	wait.Wait()
	for k, i := range anew {
		r.keep(i, said[k])
		t.facts[facts[k].Hash] = facts[k]
	}
}

// many is from how many messages on it is worth to read them side by side.
const many = 64
