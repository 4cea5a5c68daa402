package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// demoTurnLimit is the most turns that one prompt may take.
const demoTurnLimit = 60

// demoResult counts what the demo's agent did.
type demoResult struct {
	Requests    int // sent, with those that were refused or only counted tokens
	Retries     int // of them, those sent again after 529
	Turns       int // answers of the model, the sub-agents' included
	ToolCalls   int
	SubAgents   int
	Rewinds     int
	Compactions int
	TestsFailed int // runs of test.sh
	TestsPassed int
	Tokens      int // of the conversation after the rewind, as the server counted them
}

// demoAgent is a small coding agent: it sends a conversation, runs the tools that the answer calls, and sends what
// came of them, until an answer calls none.
type demoAgent struct {
	client *demoClient
	dir    string
	root   *os.Root
	say    func(format string, args ...any)
	result demoResult
	green  bool // the last run of the tests passed
}

// demoChat is one conversation: the main one, or a sub-agent's.
type demoChat struct {
	name     string // in front of progress lines
	system   string
	specs    []json.RawMessage
	tools    *demoTools
	messages []demoMessage
	turns    int
}

func (c *demoChat) request() demoRequest {
	return demoRequest{
		Model:    demoModel,
		System:   []demoBlock{{Type: "text", Text: c.system}},
		Tools:    c.specs,
		Messages: c.messages,
	}
}

// runDemoAgent makes a scratch project with a bug in an empty folder and has an agent find and mend it. The agent
// talks to a Messages API at baseURL, which plays demoScript, and runs real tools in the folder; say is told of every
// step. It returns an error if a tool failed that should not have, or if the tests do not pass at the end.
func runDemoAgent(ctx context.Context, baseURL, dir string, say func(format string, args ...any)) (demoResult, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return demoResult{}, err
	}
	if err := makeDemoRepo(ctx, dir); err != nil {
		return demoResult{}, fmt.Errorf("make the scratch project: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return demoResult{}, err
	}
	defer root.Close()
	transport := &http.Transport{} // its own, so that no connection outlives the demo
	defer transport.CloseIdleConnections()
	a := &demoAgent{
		client: &demoClient{base: strings.TrimSuffix(baseURL, "/"), http: &http.Client{Transport: transport}},
		dir:    dir, root: root, say: say,
	}
	err = a.session(ctx)
	a.result.Requests, a.result.Retries = a.client.requests, a.client.retries
	if err == nil && !a.green {
		err = errors.New("the tests do not pass at the end")
	}
	return a.result, err
}

// session is what the person at the keyboard does: asks for the cause, asks for a repair, goes back because the
// repair is wrong, asks again, and has it committed. Then the conversation has become long: the client compacts it, and
// the person asks for one thing more.
func (a *demoAgent) session(ctx context.Context) error {
	c := &demoChat{system: demoSystem, specs: demoToolSpecs(), tools: &demoTools{dir: a.dir, root: a.root, task: a.subAgent}}
	if _, err := a.work(ctx, c, demoAsk); err != nil {
		return err
	}
	before := len(c.messages)
	if _, err := a.work(ctx, c, demoRepair); err != nil {
		return err
	}
	if a.green {
		return errors.New("the first repair should have been wrong")
	}
	if err := a.rewind(ctx, c, before); err != nil {
		return err
	}
	for _, prompt := range []string{demoRepairAgain, demoCommitIt} {
		if _, err := a.work(ctx, c, prompt); err != nil {
			return err
		}
	}
	summary, err := a.compact(ctx, c)
	if err != nil {
		return err
	}
	_, err = a.work(ctx, c, summary, demoTellOwner)
	return err
}

// compact asks for a summary and forgets everything else; what is said next begins with what it returns.
func (a *demoAgent) compact(ctx context.Context, c *demoChat) (string, error) {
	summary, err := a.work(ctx, c, demoSummarise)
	if err != nil {
		return "", err
	}
	a.result.Compactions++
	a.say("compaction: a summary of %d words stands in for %d messages", len(strings.Fields(summary)), len(c.messages)-2)
	c.messages = nil
	return demoGoOn + summary, nil
}

// rewind drops the messages from a point on and puts the project's files back to where they were.
func (a *demoAgent) rewind(ctx context.Context, c *demoChat, to int) error {
	dropped := len(c.messages) - to
	c.messages = slices.Clip(c.messages[:to])
	if err := demoGit(ctx, a.dir, 2, "checkout", "-q", "--", "."); err != nil {
		return err
	}
	a.result.Rewinds++
	tokens, err := a.client.count(ctx, c.request())
	if err != nil {
		return fmt.Errorf("count tokens: %w", err)
	}
	a.result.Tokens = tokens
	a.say("rewind: %d messages dropped, files put back; %d tokens stay", dropped, tokens)
	return nil
}

// work adds a message to a conversation, the prompt last in it, and goes on until an answer calls no tool; it returns
// that answer's text.
func (a *demoAgent) work(ctx context.Context, c *demoChat, texts ...string) (string, error) {
	said := demoMessage{Role: "user"}
	for _, text := range texts {
		said.Content = append(said.Content, demoBlock{Type: "text", Text: text})
	}
	c.messages = append(c.messages, said)
	a.say("%sprompt: %s", c.name, demoFirst(texts[len(texts)-1], 90))
	for range demoTurnLimit {
		c.turns++
		answer, stop, err := a.client.send(ctx, c.request())
		if err != nil {
			return "", fmt.Errorf("%sturn %d: %w", c.name, c.turns, err)
		}
		a.result.Turns++
		c.messages = append(c.messages, answer)
		if stop != "tool_use" {
			text := demoText(answer)
			a.say("%sturn %d: %s", c.name, c.turns, demoFirst(text, 90))
			return text, nil
		}
		results, err := a.answer(ctx, c, answer)
		if err != nil {
			return "", fmt.Errorf("%sturn %d: %w", c.name, c.turns, err)
		}
		c.messages = append(c.messages, results)
	}
	return "", fmt.Errorf("%sno end after %d turns", c.name, demoTurnLimit)
}

// answer runs all calls of a turn in their order and puts their results into one message.
func (a *demoAgent) answer(ctx context.Context, c *demoChat, turn demoMessage) (demoMessage, error) {
	results := demoMessage{Role: "user"}
	for _, call := range turn.Content {
		if call.Type != "tool_use" {
			continue
		}
		a.result.ToolCalls++
		out, err := c.tools.run(ctx, call.Name, call.Input)
		if err != nil {
			return results, fmt.Errorf("%s: %w", call.Name, err)
		}
		a.say("%sturn %d: %s → %s", c.name, c.turns, demoCallLine(call), demoOutcomeLine(out))
		switch {
		case demoRunsTests(call):
			a.note(!out.failed)
		case out.failed:
			return results, fmt.Errorf("%s should not have failed: %s", demoCallLine(call), strings.TrimSpace(out.text))
		}
		results.Content = append(results.Content, demoBlock{Type: "tool_result", ToolUseID: call.ID, Content: out.text, IsError: out.failed})
	}
	if len(results.Content) == 0 {
		return results, errors.New("the answer says tool_use and calls no tool")
	}
	return results, nil
}

func (a *demoAgent) note(passed bool) {
	a.green = passed
	if passed {
		a.result.TestsPassed++
	} else {
		a.result.TestsFailed++
	}
}

// subAgent works on a task in a conversation of its own, over the same URL, without task and the tools that write.
func (a *demoAgent) subAgent(ctx context.Context, prompt string) (string, error) {
	a.result.SubAgents++
	var specs []json.RawMessage
	for _, i := range []int{0, 1, 4} { // bash, read_file, grep
		specs = append(specs, demoToolSpecs()[i])
	}
	return a.work(ctx, &demoChat{
		name:   "  sub-agent ",
		system: demoSubSystem,
		specs:  specs,
		tools:  &demoTools{dir: a.dir, root: a.root},
	}, prompt)
}

// demoRunsTests says whether a call is a run of the tests, which alone may fail.
func demoRunsTests(call demoBlock) bool {
	var args demoArgs
	return call.Name == "bash" && json.Unmarshal(call.Input, &args) == nil && args.Command == "sh test.sh"
}

// demoCallLine is a call for people: the tool and what it works on.
func demoCallLine(call demoBlock) string {
	var a demoArgs
	if err := json.Unmarshal(call.Input, &a); err != nil {
		return call.Name
	}
	for _, what := range []string{a.Command, a.Pattern, a.Path, a.Prompt} {
		if what != "" {
			return call.Name + " " + demoFirst(what, 60)
		}
	}
	return call.Name
}

// demoOutcomeLine is an outcome for people: whether it failed, and how much text came back.
func demoOutcomeLine(out demoOutcome) string {
	lines := strings.Count(strings.TrimSuffix(out.text, "\n"), "\n") + 1
	line := fmt.Sprintf("%d lines", lines)
	if lines == 1 {
		line = "1 line"
	}
	if n := len(out.text); n >= 10_000 {
		line += fmt.Sprintf(", %d kB", n/1000)
	}
	if out.failed {
		line = "failed, " + line
	}
	return line
}

// demoText is the text of a message.
func demoText(m demoMessage) string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// demoFirst is the first line of a text, shortened to a number of runes.
func demoFirst(s string, runes int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > runes {
		line, more = string(r[:runes]), true
	}
	if more {
		line += " …"
	}
	return line
}
