package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/unit"

	"pgregory.net/rapid"
)

// talkOf is a conversation of one turn a step: what is said, the answer's text and the argument of its call.
func talkOf(steps ...[4]string) *conversation.Conversation {
	c := &conversation.Conversation{Thread: "t1"}
	say := func(role unit.Role, p unit.Part) int {
		c.Messages = append(c.Messages, conversation.Message{Unit: unit.Unit{Role: role, Parts: []unit.Part{p}}})
		return len(c.Messages) - 1
	}
	var whole []int
	for i, s := range steps {
		t := conversation.Turn{N: i + 1, Parent: i - 1, End: entry.EndComplete}
		if s[0] != "" {
			t.New = append(t.New, say(unit.User, unit.Part{Kind: unit.Text, Text: s[0]}))
		}
		if s[1] != "" {
			t.New = append(t.New, say(unit.Tool, unit.Part{Kind: unit.Result, ID: fmt.Sprint("c", i), Text: s[1]}))
		}
		whole = append(slices.Clone(whole), t.New...)
		t.Whole = whole
		t.Answer = say(unit.Assistant, unit.Part{Kind: unit.Text, Text: s[2]})
		args := fmt.Sprintf(`{"text":%q}`, s[3])
		c.Messages[t.Answer].Parts = append(c.Messages[t.Answer].Parts, unit.Part{Kind: unit.Call, ID: fmt.Sprint("c", i+1), Name: "write", Args: []byte(args)})
		whole = append(slices.Clone(whole), t.Answer)
		c.Turns = append(c.Turns, t)
	}
	return c
}

const line40 = "the quick brown fox jumps over lazy dogs" // 40 characters

// TestNeeds finds what calls quote from earlier results, and nobody else said.
//
// covers: N-09 part
func TestNeeds(t *testing.T) {
	tests := []struct {
		name                         string
		result, user, answer, quotes string
		want                         []string
	}{
		{"a whole line", "x\n" + line40 + "\ny", "", "", line40, []string{"quotes " + line40}},
		{"a part of one", "12\t" + line40 + " and on", "", "", "// " + line40 + " or so", []string{"quotes " + line40 + " "}},
		{"a character less", line40[:39], "", "", line40[:39], nil},
		{"over a line's end", line40[:20] + "\n" + line40[20:], "", "", line40[:20] + "\n" + line40[20:], nil},
		{"the user said it, too", line40, "see " + line40, "", line40, nil},
		{"the agent said it before", line40, "", "I write " + line40, line40, nil},
		{"characters that are not ASCII", "größer: " + strings.Repeat("ü", 40), "", "", strings.Repeat("ü", 40), []string{"quotes " + strings.Repeat("ü", 40)}},
		{"39 of them", strings.Repeat("ü", 39), "", "", strings.Repeat("ü", 39), nil},
		{"more spaces than pieces show", "elevenchars\nBranch:                      opts.Branch,", "", "", "Branch:                      opts.Branch,", []string{"names opts.Branch", "quotes Branch:                      opts.Branch,"}},
		{"a path", "found in internal/replay/run.go:12", "", "", "cat internal/replay/run.go", []string{"names internal/replay/run.go"}},
		{"a symbol and a word", "func parseHeader() { something }", "", "", "parseHeader something", []string{"names parseHeader"}},
		{"a short name", "func do_it()", "", "", "do_it", nil},
		{"a name that the user said first", "TestLogin_Fails", "why does TestLogin_Fails fail?", "", "go test -run TestLogin_Fails", nil},
		{"a name as a part of another", "TestLogin_FailsTwice", "", "", "go test -run TestLogin_Fails", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := talkOf([4]string{"go", "", "reading", "x"}, [4]string{test.user, test.result, test.answer, "y"}, [4]string{"now", "", "", test.quotes})
			var got []string
			for _, n := range needs(c, unitsOf(c)) {
				if n.Turn == 2 {
					got = append(got, n.Kind+" "+n.Text)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("needed are %q, want %q", got, test.want)
			}
		})
	}
}

// TestQuotesLaw compares the search by pieces with one that tries every place: from left to right, as long as it can be.
func TestQuotesLaw(t *testing.T) {
	words := rapid.SampledFrom([]string{"abcdefghij", "klmnopqrst", " ", "ü", "0123456789", "uvwxyzABCD", "é", "\n", "=-=-=-=-=-", strings.Repeat(" ", 23)})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 24).Draw(t, "words"), "") })
	rapid.Check(t, func(t *rapid.T) {
		e := evidence{pieces: make(map[string][]int), names: make(map[string][]int), sent: map[int]bool{0: true, 1: true, 2: true}}
		results := rapid.SliceOfN(text, 1, 3).Draw(t, "results")
		for i, r := range results {
			e.result(i, r)
		}
		line := strings.TrimSpace(strings.ReplaceAll(text.Draw(t, "line"), "\n", ""))
		var want []string
		runes := []rune(line)
		for i := 0; i < len(runes); {
			end := 0
			for j := i + minQuote; j <= len(runes); j++ {
				if slices.ContainsFunc(results, func(r string) bool { return strings.Contains(r, string(runes[i:j])) }) {
					end = j
				} else {
					break
				}
			}
			if end == 0 {
				i++
				continue
			}
			want = append(want, string(runes[i:end]))
			i = end
		}
		if got := e.quotes(line); !slices.Equal(got, want) {
			t.Fatalf("of %q in %q quotes are\n%q, want\n%q", line, results, got, want)
		}
	})
}

// TestRepair makes conversations that a provider takes, whatever was broken off in them.
func TestRepair(t *testing.T) {
	part := rapid.Custom(func(t *rapid.T) unit.Part {
		id := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "id")
		return rapid.SampledFrom([]unit.Part{{Kind: unit.Text, Text: "text"}, {Kind: unit.Call, ID: id, Name: "run", Args: []byte("{}")}, {Kind: unit.Result, ID: id, Text: "result"}}).Draw(t, "part")
	})
	said := rapid.Custom(func(t *rapid.T) unit.Unit {
		u := unit.Unit{Ref: "e", Role: rapid.SampledFrom([]unit.Role{unit.User, unit.Assistant, unit.Tool}).Draw(t, "role"), Parts: rapid.SliceOfN(part, 0, 3).Draw(t, "parts")}
		return u
	})
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(said, 1, 12).Draw(t, "units")
		units[0] = unit.Unit{Ref: "e", Role: unit.User, Parts: []unit.Part{{Kind: unit.Text, Text: "begin"}}}
		list := make([]int, len(units))
		for i := range list {
			list[i] = i
		}
		renumber(units)
		repair(units, [][]int{list})
		if err := unit.Check(units, unit.Contract{Begin: unit.User}); err != nil {
			t.Fatal(err)
		}
		if again := repair(units, [][]int{list}); again != 0 {
			t.Fatalf("%d parts are repaired once more", again)
		}
	})
}

// unitsOf are the messages of a conversation as they were said.
func unitsOf(c *conversation.Conversation) (units []unit.Unit) {
	for i := range c.Messages {
		units = append(units, c.Messages[i].Unit)
	}
	return units
}
