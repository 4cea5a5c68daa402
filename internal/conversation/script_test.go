package conversation_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/openai"
)

var update = flag.Bool("update", false, "write what testdata wants as it is now")

// session is what a test makes a session of.
type session struct {
	facts    []entry.Fact
	messages []provider.Message // those of units, by Line
	bodies   map[int][]byte
	elements map[int][]conversation.Element
	answers  map[int]provider.Answer
	wires    map[int]wire
}

type wire struct {
	provider.Protocol
	provider.Request
}

func newSession() *session {
	return &session{bodies: make(map[int][]byte), elements: make(map[int][]conversation.Element), answers: make(map[int]provider.Answer), wires: make(map[int]wire)}
}

var errGone = errors.New("gone")

// gone is what a message says that cannot be read.
const gone = "(gone)"

// unit adds a unit with its message.
func (s *session) unit(u entry.Unit, m provider.Message) *entry.Unit {
	if u.Line == 0 {
		s.messages = append(s.messages, m)
		u.Line = len(s.messages)
		u.Offset, u.Length = int64(100*u.Line), 10
	}
	s.facts = append(s.facts, reading.Units(&u, m)...)
	return &u
}

// conversations are those of the session, as the package makes them.
func (s *session) conversations(t interface{ Fatal(...any) }) []*conversation.Conversation {
	p := pool.New()
	for i, f := range s.facts {
		if err := p.Fold(journal.Frame{Entry: entry.Entry{Seq: entry.Seq(i + 1), Fact: f}, Sum: "00000000", Prev: "00000000"}); err != nil {
			t.Fatal(err)
		}
	}
	return conversation.Of(p, conversation.Reader{
		Message: func(u *pool.Unit) (provider.Message, error) {
			m := s.messages[u.Line-1]
			if len(m.Texts) > 0 && m.Texts[0].Text == gone {
				return provider.Message{}, errGone
			}
			return m, nil
		},
		Answer: func(n int) (provider.Answer, error) {
			if a := s.answers[n]; a.Text != gone {
				return a, nil
			}
			return provider.Answer{}, errGone
		},
		Body: func(n int) ([]conversation.Element, error) {
			if string(s.bodies[n]) == gone {
				return nil, errGone
			}
			return s.elements[n], nil
		},
	})
}

// passed takes in a request's body, with a unit for each message that no request before it held.
func (s *session) passed(n int, w wire, body []byte) error {
	s.bodies[n], s.wires[n] = body, w
	list, err := w.Elements(w.Request, body)
	for _, el := range list.Messages {
		raw := body[el.Offset : el.Offset+el.Length]
		s.elements[n] = append(s.elements[n], conversation.Element{Hash: el.Hash, Message: func() provider.Message { return w.Message(w.Request, raw, el.At) }})
	}
	return err
}

// parse reads a script. A request has a line, and what it holds first, or is answered, lines behind it:
//
//	#2 t1 extends #1           number, thread, relation and parent
//	  user "text"              said by a user, or of another role
//	  tool -c1 "text"          results
//	  say "text" +c1 -c1 "b"   the answer, or a part of it: texts, calls, and results that are told with it
//	  kept 3                   what the third of all these lines said, once more, at the same place
//	  without c1 c2            results that the client took out
//	  anew                     the client was started anew
//	  lost "why"               it came to nothing
//	  messages {...}           the body that passed, as Anthropic has it; responses {...} as OpenAI has it
//	  answer {...}             what was answered to that
func parse(t testing.TB, script string) *session {
	t.Helper()
	s := newSession()
	n, thread := 0, ""
	request := new(entry.Request)
	var units []*entry.Unit
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "":
		case word[0] == '#':
			n = number(t, word)
			f := strings.Fields(rest)
			relation := &entry.Relation{N: n, Thread: f[0], How: entry.Relating(f[1])}
			if thread = f[0]; len(f) > 2 {
				relation.Parent = number(t, f[2])
			}
			request = &entry.Request{N: n}
			s.facts = append(s.facts, request, relation, &entry.Response{N: n, End: entry.EndComplete})
		case word == "kept":
			again := *units[number(t, "#"+rest)-1]
			again.N = n
			s.unit(again, s.messages[again.Line-1])
		case word == "without":
			s.facts = append(s.facts, &entry.Unit{N: n, Of: entry.PartPruned, Thread: thread, Results: strings.Fields(rest)})
		case word == "anew":
			s.facts = append(s.facts, &entry.Unit{N: n, Of: entry.PartResumed, Thread: thread})
		case word == "lost":
			s.facts = append(s.facts, &entry.Response{N: n, End: entry.EndNone, Error: rest})
		case word == "messages" || word == "responses":
			request.Body = new(entry.Body)
			w := wire{anthropic.Protocol{}, provider.Request{Type: provider.TypeMessages}}
			if word == "responses" {
				w = wire{openai.Protocol{}, provider.Request{Type: provider.TypeResponses}}
			}
			if rest == gone {
				s.bodies[n] = []byte(rest)
			} else if err := s.passed(n, w, []byte(rest)); err != nil {
				t.Fatal(line, err)
			}
		case word == "answer":
			a := provider.Answer{Text: gone}
			if rest != gone {
				a = s.wires[n].Response(s.wires[n].Request, "application/json", []byte(rest)).Answer
			}
			s.answers[n] = a
			s.facts = append(s.facts, &entry.Unit{N: n, Of: entry.PartAnswer, Thread: thread, Role: "assistant", Calls: reading.Calls(a.Calls)})
		default:
			u := s.unit(entry.Unit{N: n, Of: entry.PartRecord, Thread: thread}, spoken(t, word, rest))
			units = append(units, u)
		}
	}
	return s
}

func number(t testing.TB, word string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(word, "#"))
	if err != nil {
		t.Fatal(word, err)
	}
	return n
}

// spoken reads what a line of a script says.
func spoken(t testing.TB, role, rest string) provider.Message {
	t.Helper()
	m := provider.Message{Role: role}
	said := map[string]string{"say": provider.SaidAssistant, "tool": provider.SaidTool}[role]
	if role == "say" {
		m.Role = "assistant"
	} else if said == "" {
		said = provider.SaidUser
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		word, more, _ := strings.Cut(rest, " ")
		switch rest[0] {
		case '+':
			m.Calls = append(m.Calls, provider.Call{ID: word[1:], Name: "Read", Args: []byte("{}")})
		case '-':
			m.Results, said = append(m.Results, word[1:]), provider.SaidTool
		case '?':
			m.Unknown = true
		default:
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				t.Fatal(rest, err)
			}
			text, _ := strconv.Unquote(quoted)
			call := ""
			if len(m.Results) > 0 && said == provider.SaidTool {
				call = m.Results[len(m.Results)-1]
			}
			m.Texts = append(m.Texts, provider.Text{Said: said, Text: text, Call: call})
			more = rest[len(quoted):]
		}
		rest = more
	}
	return m
}

// outline says what conversations are, as text. A list of messages is by their numbers; Held and Whole are one where they
// are the same, and what a turn was the first to hold is marked by a bar.
//
//	t1 root
//	  m0 user "read both"
//	  m1 assistant "I read." +c1 answer
//	  #2 extends #1: held 0-1 | 2; whole 0-2; answer 3
func outline(all []*conversation.Conversation) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s %s", c.Thread, c.How)
		if c.Missing > 0 {
			fmt.Fprintf(&b, ", %d missing", c.Missing)
		}
		b.WriteByte('\n')
		for i := range c.Messages {
			fmt.Fprintf(&b, "  m%d %s\n", i, messageLine(&c.Messages[i]))
		}
		for i := range c.Turns {
			fmt.Fprintf(&b, "  %s\n", turnLine(c, &c.Turns[i]))
		}
	}
	return b.String()
}

func messageLine(m *conversation.Message) string {
	line := string(m.Role)
	for _, p := range m.Parts {
		switch {
		case p.Kind == "call":
			line += " +" + p.ID
		case p.Kind == "result":
			line += " -" + p.ID + " " + quote(p.Text)
		default:
			line += " " + quote(p.Text)
		}
	}
	for _, mark := range []struct {
		is   bool
		name string
	}{{m.Unknown, "?"}, {m.Answer, "answer"}, {m.Summary, "summary"}} {
		if mark.is {
			line += " " + mark.name
		}
	}
	return line
}

func quote(text string) string {
	runes := []rune(text)
	return strconv.Quote(string(runes[:min(len(runes), 40)]))
}

func turnLine(c *conversation.Conversation, t *conversation.Turn) string {
	line := fmt.Sprintf("#%d %s", t.N, t.How)
	if t.Parent >= 0 {
		line += fmt.Sprintf(" #%d", c.Turns[t.Parent].N)
	}
	old := slices.DeleteFunc(slices.Clone(t.Held), func(m int) bool { return slices.Contains(t.New, m) })
	line += ": held " + spans(old) + " | " + spans(t.New)
	if !slices.Equal(t.Held, t.Whole) {
		line += "; whole " + spans(t.Whole)
	}
	if t.Answer >= 0 {
		line += "; answer " + strconv.Itoa(t.Answer)
	}
	if len(t.Pruned) > 0 {
		line += "; pruned " + spans(t.Pruned)
	}
	for _, mark := range []struct {
		is   bool
		name string
	}{{t.Resumed, "anew"}, {t.Trimmed, "trimmed"}, {t.Edited, "edited"}, {t.Passed, "passed"}, {t.End != entry.EndComplete, string(t.End)}} {
		if mark.is {
			line += "; " + mark.name
		}
	}
	return line
}

// spans writes numbers that follow one another as one.
func spans(list []int) string {
	var words []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		word := strconv.Itoa(list[i])
		if j > i {
			word += "-" + strconv.Itoa(list[j])
		}
		words, i = append(words, word), j+1
	}
	if words == nil {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// TestOutlines makes conversations of the scripts in testdata, and compares their outlines; of each the laws hold too.
func TestOutlines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now bytes.Buffer
		for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
			name, rest, _ := strings.Cut(part, "\n")
			script, want, _ := strings.Cut(strings.TrimRight(rest, "\n")+"\n", "----\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) {
				all := parse(t, script).conversations(t)
				got := outline(all)
				if got != want && !*update {
					t.Errorf("%s\nwant:\n%s", got, want)
				}
				fmt.Fprintf(&now, "=== %s\n%s----\n%s", name, script, got)
				for _, c := range all {
					for _, broken := range broken(c) {
						t.Error(broken)
					}
					for i := range c.Turns {
						if ids := unpaired(c, &c.Turns[i]); len(ids) > 0 {
							t.Errorf("#%d: results %v do not stand behind their calls", c.Turns[i].N, ids)
						}
					}
				}
			})
		}
		if *update {
			if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
