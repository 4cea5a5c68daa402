package thread_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"ambit/internal/thread"
)

// sketch plays conversations that are written in a few words.
//
//	a> u1 c1!call r1?call         a request of key a, of messages; !call makes a call, ?call holds its result
//	< text !call "argument"       the answer to the newest request; < - is one that broke off
//
// Each request's place is a line of the result: number, relation, parent, evidence.
type sketch struct {
	t     *testing.T
	index *thread.Index
	last  int
	tools bool
	lines []string
}

func newSketch(t *testing.T) *sketch {
	return &sketch{t: t, index: thread.New(), tools: true}
}

// message makes a message of a word such as u1, c!call, r?call or say=some_text.
func message(word string) (thread.Hash, thread.Message) {
	var m thread.Message
	rest := word
	for _, mark := range []string{"!", "?"} {
		parts := strings.Split(rest, mark)
		rest = parts[0]
		for _, part := range parts[1:] {
			m.IDs = append(m.IDs, id(part))
		}
	}
	if _, said, ok := strings.Cut(rest, "="); ok {
		m.Said = strings.ReplaceAll(said, "_", " ")
	}
	return sha256.Sum256([]byte(word)), m
}

func (s *sketch) request(key string, words ...string) {
	r := thread.Request{Key: key, Tools: s.tools}
	var messages []thread.Message
	for _, word := range words {
		h, m := message(word)
		r.Elements, messages = append(r.Elements, h), append(messages, m)
	}
	r.Read = func(i int) thread.Message { return messages[i] }
	s.place(r)
}

func (s *sketch) place(r thread.Request) {
	p := s.index.Place(r)
	name := ""
	if p.Parent != thread.None {
		name = s.index.Node(p.Parent).Thread
	} else {
		name = "t" + strconv.Itoa(s.index.Len()+1)
	}
	s.last = s.index.Add(r, p, thread.Node{Session: "s", N: s.index.Len() + 1, Thread: name})
	line := fmt.Sprintf("%d %s", s.last+1, p.Relation)
	if p.Parent != thread.None {
		line += fmt.Sprintf(" %d", p.Parent+1)
	}
	if p.Owner != thread.None {
		line += fmt.Sprintf(" for %s of %d", strings.TrimPrefix(p.Call, id("")), p.Owner+1)
	}
	if p.About != thread.None {
		line += fmt.Sprintf(" about %d", p.About+1)
	}
	if p.Evidence != "" {
		line += " by " + string(p.Evidence)
	}
	s.lines = append(s.lines, line)
}

// answer answers the newest request.
func (s *sketch) answer(text string, calls ...thread.Call) {
	s.index.Answered(s.last, thread.Answer{Text: text, Calls: calls, Whole: true})
}

func (s *sketch) fail() { s.index.Failed(s.last) }

func (s *sketch) want(lines ...string) {
	s.t.Helper()
	if got, want := strings.Join(s.lines, "\n"), strings.Join(lines, "\n"); got != want {
		s.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// id makes an ID such as providers draw of a short name, unless that begins with a dot.
func id(name string) string {
	if strings.HasPrefix(name, ".") {
		return name
	}
	return "toolu_0123456789_" + name
}

func call(name string, args ...string) thread.Call { return thread.Call{ID: id(name), Args: args} }

// long is a text of more than 200 characters that no other word gives.
func long(word string) string {
	return strings.TrimSpace(strings.Repeat(word+" says something long, ", 300/len(word)))
}

func said(word string) string { return "say=" + strings.ReplaceAll(long(word), " ", "_") }

// TestExtends follows a conversation of calls and one of text.
func TestExtends(t *testing.T) {
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("", call("A"))
	s.request("k", "u1", "a!A", "r?A")
	s.answer("done")
	s.request("k", "u1", "a!A", "r?A", "a=done", "u2")
	s.want("1 root", "2 extends 1 by chain", "3 extends 2 by chain")
}

// TestAgain tells repetitions from new conversations.
func TestAgain(t *testing.T) {
	t.Run("after a failed attempt", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.fail()
		s.request("k", "u1")
		s.answer("", call("A"))
		s.request("k", "u1", "a!A", "r?A")
		s.fail()
		s.request("k", "u1", "a!A", "r?A")
		s.answer("", call("B"))
		s.request("k", "u1", "a!A", "r?A", "a!B", "r?B")
		s.want("1 root", "2 again 1 by chain", "3 extends 2 by chain", "4 again 3 by chain", "5 extends 4 by chain")
	})
	t.Run("the last message grows", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("", call("A"))
		s.request("k", "u1", "a!A", "r?A")
		s.fail()
		s.request("k", "u1", "a!A", "r+more?A")
		s.answer("", call("B"))
		s.request("k", "u1", "a!A", "r+more?A", "a!B", "r?B")
		s.want("1 root", "2 extends 1 by chain", "3 again 1 by chain", "4 extends 3 by chain")
	})
	t.Run("a prompt beside the thread", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("", call("A"))
		s.request("k", "u1", "a!A", "r?A", "say=please_summarise")
		s.answer(long("summary"))
		s.request("k", "u1", "a!A", "r?A")
		s.answer("", call("B"))
		s.request("k", "u1", "a!A", "r?A", "a!B", "r?B")
		s.want("1 root", "2 extends 1 by chain", "3 again 1 by chain", "4 extends 3 by chain")
	})
	t.Run("the aborted turn stays", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.index.Answered(s.last, thread.Answer{Text: "I am", Calls: []thread.Call{call("A")}})
		s.request("k", "u1")
		s.answer("", call("B"))
		s.request("k", "u1", "a!A", "r?A", "a!B", "r?B")
		s.want("1 root", "2 again 1 by chain", "3 extends 2 by call")
	})
}

// TestTwins keeps conversations apart that begin alike.
func TestTwins(t *testing.T) {
	t.Run("by their calls", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("", call("A1"))
		s.request("k", "u1")
		s.answer("", call("B1"))
		s.request("k", "u1", "a!A1", "r?A1")
		s.answer("", call("A2"))
		s.request("k", "u1", "a!B1", "r?B1")
		s.answer("", call("B2"))
		s.request("k", "u1", "a!A1", "r?A1", "a!A2", "r?A2")
		s.want("1 root", "2 root", "3 extends 1 by chain", "4 extends 2 by chain", "5 extends 3 by chain")
	})
	t.Run("by their answers", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("one")
		s.request("k", "u1")
		s.answer("two")
		s.request("k", "u1", "say=one", "u2")
		s.request("k", "u1", "say=two", "u2")
		s.want("1 root", "2 root", "3 extends 1 by chain", "4 extends 2 by chain")
	})
	t.Run("both under way", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.request("k", "u1")
		s.want("1 root", "2 root")
	})
	t.Run("after a retry of one", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.fail()
		s.request("k", "u1")
		s.answer("", call("A"))
		s.request("k", "u1", "a!A", "r?A")
		s.answer("done")
		s.request("k", "u1")
		s.want("1 root", "2 again 1 by chain", "3 extends 2 by chain", "4 root")
	})
	t.Run("by their keys", func(t *testing.T) {
		s := newSketch(t)
		s.request("k/1", "u1")
		s.fail()
		s.request("k/2", "u1")
		s.answer("", call("A"))
		s.request("k/1", "u1", "a!A", "r?A")
		s.want("1 root", "2 root", "3 extends 1 by chain")
	})
}

// TestNumberedCalls keeps conversations apart whose calls have the same IDs.
func TestNumberedCalls(t *testing.T) {
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("", call(".1"))
	s.request("k", "v1")
	s.answer("", call(".1"))
	s.request("k", "v1", "a!.1", "r1?.1")
	s.answer("", call(".2"))
	s.request("k", "u1", "a!.1", "r?.1")
	s.answer("", call(".2"))
	s.request("k", "v1", "a!.1", "r1?.1", "a!.2", "r2?.2")
	s.answer("", call(".3"))
	s.request("k", "u1", "a!.1", "r?.1", "a!.2", "r?.2")
	s.answer("", call(".3"))
	s.request("k", "v1", "a!.1", "r1?.1", "a!.2", "r2?.2", "a!.3", "r3?.3")
	s.request("k", "w1", "a!.1", "r4?.1") // of a time that was not recorded
	s.want("1 root", "2 root", "3 extends 2 by chain", "4 extends 1 by chain", "5 extends 3 by chain", "6 extends 4 by chain", "7 extends 5 by chain", "8 root")
}

// TestClientEdit follows a client that changes earlier messages.
func TestClientEdit(t *testing.T) {
	for name, minted := range map[string]bool{"calls of the provider": true, "calls of the client": false} {
		t.Run(name, func(t *testing.T) {
			s := newSketch(t)
			bodies := map[int][]string{}
			s.index.Elements = func(at int) []thread.Hash {
				var hashes []thread.Hash
				for _, word := range bodies[at+1] {
					h, _ := message(word)
					hashes = append(hashes, h)
				}
				return hashes
			}
			send := func(words ...string) {
				s.request("k", words...)
				bodies[s.last+1] = words
			}
			reply := func(name string) {
				if minted {
					s.answer("", call(name))
				} else {
					s.answer("")
				}
			}
			send("u1")
			reply("A")
			send("u1", "a!A", "r?A")
			reply("B")
			send("u1", "a!A", "r?A", "a!B", "r?B")
			reply("C")
			send("u1", "a!A", "masked?A", "a!B", "r?B", "a!C", "r?C")
			reply("D")
			send("u1", "a!A", "masked?A", "a!B", "r?B", "a!C", "r?C", "a!D", "r?D")
			reply("E")
			send("other", "a!A", "masked?A", "a!B", "r?B", "a!C", "r?C", "a!D", "r?D", "a!E", "r?E")
			s.want("1 root", "2 extends 1 by chain", "3 extends 2 by chain", "4 client-edit 3 by call", "5 extends 4 by chain", "6 client-edit 5 by call")
		})
	}
}

// TestClientCompaction follows clients that put a summary in the place of what was said.
func TestClientCompaction(t *testing.T) {
	grow := func(s *sketch) []string {
		words := []string{"u1"}
		s.request("k", words...)
		for _, name := range []string{"A", "B", "C"} {
			s.answer("", call(name))
			words = append(words, "a!"+name, "r?"+name)
			s.request("k", words...)
		}
		return words
	}
	start := []string{"1 root", "2 extends 1 by chain", "3 extends 2 by chain", "4 extends 3 by chain"}
	t.Run("in the thread, summary first", func(t *testing.T) {
		s := newSketch(t)
		words := grow(s)
		s.answer("done")
		s.request("k", append(words, "a=done", "say=please_summarise")...)
		s.answer(long("summary"))
		s.request("k", said("summary"), "u2")
		s.want(append(start, "5 extends 4 by chain", "6 client-compaction 5 by quote")...)
	})
	t.Run("first message stays, summary last", func(t *testing.T) {
		s := newSketch(t)
		words := grow(s)
		s.answer("done")
		s.request("k", append(words, "a=done", "say=please_summarise")...)
		s.answer(long("summary"))
		s.request("k", "u1", said("summary"))
		s.want(append(start, "5 extends 4 by chain", "6 client-compaction 5 by quote")...)
	})
	t.Run("by a side request, newest calls stay", func(t *testing.T) {
		s := newSketch(t)
		grow(s)
		s.answer("", call("D"))
		s.tools = false
		s.request("k", "transcript")
		s.answer(long("summary"))
		s.tools = true
		s.request("k", said("summary"), "a!C", "r?C", "a!D", "r?D")
		s.want(append(start, "5 side", "6 client-compaction 4 by quote")...)
	})
	t.Run("by a side request, nothing stays", func(t *testing.T) {
		s := newSketch(t)
		grow(s)
		s.answer(long("report"))
		s.request("k", "another")
		s.answer("", call("X"))
		s.tools = false
		s.request("k", "transcript", said("report"))
		s.answer(long("summary"))
		s.tools = true
		s.request("k", said("summary"), "u2")
		s.want(append(start, "5 root", "6 side about 4", "7 client-compaction 4 by quote")...)
	})
	t.Run("without a quotation, most messages gone", func(t *testing.T) {
		s := newSketch(t)
		words := grow(s)
		s.index.Elements = func(int) (hashes []thread.Hash) {
			for _, word := range words {
				h, _ := message(word)
				hashes = append(hashes, h)
			}
			return hashes
		}
		s.answer("", call("D"))
		s.request("k", "shorter", "a!D", "r?D")
		s.want(append(start, "5 client-compaction 4 by call")...)
	})
}

// TestPeopleQuote keeps conversations apart when somebody quotes one in the other.
func TestPeopleQuote(t *testing.T) {
	for name, test := range map[string]struct{ ask, want string }{
		"an answer": {"u2", "3 root"},
		"a summary": {"say=please_summarise", "3 client-compaction 2 by quote"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSketch(t)
			s.index.Shared = true
			s.request("k", "u1")
			s.answer("one")
			s.request("k", "u1", "say=one", test.ask)
			s.answer(long("answer"))
			s.request("k", said("answer"), "v2")
			if got := s.lines[2]; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	t.Run("after going back", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("one")
		s.request("k", "u1", "say=one", "u2")
		s.answer("two")
		s.request("k", "u1", "say=one", "u2", "say=two", "u3")
		s.answer(long("wrong"))
		s.request("k", "u1", "say=one", said("wrong"))
		s.want("1 root", "2 extends 1 by chain", "3 extends 2 by chain", "4 rewind 1 by chain")
	})
	t.Run("to a sub-agent", func(t *testing.T) {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer(long("plan"), call("A", long("plan")))
		s.request("k", said("plan"))
		s.answer(long("report"))
		s.request("k", "u1", "a!A", "r?A")
		s.answer("", call("B", long("report")))
		s.request("k", said("report"))
		s.want("1 root", "2 agent for A of 1 by argument", "3 extends 1 by chain", "4 agent for B of 3 by argument")
	})
}

// TestRegenerated takes requests with the same messages for one place.
func TestRegenerated(t *testing.T) {
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("one")
	s.request("k", "u1", "say=one", "u2")
	s.answer("two")
	s.request("k", "u1", "say=one", "u2") // asked for again
	s.answer("zwei")
	s.request("k", "u1", "say=one", "u2", "say=two", "u3") // and the first taken after all
	s.answer("three")
	s.request("k", "u1", "say=one", "u2", "say=two", "u3", "say=three", "u4")
	s.answer("four")
	s.request("k", "u1", "say=one", "u2", "say=zwei", "u5")
	s.want("1 root", "2 extends 1 by chain", "3 again 2 by chain", "4 extends 2 by chain", "5 extends 4 by chain", "6 rewind 3 by chain")
	if got := fmt.Sprint(s.index.Above(4)); got != "[4 3 1 0]" {
		t.Errorf("above request 5 are %s", got)
	}
}

// TestStale does not take for a retry what comes much later.
func TestStale(t *testing.T) {
	x := thread.New()
	h, m := message("say=do_the_same_as_yesterday,_please")
	r := thread.Request{Key: "k", Tools: true, Elements: []thread.Hash{h}, Read: func(int) thread.Message { return m }, At: time.Unix(1e9, 0)}
	at := x.Add(r, x.Place(r), thread.Node{Session: "s", N: 1, Thread: "t1"})
	x.Failed(at)
	for after, want := range map[time.Duration]thread.Relation{time.Minute: thread.Again, 24 * time.Hour: thread.Root} {
		later := r
		later.At = r.At.Add(after)
		if p := x.Place(later); p.Relation != want {
			t.Errorf("after %v: %s, want %s", after, p.Relation, want)
		}
	}
}

// TestArguments tells which arguments show whose a sub-agent is.
func TestArguments(t *testing.T) {
	task := "find out where the parser loses its place"
	for _, test := range []struct{ arg, said, want string }{
		{task, "You are an agent. " + task, "2 agent for A of 1 by argument"},
		{task, "find out where the parser", "2 root"},
		{"/srv/app/internal/parser/parser.go", "Look at /srv/app/internal/parser/parser.go please", "2 root"},
		{"/srv/app/internal/parser/parser.go", "/srv/app/internal/parser/parser.go", "2 agent for A of 1 by argument"},
		{"too short to say much", "too short to say much", "2 root"},
	} {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer("", call("A", test.arg))
		s.request("k", "say="+strings.ReplaceAll(test.said, " ", "_"))
		if got := s.lines[1]; got != test.want {
			t.Errorf("%q in %q: %s, want %s", test.arg, test.said, got, test.want)
		}
	}
	s := newSketch(t) // one task is the beginning of another
	s.request("k", "u1")
	s.answer("", call("A", task+" and mend it"), call("B", task))
	s.request("k", "say="+strings.ReplaceAll(task, " ", "_")+"_and_mend_it")
	s.want("1 root", "2 agent for A of 1 by argument")
}

// TestRewind tells a branch that was left from one that is tried again.
func TestRewind(t *testing.T) {
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("one")
	s.request("k", "u1", "say=one", "u2")
	s.answer("two")
	s.request("k", "u1", "say=one", "u2b") // nothing had come of it
	s.answer("three")
	s.request("k", "u1", "say=one", "u2b", "say=three", "u3")
	s.answer("four")
	s.request("k", "u1", "say=one", "u2c") // something had
	s.answer("five")
	s.request("k", "u1", "say=one", "u2b") // the same as once before
	s.want("1 root", "2 extends 1 by chain", "3 again 1 by chain", "4 extends 3 by chain", "5 rewind 1 by chain", "6 rewind 3 by chain")
}

// TestAgent finds whose a sub-agent is.
func TestAgent(t *testing.T) {
	task := "find out where the parser loses its place"
	word := "say=You_are_an_agent._" + strings.ReplaceAll(task, " ", "_")
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("", call("A", "explore", task), call("B", "another argument that is long"))
	s.request("k", word)
	s.answer(long("report"), call("S"))
	s.request("k", word, "a!S", "r?S")
	s.answer(long("found"))
	s.request("k", "u1", "a!A!B", "r?A=x", "r?B") // its report is a result here, and no quotation
	s.answer("done")
	s.request("k", word) // no call is open now
	s.want("1 root", "2 agent for A of 1 by argument", "3 extends 2 by chain", "4 extends 1 by chain", "5 root")
	s.request("k", "say="+strings.ReplaceAll(task, " ", "_")) // it began late, and is told nothing else
	if got := s.lines[5]; got != "6 agent for A of 1 by argument" {
		t.Error(got)
	}

	h, m := message("u9")
	s.place(thread.Request{Key: "k/9", Agent: true, Elements: []thread.Hash{h}, Read: func(int) thread.Message { return m }})
	if got := s.lines[len(s.lines)-1]; got != "7 agent by header" {
		t.Error(got)
	}
}

// TestAgents gives agents with the same task to their calls in order.
func TestAgents(t *testing.T) {
	task := "find out where the parser loses its place"
	word := "say=" + strings.ReplaceAll(task, " ", "_")
	s := newSketch(t)
	s.request("k", "u1")
	s.answer("", call("A", task), call("B", task))
	s.request("k", "first", word)
	s.request("k", "second", word)
	s.request("k", "third", word)
	s.request("other wire", "fourth", word)
	s.want("1 root", "2 agent for A of 1 by argument", "3 agent for B of 1 by argument", "4 agent for B of 1 by argument", "5 root")
}

// TestSide keeps requests without tools by themselves until something extends them.
func TestSide(t *testing.T) {
	s := newSketch(t)
	s.tools = false
	s.request("k", "u1")
	s.answer("a title")
	s.request("k", "u1")
	s.answer("a title")
	s.request("k", "u1", "say=a_title", "u2")
	s.want("1 side", "2 side", "3 extends 2 by chain")
}

// TestAbout tells which conversation a side request is about, by the words with which that begins.
func TestAbout(t *testing.T) {
	task := "say=please_make_the_parser_keep_its_place"
	s := newSketch(t)
	side := func(words ...string) {
		s.tools = false
		s.request("k", words...)
		s.tools = true
	}
	side("say=Give_a_title", task)
	s.request("k", task)
	s.request("k", "say=fix_it", "u2")
	side("say=Give_a_title_for:_fix_it_all")
	side("say=Give_a_title", "say=fix_it")
	side("say=Give_a_title_for:_" + strings.TrimPrefix(task, "say="))
	s.request("other", task)
	s.want("1 side", "2 root about 1", "3 root", "4 side", "5 side about 3", "6 side about 2", "7 root")
}

// TestPrevious follows clients whose provider keeps the conversation.
func TestPrevious(t *testing.T) {
	s := newSketch(t)
	item, _ := message("a!A")
	s.request("k", "u1")
	s.index.Answered(s.last, thread.Answer{ID: "resp_1", Whole: true, Calls: []thread.Call{call("A")}, Elements: []thread.Hash{item}})
	h, m := message("r?A")
	s.place(thread.Request{Key: "k", Tools: true, Previous: "resp_1", Elements: []thread.Hash{h}, Read: func(int) thread.Message { return m }})
	s.index.Answered(s.last, thread.Answer{ID: "resp_2", Whole: true, Text: "done"})
	s.request("k", "u1", "a!A", "r?A", "a=done", "u2") // now it sends all itself
	h, m = message("u1")
	s.place(thread.Request{Key: "k", Tools: true, Previous: "resp_9", Elements: []thread.Hash{h}, Read: func(int) thread.Message { return m }})
	s.place(thread.Request{Key: "k/x", Tools: true, Previous: "resp_2", Elements: []thread.Hash{h}, Read: func(int) thread.Message { return m }})
	s.want("1 root", "2 extends 1 by previous-response", "3 extends 2 by chain", "4 root", "5 again 2 by previous-response")
}

// TestKnown finds the same places from what is kept of an index.
func TestKnown(t *testing.T) {
	s := newSketch(t)
	task := "find out where the parser loses its place"
	answers := map[int]thread.Answer{
		0: {Text: "", Calls: []thread.Call{call("A", task)}, Whole: true},
		1: {Text: long("summary"), Whole: true},
	}
	h1, _ := message("u1")
	for i, relation := range []thread.Relation{thread.Root, thread.Extends} {
		elements := []thread.Hash{h1}
		if i == 1 {
			a, _ := message("a!Z")
			elements = append(elements, a)
		}
		at := s.index.Known(thread.Node{
			Key: "k", Session: "s", N: i + 1, Thread: "t1", Relation: relation, Chain: thread.ChainOf(elements), Length: len(elements), Tools: true, Owner: thread.None, About: thread.None,
		}, i-1)
		s.index.Carried(at, elements[i], nil)
		bare := thread.Answer{Whole: true}
		for _, c := range answers[at].Calls {
			bare.Calls = append(bare.Calls, thread.Call{ID: c.ID})
		}
		s.index.Answered(at, bare)
	}
	s.index.Fetch = func(at int) (thread.Answer, bool) { a, ok := answers[at]; return a, ok }
	s.request("k", "say=do_this:_"+strings.ReplaceAll(task, " ", "_"))
	s.request("k", said("summary"), "u5")
	s.want("3 agent for A of 1 by argument", "4 client-compaction 2 by quote")
}

// TestQuoteLength counts characters, not bytes, and knows where a quotation ends.
func TestQuoteLength(t *testing.T) {
	for _, test := range []struct {
		text   string
		length int // characters of it that are quoted
		want   string
	}{
		{strings.Repeat("abcdefghij", 40), 0, "2 root"},
		{strings.Repeat("éàèùâêîôûë", 20) + strings.Repeat("x", 400), 199, "2 root"},
		{strings.Repeat("éàèùâêîôûë", 20) + strings.Repeat("x", 400), 200, "2 client-compaction 1 by quote"},
		{strings.Repeat("éàèùâêîôûë", 20) + strings.Repeat("x", 801), 200, "2 root"}, // not a third of it
		{strings.Repeat("-", 400), 400, "2 root"},                                    // a ruler
		{"0123456789" + strings.Repeat("abcdefghi", 40), 199, "2 root"},
		{"0123456789" + strings.Repeat("abcdefghi", 40), 200, "2 client-compaction 1 by quote"},
	} {
		s := newSketch(t)
		s.request("k", "u1")
		s.answer(test.text)
		runes := []rune(test.text)
		quoted := "###" + string(runes[:test.length]) + "###"
		h := sha256.Sum256([]byte(quoted))
		h2, m2 := message("u2")
		s.place(thread.Request{Key: "k", Tools: true, Elements: []thread.Hash{h, h2}, Read: func(i int) thread.Message {
			if i == 0 {
				return thread.Message{Said: quoted}
			}
			return m2
		}})
		if got := s.lines[1]; got != test.want {
			t.Errorf("%d characters of %.20q: %s, want %s", test.length, test.text, got, test.want)
		}
	}
}
