package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ambit"
	"ambit/entry"
	"ambit/internal/agent"
	"ambit/internal/pool"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/journal"
	"ambit/provider"
	"ambit/source"
	"ambit/source/host"

	"github.com/spf13/cobra"
)

// runFlags are what ambit run is called with.
type runFlags struct {
	protocol, transport, baseURL, model, dir, resume, scripted, mode, policy string
	allow                                                                    []string
	yes, asJSON, ephemeral, noProject                                        bool
	turns, output, window                                                    int
	limit                                                                    time.Duration
	usd                                                                      float64

	given map[string]bool // flags that were
}

// ran is the answer of ambit run --json.
type ran struct {
	Session   string `json:"session"`
	Ephemeral bool   `json:"ephemeral,omitempty"`
	ambit.Outcome
	Ended string `json:"ended"`
	Why   string `json:"why,omitempty"`
}

func newRun(e *env) *cobra.Command {
	f := runFlags{given: make(map[string]bool)}
	c := &cobra.Command{
		Use:   `run "TASK"`,
		Short: "Have an agent do a task in a folder, and record all of it",
		Long: "Have Ambit's own agent do a task: it reads, searches and edits files of the folder, and runs commands there. What it is\n" +
			"told, asked and answered, and every call with its result, is recorded before it counts, as ambit log shows.\n\n" +
			"The model is asked over one of four wires. Its credential is ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in the\n" +
			"environment; a server on this machine needs none. Reading and searching is allowed; for everything else it asks, where\n" +
			"a person can answer, unless --yes or a rule allows it.\n\n" +
			"Rules are an action, a tool and what it is about: \"allow bash:go test*\", \"deny write:**/.env\". The last that matches counts.",
		Example: "  ambit run \"Fix the failing test.\"\n" +
			"  ambit run --protocol openai-chat --base-url http://127.0.0.1:11434/v1 --model qwen3 \"What does this program do?\"\n" +
			"  ambit run --allow \"allow bash:go test*\" --turns 40 --usd 2 \"Make the tests pass.\"\n" +
			"  ambit run --resume last \"And now the documentation.\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && f.resume == "" {
				return misused("the task is one argument: put it in quotes")
			}
			if len(args) == 1 && (strings.TrimSpace(args[0]) == "" || !utf8.ValidString(args[0])) {
				return misused("the task is empty, or no UTF-8: say in words what is to be done")
			}
			switch {
			case f.turns < 1:
				return misused("--turns is 1 at least, not %d", f.turns)
			case f.output < 0 || f.window < 0 || f.limit < 0 || f.usd < 0:
				return misused("--output, --window, --time and --usd are no less than 0, which is for any")
			case f.dir == "":
				return misused("--dir names a folder, and is empty")
			}
			if m := ambit.Mode(f.mode); m != "" && m != ambit.ModeOn && m != ambit.ModeOff {
				return misused("--mode is on or off, not %q", f.mode)
			}
			for _, name := range []string{"protocol", "transport", "base-url", "model", "dir", "policy"} {
				f.given[name] = c.Flags().Changed(name)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return e.runAgent(c.Context(), &f, strings.Join(args, ""))
		},
	}
	c.Flags().StringVar(&f.protocol, "protocol", "anthropic", "the wire: anthropic, openai-responses, openai-chat or gemini")
	c.Flags().StringVar(&f.transport, "transport", "sse", "how requests travel: sse, websocket, websocket-cached or auto; WebSockets with openai-responses only")
	c.Flags().StringVar(&f.baseURL, "base-url", "", "where the model is asked; without it at its provider")
	c.Flags().StringVar(&f.model, "model", "", "the model's name; without it a usual one of the wire")
	c.Flags().IntVar(&f.window, "window", 0, "the model's window in tokens, where no table has it, as for a server of your own; 0 for the table's")
	c.Flags().StringVar(&f.policy, "policy", ambit.PolicyFull, "what may be left out of requests: record (nothing), cut (results) or full (and old messages, for a checkpoint)")
	c.Flags().StringVar(&f.dir, "dir", ".", "the folder that it works in")
	c.Flags().BoolVar(&f.noProject, "no-project", false, "leave the project's instruction files unread; your own in Ambit's folder stay")
	c.Flags().StringVar(&f.resume, "resume", "", "go on with this session of ambit run, by name, part of a name, or last; wire, model, window, base URL, transport, policy, mode and folder are as they were where no flag says otherwise")
	c.Flags().StringVar(&f.scripted, "scripted", "", "play a written model instead of a real one: demo, in an empty folder")
	c.Flags().StringArrayVar(&f.allow, "allow", nil, "a rule, such as \"allow bash:go test*\"; may be given several times")
	c.Flags().StringVar(&f.mode, "mode", "", "context.mode: on, or off to tell the agent no live facts and leave its conversation as it is; without it as the session has it, and a new one on")
	c.Flags().BoolVar(&f.ephemeral, "ephemeral", false, "record nothing on the disk: when it has ended, nobody can go on with it or look at it")
	c.Flags().BoolVar(&f.yes, "yes", false, "allow everything that no rule denies")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object at the end, and nothing else on standard output")
	c.Flags().IntVar(&f.turns, "turns", ambit.DefaultTurns, "the most turns")
	c.Flags().IntVar(&f.output, "output", 0, "the most tokens of output; 0 for any")
	c.Flags().DurationVar(&f.limit, "time", 0, "the longest time, such as 10m; 0 for any")
	c.Flags().Float64Var(&f.usd, "usd", 0, "the most that it may cost, in dollars; 0 for any")
	return c
}

// wires are what people call them, with where a model is asked that nobody said otherwise, and what it is called.
var wires = map[string]ambit.Model{
	"anthropic":        {Provider: "anthropic", Type: provider.TypeMessages, Name: "claude-sonnet-5", BaseURL: "https://api.anthropic.com", Output: 32_000},
	"openai-responses": {Provider: "openai", Type: provider.TypeResponses, Name: "gpt-5.6-sol", BaseURL: "https://api.openai.com/v1"},
	"openai-chat":      {Provider: "openai", Type: provider.TypeChat, Name: "gpt-5.6-sol", BaseURL: "https://api.openai.com/v1"},
	"gemini":           {Provider: "gemini", Type: provider.TypeGenerate, Name: "gemini-2.5-pro", BaseURL: "https://generativelanguage.googleapis.com"},
}

// transports are the ways that requests may travel.
var transports = []ambit.Transport{ambit.TransportSSE, ambit.TransportWebSocket, ambit.TransportCached, ambit.TransportAuto}

// runModel is the model that the flags mean, and the folder; what they do not say is as the session that is taken up had it.
func (e *env) runModel(f *runFlags, was *entry.Works) (m ambit.Model, dir string, err error) {
	protocol := f.protocol
	for name, w := range wires {
		if was != nil && !f.given["protocol"] && w.Provider == was.Provider && w.Type == was.Type {
			protocol = name
		}
	}
	m, dir = wires[protocol], f.dir
	if was != nil && was.Provider == m.Provider && was.Type == m.Type {
		m.Name, m.BaseURL, m.Output, m.Window, m.Transport = was.Model, was.BaseURL, was.Output, was.Window, ambit.Transport(was.Travels)
	}
	if f.given["transport"] {
		m.Transport = ambit.Transport(f.transport)
	}
	if was != nil && !f.given["dir"] {
		dir = was.Dir
	}
	if was != nil && !f.given["policy"] && was.Policy != "" {
		f.policy = was.Policy
	}
	m.Credential = e.getenv(strings.ToUpper(m.Provider) + "_API_KEY")
	if f.model != "" {
		m.Name = f.model
	}
	if f.window > 0 || was != nil && m.Name != was.Model {
		m.Window = f.window
	}
	if f.baseURL != "" {
		m.BaseURL = f.baseURL
	}
	dir, err = filepath.Abs(dir)
	return m, dir, err
}

// runnable says what a model lacks to be asked, and what a limit lacks that nothing is known of.
func (e *env) runnable(f *runFlags, m ambit.Model) error {
	key := strings.ToUpper(m.Provider) + "_API_KEY"
	for _, w := range wires {
		if m.Credential == "" && m.BaseURL == w.BaseURL {
			return &hintError{fmt.Errorf("%s is not set in the environment, and %s answers nobody without it", key, m.BaseURL), "set it, or name a server of your own with --base-url"}
		}
	}
	if _, priced := pricing.Lookup(m.Name, e.now()); f.usd > 0 && !priced {
		e.say("--usd ends nothing: no price is known of the model %s", m.Name)
	}
	return nil
}

// runAgent has the agent do a task.
func (e *env) runAgent(ctx context.Context, f *runFlags, task string) error {
	if _, known := wires[f.protocol]; !known {
		return misused("there is no protocol %q: anthropic, openai-responses, openai-chat and gemini are", f.protocol)
	}
	if _, known := selection.Named(f.policy); !known {
		return misused("there is no policy %q: record, cut and full are", f.policy)
	}
	if !slices.Contains(transports, ambit.Transport(f.transport)) {
		return misused("there is no transport %q: sse, websocket, websocket-cached and auto are", f.transport)
	}
	if w := wires[f.protocol].Type; w != provider.TypeResponses && (f.transport == string(ambit.TransportWebSocket) || f.transport == string(ambit.TransportCached)) && f.resume == "" {
		return misused("--transport %s goes with --protocol openai-responses only; sse and auto go with every one", f.transport)
	}
	if f.scripted != "" && f.resume != "" {
		return misused("a written task has a beginning: --scripted and --resume do not go together")
	}
	if f.ephemeral && f.resume != "" {
		return misused("an ephemeral session begins anew and leaves nothing: --ephemeral and --resume do not go together")
	}
	if f.scripted != "" {
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return err
		}
		base, stop, err := e.runScripted(ctx, f.scripted, dir, wires[f.protocol])
		if err != nil {
			return err
		}
		defer stop()
		f.baseURL = base
	}
	d, home, err := e.runStore(f)
	if err != nil {
		return err
	}
	defer d.Close()
	s, err := e.runSession(ctx, d, f, task, home)
	if err != nil {
		return err
	}
	if task != "" {
		in := ambit.Input{Text: task}
		if f.resume != "" {
			in.Delivery = entry.Steer // what was left undone is not gone on with before this is seen
		}
		if _, err = s.Admit(ctx, in); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	out, err := s.Run(ctx)
	return errors.Join(e.runEnd(ctx, f, s, out, err), s.Close())
}

// runStore opens the store that is recorded in, and says which the data directory is. An ephemeral session's is in memory.
func (e *env) runStore(f *runFlags) (*journal.Dir, string, error) {
	if !f.ephemeral {
		return e.record(journal.Holder{Command: "run"})
	}
	home, err := e.home()
	if err != nil {
		return nil, "", err
	}
	d, err := journal.OpenMemory(journal.Options{Now: e.now})
	return d, home, err
}

// runSetup is what the agent works with. Told is what a session that is taken up was told, and read are files that it has read
// since.
func (e *env) runSetup(f *runFlags, model ambit.Model, dir, home string, told source.Snapshot, read []string) (ambit.Setup, error) {
	own, err := agent.ParseRules(strings.Join(f.allow, "\n"))
	if err != nil {
		return ambit.Setup{}, misused("%v", err)
	}
	rules := append(agent.DefaultRules(), own...)
	if f.yes {
		rules = rules.Yes()
	}
	files := host.Files()
	place, err := source.Locate(files, dir)
	if err != nil {
		return ambit.Setup{}, fmt.Errorf("the folder of the agent: %w", err)
	}
	instructions := source.NewInstructions(source.InstructionOptions{
		Files: files, Dir: place.Dir, Root: place.Root, Global: []string{filepath.Join(home, "AGENTS.md")}, Nested: source.Nested(told),
		NoProject: f.noProject,
	})
	var skills *source.Skills
	if !rules.Never(agent.SkillTool) {
		skills = source.NewSkills(source.SkillOptions{
			Files: files, Folders: []string{filepath.Join(place.Root, ".ambit", "skills"), filepath.Join(home, "skills")}, Tool: agent.SkillTool,
			Without: func(name string) bool { return rules.Decide(agent.SkillTool, name).Action == agent.Deny },
		})
	}
	discover := func(path string) {
		if _, err := instructions.Discovered(path); err != nil {
			e.say("cannot look for instructions beside %s: %v", path, err)
		}
	}
	for _, path := range read {
		discover(path)
	}
	o := agent.Options{Dir: place.Dir, Rules: rules, Skills: skills, Read: discover}
	if e.asks() {
		o.Ask = e.allowTool
	}
	tools, err := agent.Tools(o)
	if err != nil {
		return ambit.Setup{}, err
	}
	var retry ambit.Retry
	if f.scripted != "" {
		retry.Base = time.Millisecond // nobody is waited for
	}
	return ambit.Setup{
		Retry: retry,
		Agent: ambit.Agent{Name: "coder", Role: agent.Prompt(), Tools: tools}, Model: model, Dir: place.Dir, Mode: ambit.Mode(f.mode),
		Policy: f.policy,
		Limits: ambit.Bounds{Turns: f.turns, Output: f.output, Time: f.limit, USD: f.usd},
		Watch:  e.runWatch(f),
		Each:   host.Each(sourceTime),
		Compose: func() (source.Composition, error) {
			list := []source.Source{source.Environment(place, host.Platform()), instructions.Source()}
			if skills != nil {
				list = append(list, skills.Source())
			}
			return source.Compose(append(list, source.Date(e.now, nil), source.Git(host.Exec(), place.Dir))...)
		},
	}, nil
}

// sourceTime is how long the live facts of a turn may take to be read.
const sourceTime = 5 * time.Second

// withWork adds to tools those of a session's own. An agent that works for another is told of the same, so that both begin alike
// and the provider has that in its cache.
func withWork(tools []ambit.Tool, engine *ambit.Engine, work ambit.Tool) []ambit.Tool {
	return append(append(tools, engine.Recall()...), work)
}

// noHelper is what an agent gets that works for another and gives its work on.
func noHelper() (ambit.Setup, error) {
	return ambit.Setup{}, errors.New("an agent that works for another does its work itself")
}

// runSession begins a session, or goes on with one.
func (e *env) runSession(ctx context.Context, d *journal.Dir, f *runFlags, task, home string) (*ambit.Session, error) {
	key, err := e.cursorKey()
	if err != nil {
		return nil, err
	}
	engine := ambit.NewEngine(d, ambit.EngineOptions{Now: e.now, Key: key})
	var name string
	var told source.Snapshot
	var was *entry.Works
	if f.resume != "" {
		if name, err = e.resumed(ctx, d, f.resume); err != nil {
			return nil, err
		}
		if was, told, err = engine.Left(ctx, name); err != nil {
			return nil, err
		}
	}
	model, dir, err := e.runModel(f, was)
	if err != nil {
		return nil, err
	}
	var read []string
	switch {
	case was == nil:
	case sameFolder(was.Dir, dir):
		if read, err = readSince(ctx, d, name, was.Dir); err != nil {
			return nil, err
		}
	default:
		told = nil // what it found there is left behind
	}
	setup, err := e.runSetup(f, model, dir, home, told, read)
	if err == nil {
		err = e.runnable(f, model)
	}
	if err != nil {
		return nil, err
	}
	work := engine.Task(func() (ambit.Setup, error) {
		helper, err := e.runSetup(f, model, dir, home, nil, nil)
		helper.Agent.Name, helper.Watch = "helper", nil
		helper.Agent.Tools = withWork(helper.Agent.Tools, engine, engine.Task(noHelper))
		return helper, err
	})
	setup.Agent.Tools = withWork(setup.Agent.Tools, engine, work)
	if name != "" {
		return engine.Resume(ctx, name, setup)
	}
	return engine.Begin(ctx, "", setup)
}

// resumed finds the session that is gone on with. The last is the one of ambit run that began last and works for no other: a
// sub-agent's begins later than the one that it works for.
func (e *env) resumed(ctx context.Context, d *journal.Dir, arg string) (string, error) {
	if arg != "last" {
		return e.session(ctx, d, arg)
	}
	all, err := d.Sessions(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Backward(all) {
		f, err := d.First(ctx, name)
		if first, is := f.Fact.(*entry.Session); err != nil || !is || first.Client != ambit.Client {
			continue // what is damaged is said of when it is named
		}
		if p, err := pool.Load(ctx, d, name); err == nil && p.Own != nil && p.Own.Works.Parent == "" {
			return name, nil
		}
	}
	return "", &hintError{errors.New("no session of ambit run is recorded"), e.self() + ` run "TASK" begins one`}
}

// sameFolder compares where a session worked with where it is to work, which may lead there over links.
func sameFolder(was, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return was == dir || err == nil && was == real
}

// runWatch tells people what happens: what the model says on standard output, the rest on standard error.
func (e *env) runWatch(f *runFlags) func(ambit.Event) {
	line := false // the output is in the middle of one
	return func(v ambit.Event) {
		if v.Aside != "" {
			if v.Kind == ambit.EventRetry {
				e.say("#%d came to nothing, again in %s: %v", v.N, v.Wait.Round(time.Millisecond), v.Err)
			}
			return // its answer is printed whole
		}
		if v.Kind != ambit.EventText && line {
			fmt.Fprintln(e.out)
			line = false
		}
		switch v.Kind {
		case ambit.EventText:
			if !f.asJSON {
				fmt.Fprint(e.out, printableLines(v.Text))
				line = !strings.HasSuffix(v.Text, "\n")
			}
		case ambit.EventCall:
			e.say("#%d %s %s", v.N, v.Tool, beginning(string(v.Args)))
		case ambit.EventResult:
			if v.Failed {
				e.say("#%d %s failed: %s", v.N, v.Tool, beginning(v.Text))
			}
		case ambit.EventAnswer:
			if text := gauge(v.Usage, v.Usable); text != "" {
				e.say("#%d %s", v.N, text)
			}
		case ambit.EventRetry:
			e.say("#%d came to nothing, again in %s: %v", v.N, v.Wait.Round(time.Millisecond), v.Err)
		}
	}
}

// gauge says how full a request and its answer made the model's window, and how much of it the provider had cached; empty where
// the provider did not count.
func gauge(u *entry.Usage, usable int) string {
	if u == nil || u.Input == 0 {
		return ""
	}
	text, all := "", u.Input+u.Output
	if usable > 0 {
		text = fmt.Sprintf("holds %s of %s tokens, %d %%", count(all), count(usable), all*100/int64(usable))
	} else {
		text = fmt.Sprintf("holds %s tokens", count(all))
	}
	return fmt.Sprintf("%s; %d %% of what was sent was cached", text, u.CacheRead*100/u.Input)
}

// printableLines is printable, but keeps lines and tabs.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = printableLine(lines[i])
	}
	return strings.Join(lines, "\n")
}

// printableLine is printable, but keeps tabs.
func printableLine(line string) string {
	cells := strings.Split(line, "\t")
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	return strings.Join(cells, "\t")
}

// runEnd says how it ended.
func (e *env) runEnd(ctx context.Context, f *runFlags, s *ambit.Session, out ambit.Outcome, err error) error {
	answer := ran{Session: s.ID(), Ephemeral: f.ephemeral, Outcome: out, Ended: string(entry.EndingDone)}
	if err != nil {
		answer.Ended, answer.Why = string(entry.EndingFailed), err.Error()
		if _, limit := errors.AsType[*ambit.LimitError](err); limit {
			answer.Ended = string(entry.EndingLimit)
		} else if ctx.Err() != nil {
			answer.Ended = string(entry.EndingCanceled)
		}
	}
	if f.asJSON {
		if failed := e.printJSON(answer); failed != nil {
			return failed
		}
	} else {
		where := e.self() + " log " + s.ID() + " shows it"
		if f.ephemeral {
			where = "nothing was kept"
		}
		e.say("%s, %s tokens of output, $%.4f; %s", plural(out.Turns, "turn", "turns"), count(out.Output), out.USD, where)
	}
	return err
}

// allowTool asks the person whether a tool may do something.
func (e *env) allowTool(ctx context.Context, q agent.Question) (bool, error) {
	fmt.Fprintf(e.err, "%s: may it %s %s? [y/N] ", e.self(), q.Tool, printable(q.Subject))
	answer, err := e.line(ctx)
	return strings.EqualFold(strings.TrimSpace(answer), "y") || strings.EqualFold(strings.TrimSpace(answer), "yes"), err
}
