package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// conversation is what an agent of a script has said and was answered. It speaks Anthropic Messages.
//
// A line of its file is a word and a text, in which \n is a newline:
//
//	user TEXT        the agent says something
//	result ID TEXT   the agent gives back what a call gave; several behind one another are one message
//	says TEXT        the model answers; what follows belongs to the answer, up to the agent's next word
//	calls ID NAME ARGS   the model calls a tool, with ARGS as JSON
//	thinks TEXT      the model thinks, signed
//	raw JSON         a block of the answer as it stands; behind user or result of the agent's message
//	fails STATUS     the model answers with an error, and is not heard
//	back N           the agent forgets all but the first N messages
//	edit N TEXT      the agent puts a text in the place of what message N says, or gives back, first; they count from 1
//	fresh            the agent begins again, with nothing
//	silent TEXT      the system prompt from here on
//	plain            from here on no tools are offered
type conversation struct {
	messages []map[string]any
	system   string
	plain    bool
	answers  int
}

// block is a content block, whose members keep their order.
func block(members ...any) json.RawMessage {
	var b bytes.Buffer
	for i := 0; i < len(members); i += 2 {
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err) // strings and JSON are always written
		}
		fmt.Fprintf(&b, ",%q:%s", members[i], value)
	}
	return json.RawMessage("{" + b.String()[1:] + "}")
}

// add puts blocks at the end, into the last message when it is of the same role.
func (c *conversation) add(role string, blocks ...json.RawMessage) {
	if n := len(c.messages); n > 0 && c.messages[n-1]["role"] == role {
		c.messages[n-1]["content"] = append(c.messages[n-1]["content"].([]json.RawMessage), blocks...)
		return
	}
	c.messages = append(c.messages, map[string]any{"role": role, "content": slices.Clone(blocks)})
}

// request is the body of the next request.
func (c *conversation) request() ([]byte, error) {
	body := map[string]any{"model": "m", "max_tokens": 100, "messages": c.messages}
	if c.system != "" {
		body["system"] = c.system
	}
	if !c.plain {
		body["tools"] = []any{map[string]any{"name": "read", "description": "Reads a file: schema text.", "input_schema": map[string]any{"type": "object"}}}
	}
	return json.Marshal(body)
}

// play sends what a file says, and answers it by the upstream of the world.
//
// Every answer is recorded before the agent goes on, so that entries stand in the same order each time.
func (c *conversation) play(w *world, home, url, tag, text string) error {
	var answer []json.RawMessage
	status := http.StatusOK
	turn := func() error {
		if answer == nil && status == http.StatusOK {
			return nil
		}
		c.answers++
		said := jsonAnswer(fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":%s,"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`,
			c.answers, mustJSON(answer)))
		if status != http.StatusOK {
			said = jsonAnswer(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
			said.status = status
		}
		w.upstream.answer("/v1/messages", said)
		body, err := c.request()
		if err != nil {
			return err
		}
		before, _ := answered(home, tag)
		h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"scripted/1"}}
		if _, _, err := sendRequest(w.ctx, http.MethodPost, url+"/anthropic/s/"+tag+"/v1/messages", h, body); err != nil {
			return err
		}
		for start := time.Now(); ; {
			if last, whole := answered(home, tag); last > before && whole {
				break
			}
			if time.Since(start) > patience {
				return errors.New("the answer is never recorded")
			}
		}
		if answer != nil && status == http.StatusOK {
			c.add("assistant", answer...)
		}
		answer, status = nil, http.StatusOK
		return nil
	}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"), " ")
		switch word {
		case "says":
			answer = append(answer, block("type", "text", "text", rest))
			continue
		case "thinks":
			answer = append(answer, block("type", "thinking", "thinking", rest, "signature", "signed: "+rest))
			continue
		case "calls":
			id, rest, _ := strings.Cut(rest, " ")
			name, args, _ := strings.Cut(rest, " ")
			answer = append(answer, block("type", "tool_use", "id", id, "name", name, "input", json.RawMessage(args)))
			continue
		case "raw":
			if answer != nil {
				answer = append(answer, json.RawMessage(rest))
				continue
			}
		case "fails":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return err
			}
			status = n
		}
		if err := turn(); err != nil {
			return err
		}
		if err := c.say(word, rest); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	return turn()
}

// answered is the number of the newest request of the newest session of a tag, and whether its response is recorded.
func answered(home, tag string) (last int, whole bool) {
	d, err := journal.Open(home, journal.Options{Existing: true})
	if err != nil {
		return 0, false
	}
	defer d.Close()
	names, err := d.Sessions(context.Background())
	if err != nil {
		return 0, false
	}
	for _, name := range slices.Backward(names) {
		f, err := d.First(context.Background(), name)
		if s, ok := f.Fact.(*entry.Session); err != nil || !ok || s.Key != ambit.TagKey(tag) {
			continue
		}
		p, err := pool.Fresh(context.Background(), d, name)
		if err != nil || p.Last() == 0 {
			return 0, false
		}
		return p.Last(), p.Exchange(p.Last()).Response != nil
	}
	return 0, false
}

// say takes in what the agent does.
func (c *conversation) say(word, rest string) error {
	number, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	if (word == "back" || word == "edit") && (err != nil || n < 0 || n > len(c.messages)) {
		return fmt.Errorf("there are %d messages", len(c.messages))
	}
	switch word {
	case "", "fails":
	case "user":
		c.add("user", block("type", "text", "text", rest))
	case "result":
		c.add("user", block("type", "tool_result", "tool_use_id", number, "content", text))
	case "raw":
		c.add("user", json.RawMessage(rest))
	case "back":
		c.messages = slices.Clone(c.messages[:n])
	case "edit":
		blocks := slices.Clone(c.messages[n-1]["content"].([]json.RawMessage))
		var first struct {
			ID string `json:"tool_use_id"`
		}
		if err := json.Unmarshal(blocks[0], &first); err != nil {
			return err
		}
		blocks[0] = block("type", "text", "text", text)
		if first.ID != "" {
			blocks[0] = block("type", "tool_result", "tool_use_id", first.ID, "content", text)
		}
		c.messages[n-1] = map[string]any{"role": c.messages[n-1]["role"], "content": blocks}
	case "fresh":
		c.messages = nil
	case "silent":
		c.system = rest
	case "plain":
		c.plain = true
	default:
		return fmt.Errorf("no word %q", word)
	}
	return nil
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// converse plays a file in the conversation of a tag; from is another tag whose conversation is taken over first.
func converse(ts *testscript.TestScript, url, tag, from, file string) {
	w := worldOf(ts)
	c := w.talks[tag]
	if c == nil {
		c = new(conversation)
		w.talks[tag] = c
	}
	if other := w.talks[from]; other != nil {
		*c = *other
		c.messages = slices.Clone(other.messages)
	}
	ts.Check(c.play(w, ts.Getenv("AMBIT_HOME"), url, tag, ts.ReadFile(file)))
}

func scriptTalk(ts *testscript.TestScript, neg bool, args []string) {
	given, args := flags(ts, args)
	plain(ts, neg, args, 2, 2)
	converse(ts, ts.Getenv("UP"), args[0], strings.Join(given["-from"], ""), args[1])
}

func scriptPlay(ts *testscript.TestScript, neg bool, args []string) {
	given, args := flags(ts, args)
	plain(ts, neg, args, 3, 3)
	w := worldOf(ts)
	p, err := startUp(w.ctx, ts.MkAbs("."), environ(ts), "--upstream", "anthropic="+w.upstream.URL)
	ts.Check(err)
	converse(ts, p.url, args[1], strings.Join(given["-from"], ""), args[2])
	ts.Check(p.stop())
	scriptSession(ts, false, []string{args[0], "tag:" + args[1]})
}

// scriptMember takes the text of the first member of a name out of JSON.
func scriptMember(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, 3)
	m := regexp.MustCompile(`"` + args[2] + `":"([^"]*)"`).FindStringSubmatch(ts.ReadFile(args[1]))
	if m == nil {
		ts.Fatalf("%s has no member %q:\n%s", args[1], args[2], ts.ReadFile(args[1]))
	}
	ts.Setenv(args[0], m[1])
}

// scriptLoad makes the bytes of a file a variable, without a last newline; scriptTimes writes a text many times.
func scriptLoad(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	ts.Setenv(args[0], strings.TrimSuffix(ts.ReadFile(args[1]), "\n"))
}

func scriptTimes(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, 3)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(args[2], n)), 0o600))
}

// scriptSqueeze compresses with zstd.
func scriptSqueeze(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	w, err := zstd.NewWriter(nil)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), w.EncodeAll([]byte(ts.ReadFile(args[0])), nil), 0o600))
}

var clockTime = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// scriptCompareText compares texts; times of day in the first stand as <time> in the second, whose variables are filled in.
func scriptCompareText(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	got := clockTime.ReplaceAllString(ts.ReadFile(args[0]), "<time>")
	if want := os.Expand(ts.ReadFile(args[1]), ts.Getenv); got != want {
		ts.Fatalf("%s is not %s:\n%s", args[0], args[1], got)
	}
}
