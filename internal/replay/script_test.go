package replay

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/unit"
)

var update = flag.Bool("update", false, "write what testdata wants as it is now")

// made is a conversation that is written down, a request a line:
//
//	+30s prompt 20 answer 10 call 300 quote=1 effort=high model=claude-sonnet-4-5 compacted pruned=2 resumed rewind=3 read=900 write=100
//
// A request comes so long after the one before. The person prompts with so many words, the answer has so many, and calls
// a tool whose result, which the next request holds, has so many. With quote its argument quotes the result of a turn.
type made struct {
	c      *conversation.Conversation
	result int // message that the next request holds; -1 for none
	at     time.Time
}

func makeConversation(t *testing.T, script string) *conversation.Conversation {
	t.Helper()
	m := &made{c: &conversation.Conversation{Thread: "t1", How: entry.Root}, result: -1, at: time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)}
	for line := range strings.Lines(script) {
		if fields := strings.Fields(line); len(fields) > 0 {
			m.request(t, fields)
		}
	}
	return m.c
}

func (m *made) request(t *testing.T, fields []string) {
	gap, err := time.ParseDuration(strings.TrimPrefix(fields[0], "+"))
	if err != nil {
		t.Fatal(err)
	}
	m.at = m.at.Add(gap)
	n := len(m.c.Turns)
	turn := conversation.Turn{N: n + 1, At: m.at, Model: "claude-sonnet-4-5", How: entry.Extends, Parent: n - 1, Answer: -1, End: entry.EndComplete}
	var before, held []int
	if n > 0 {
		p := &m.c.Turns[n-1]
		turn.Model, turn.Effort = p.Model, p.Effort
		before, held = m.behind(p, p.Whole), m.behind(p, p.Held)
	} else {
		turn.How = entry.Root
	}
	if m.result >= 0 {
		turn.New = append(turn.New, m.result)
		m.result = -1
	}
	answer, call, quoted := 5, 0, ""
	for i := 1; i < len(fields); i++ {
		name, value, _ := strings.Cut(fields[i], "=")
		if value == "" && i+1 < len(fields) {
			value = fields[i+1]
		}
		number, _ := strconv.Atoi(value)
		switch name {
		case "prompt":
			turn.New = append(turn.New, m.say(unit.User, unit.Part{Kind: unit.Text, Text: lorem("u", n, number)}))
			i++
		case "answer":
			answer = number
			i++
		case "call":
			call = number
			i++
		case "quote":
			quoted = m.c.Messages[m.resultOf(number)].Parts[0].Text[:60]
		case "effort":
			turn.Effort = value
		case "model":
			turn.Model = value
		case "compacted":
			turn.How, held = entry.ClientCompaction, nil
		case "pruned":
			turn.Pruned, turn.Trimmed = append(turn.Pruned, m.resultOf(number)), true
		case "shifted":
			turn.Shifted = true
		case "resumed":
			turn.Resumed = true
		case "rewind":
			p := &m.c.Turns[number-1]
			turn.How, turn.Parent, before, held = entry.Rewind, number-1, m.behind(p, p.Whole), m.behind(p, p.Held)
		case "read", "write":
			if turn.Usage == nil {
				turn.Usage = &entry.Usage{Output: 50}
			}
			if name == "read" {
				turn.Usage.CacheRead = int64(number)
			} else {
				turn.Usage.CacheWrite = int64(number)
			}
			turn.Usage.Input += int64(number)
		default:
			t.Fatalf("what is %q?", fields[i])
		}
	}
	turn.Held, turn.Whole = append(append([]int(nil), held...), turn.New...), append(append([]int(nil), before...), turn.New...)
	parts := []unit.Part{{Kind: unit.Text, Text: lorem("a", n, answer)}}
	if call > 0 {
		parts = append(parts, unit.Part{Kind: unit.Call, ID: fmt.Sprint("c", n+1), Name: "read", Args: []byte(fmt.Sprintf(`{"path":"file%d","text":%q}`, n+1, quoted))})
	}
	turn.Answer = m.say(unit.Assistant, parts...)
	if call > 0 {
		m.result = m.say(unit.Tool, unit.Part{Kind: unit.Result, ID: fmt.Sprint("c", n+1), Text: lorem("r", n, call)})
	}
	m.c.Turns = append(m.c.Turns, turn)
}

func (m *made) behind(p *conversation.Turn, list []int) []int {
	return append(append([]int(nil), list...), p.Answer)
}

func (m *made) say(role unit.Role, parts ...unit.Part) int {
	u := unit.Unit{Ref: fmt.Sprint("e", len(m.c.Messages)+1), Role: role, Parts: parts}
	m.c.Messages = append(m.c.Messages, conversation.Message{Unit: u})
	return len(m.c.Messages) - 1
}

// resultOf is the message with the result of a turn's call.
func (m *made) resultOf(turn int) int {
	for i := range m.c.Messages {
		if ids := m.c.Messages[i].Results(); len(ids) > 0 && ids[0] == fmt.Sprint("c", turn) {
			return i
		}
	}
	return -1
}

// lorem are so many words, which nobody else says.
func lorem(kind string, n, words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%s word ", kind+strconv.Itoa(n)+"x"+strconv.Itoa(i))
	}
	return b.String()
}

// scripts runs the cases of a file: a name behind ===, what is given, and behind ---- what comes of it.
func scripts(t *testing.T, file string, run func(t *testing.T, given string) string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for _, c := range strings.Split(string(data), "=== ")[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		given, want, _ := strings.Cut(rest, "----\n")
		t.Run(name, func(t *testing.T) {
			got := run(t, given)
			if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") && !*update {
				t.Errorf("%s----\n%s\nwant:\n%s", given, got, want)
			}
			fmt.Fprintf(&now, "=== %s\n%s----\n%s\n", name, given, got)
		})
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.TrimRight(now.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
