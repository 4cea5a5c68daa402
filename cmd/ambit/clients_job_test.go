//go:build clients

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"ambit/provider/scripted"
)

// What the user says, and what a client says to itself.
const (
	jobFirst  = "Mend tally.sh: the most frequent word shall come first."
	jobSecond = "Now bring the plan up to date."
	jobTask   = "Count the words of words/fruit.txt and report the number."
	jobTitle  = "Generate a title for this conversation" // OpenCode's own
)

// hands are the tools of a client, by what they do. Paths are absolute.
type hands struct {
	shell func(command string) scripted.Call
	read  func(path string) scripted.Call
	write func(path, text string) scripted.Call
	edit  func(path, old, new string) scripted.Call
	task  func(prompt string) scripted.Call // nil for a client without sub-agents
}

// job is the work that every client is led through, in dir: 18 turns, and 3 after it is resumed. Once it is told to
// come back later, once the provider is overloaded, and once an answer breaks off.
func job(h hands, dir string) scripted.Script {
	at := func(path string) string { return filepath.Join(dir, path) }
	say := func(text string, calls ...scripted.Call) scripted.Turn {
		return scripted.Turn{Text: text, Calls: calls}
	}
	but := func(t scripted.Turn, f scripted.Fault) scripted.Turn {
		t.Fault = &f
		return t
	}
	count := h.shell("wc -w words/fruit.txt")
	if h.task != nil {
		count = h.task(jobTask)
	}
	return scripted.Script{Conversations: []scripted.Conversation{
		{Match: jobTitle, Turns: []scripted.Turn{say("Mending the tally")}},
		{Match: jobTask, Turns: []scripted.Turn{say("I'll count.", h.shell("wc -w words/fruit.txt")), say("There are 6 words.")}},
		{Match: jobFirst, Turns: []scripted.Turn{
			say("What is here?", h.shell("ls -R . && git log --oneline | wc -l")),
			say("What does it say of itself?", h.read(at("README.md"))),
			say("The script and its data belong together.", h.read(at("tally.sh")), h.read(at("words/fruit.txt"))),
			but(say("What does it do?", h.shell("sh tally.sh words/fruit.txt")), scripted.Fault{Status: 429, RetryAfter: "1"}),
			say("The order is wrong. I'll write down what is to be done.", h.write(at("notes/plan.md"), "# Plan\n\n1. [ ] the order\n2. [ ] a test\n")),
			say("Mended in one place.", h.edit(at("tally.sh"), tally+"-n\n", tally+"-rn\n")),
			say("Is it right now?", h.shell("sh tally.sh words/fruit.txt")),
			say("And when the file is missing?", h.shell("sh tally.sh words/missing.txt; echo to stderr >&2; exit 3")),
			but(say("A test shall hold it.", h.write(at("test.sh"), testScript)), scripted.Fault{Status: 529}),
			say("Does it pass?", h.shell("sh test.sh")),
			say("Is there really no such file?", h.read(at("words/missing.txt"))),
			say("A long output next.", h.shell("seq 1 20000")),
			say("Another shall count.", count),
			but(say("The README says less than it should.", h.edit(at("README.md"), readme+".\n", readme+", the most frequent first – “naïve” and 東京 are words, too.\n")), scripted.Fault{Drop: true}),
			say("What has changed?", h.shell("git status --short && git diff --stat")),
			say("Words from elsewhere.", h.write(at("words/towns.txt"), "Köln Zürich 東京\nKöln 😀\n")),
			say("Are they counted?", h.shell("sh tally.sh words/towns.txt")),
			say("The most frequent word comes first now, and test.sh holds it."),
			say("Both points are done.", h.edit(at("notes/plan.md"), "1. [ ] the order\n2. [ ] a test\n", "1. [x] the order\n2. [x] a test\n")),
			say("What is new?", h.shell("git add -A && git status --short")),
			say("The plan is up to date."),
		}},
	}}
}

// The lines that are mended, but for their ends.
const (
	tally  = `tr ' ' '\n' <"$1" | sort | uniq -c | sort `
	readme = "prints how often each word stands in FILE"
)

const testScript = `#!/bin/sh
first=$(sh tally.sh words/fruit.txt | head -n 1 | tr -d ' ')
[ "$first" = 3apple ] && echo "it's \"right\""
`

// openCodeHands are OpenCode's tools.
func openCodeHands() hands {
	return hands{
		shell: call1("bash", "command"),
		read:  call1("read", "filePath"),
		write: func(path, text string) scripted.Call { return made("write", "filePath", path, "content", text) },
		edit: func(path, old, new string) scripted.Call {
			return made("edit", "filePath", path, "oldString", old, "newString", new)
		},
		task: func(prompt string) scripted.Call {
			return made("task", "description", "count words", "prompt", prompt, "subagent_type", "general")
		},
	}
}

// piHands are pi's tools.
func piHands() hands {
	return hands{
		shell: call1("bash", "command"),
		read:  call1("read", "path"),
		write: func(path, text string) scripted.Call { return made("write", "path", path, "content", text) },
		edit: func(path, old, new string) scripted.Call {
			return made("edit", "path", path, "edits", []map[string]string{{"oldText": old, "newText": new}})
		},
	}
}

// codexHands are Codex's tools: a shell, which knows apply_patch.
func codexHands() hands {
	shell := call1("exec_command", "cmd")
	return hands{
		shell: shell,
		read:  func(path string) scripted.Call { return shell("cat " + shellQuote(path)) },
		write: func(path, text string) scripted.Call {
			return shell(fmt.Sprintf("mkdir -p %s && cat >%s <<'EOF'\n%sEOF", shellQuote(filepath.Dir(path)), shellQuote(path), text))
		},
		edit: func(path, old, new string) scripted.Call {
			return shell("apply_patch <<'EOF'\n" + patch(path, old, new) + "EOF")
		},
	}
}

// patch is a change in Codex's own format, which changes whole lines.
func patch(path, old, new string) string {
	lines := func(sign, text string) string {
		return sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign) + "\n"
	}
	return "*** Begin Patch\n*** Update File: " + path + "\n@@\n" + lines("-", old) + lines("+", new) + "*** End Patch\n"
}

func made(tool string, args ...any) scripted.Call {
	c := scripted.Call{Name: tool, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		c.Args[args[i].(string)] = args[i+1]
	}
	return c
}

func call1(tool, arg string) func(string) scripted.Call {
	return func(value string) scripted.Call { return made(tool, arg, value) }
}
