//go:build clients

package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ambit/provider/scripted"
)

// What the user wants of the large job, and how many turns it takes.
const (
	largeTask  = "Read the whole ledger, part by part, and write down what you find."
	largeTurns = 24
)

// largeClients are those that do the large job, each as its user has set it up; those first that take long.
func largeClients() []client {
	all := clients()
	for i := range all {
		if all[i].name == "codex" {
			all[i].hands = codexLargeHands()
			all[i].files = map[string]string{".codex/config.toml": "tool_output_token_limit = 12000\n" + codexConfig}
		}
	}
	for _, c := range askers() {
		switch c.name + " " + c.provider {
		case "claude anthropic":
			c.hands = claudeHands()
			c.env = append(c.env, "IS_SANDBOX=1") // it does not bypass its questions for root otherwise
			c.first = []string{"--permission-mode", "bypassPermissions", "--model", "claude-sonnet-4-5-20250929", "-p"}
		case "gemini gemini":
			c.hands = geminiHands()
			c.first = []string{"--yolo", "-m", "gemini-2.5-pro", "-p"}
		case "qwen openai":
			c.hands = geminiHands()
			c.first = []string{"--yolo", "-p"}
		default:
			continue
		}
		all = append(all, c)
	}
	slow := []string{"opencode", "gemini", "codex", "qwen"}
	slices.SortStableFunc(all, func(a, b client) int {
		return cmp.Compare(uint(slices.Index(slow, a.name)), uint(slices.Index(slow, b.name))) // -1 is the largest
	})
	return all
}

// crushUser is Crush, which no package holds: only where its user has built it.
func crushUser() (c client, bin string, ok bool) {
	path, err := exec.LookPath("crush")
	return client{
		name: "crush", provider: "anthropic", hands: crushHands(),
		env: []string{"ANTHROPIC_API_KEY=none", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1", "CRUSH_DISABLE_METRICS=1"},
		files: map[string]string{".config/crush/crush.json": `{"providers":{"anthropic":{"type":"anthropic","api_key":"none","models":` +
			`[{"id":"claude-sonnet-4-5","name":"Sonnet","context_window":200000,"default_max_tokens":8192}]}},` +
			`"models":{"large":{"provider":"anthropic","model":"claude-sonnet-4-5"},"small":{"provider":"anthropic","model":"claude-sonnet-4-5"}},` +
			`"options":{"disable_metrics":true,"disable_provider_auto_update":true,"disable_default_providers":true,"auto_lsp":false}}`},
		first: []string{"run"},
	}, filepath.Dir(path), err == nil
}

// dies reports whether a client gives up when its provider says that a request is too long, and has nothing of its own to
// get below the window.
func (c *client) dies() bool { return c.name == "codex" || c.name == "gemini" || c.name == "crush" }

// ledger is a repository of parts to read and to audit. What comes of one turn is 22 to 37 kB, which no client cuts.
func ledger() map[string]string {
	files := map[string]string{
		"README.md": "# Ledger\n\nThe parts are in parts/. What is found goes into found.txt. sh audit.sh FILE checks a part.\n",
		"audit.sh":  "nl -ba \"$1\" | sed 's/^ */checked /'\n",
	}
	for i := range largeTurns {
		switch i % 4 {
		case 0:
			files[part(i)] = ledgerText(i, 22_000)
		case 1:
			files[part(i)], files[partner(i)] = ledgerText(i, 15_000), ledgerText(i+100, 15_000)
		case 2:
			files[part(i)] = ledgerText(i, 19_000)
		case 3:
			files[part(i)] = ledgerText(i, 12_000)
		}
	}
	return files
}

func part(i int) string    { return fmt.Sprintf("parts/%02d.txt", i) }
func partner(i int) string { return fmt.Sprintf("parts/%02d-more.txt", i) }

// ledgerText is a text of lines that stand nowhere else.
func ledgerText(seed, size int) string {
	words := strings.Fields("parcel harbour ledger lantern granite meadow copper thistle orchard velvet anchor ribbon marble cedar falcon saddle")
	var b strings.Builder
	state := uint32(seed)*2654435761 + 1
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "entry %03d-%03d:", seed, n)
		for range 9 {
			state = state*1664525 + 1013904223
			b.WriteString(" " + words[state>>28])
		}
		fmt.Fprintf(&b, " %08x\n", state)
	}
	return b.String()
}

// largeJob leads a client through the ledger in dir: it reads a part, then two at once, then it audits one and writes down a
// line of it, then it audits another and reads again what it has read first. Each third turn has a thought.
func largeJob(h hands, dir string) scripted.Script {
	at := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	var turns []scripted.Turn
	for i := range largeTurns {
		t := scripted.Turn{Text: fmt.Sprintf("Part %d of the ledger.", i)}
		switch i % 4 {
		case 0:
			t.Calls = []scripted.Call{h.read(at(part(i)))}
		case 1:
			t.Calls = []scripted.Call{h.read(at(part(i))), h.read(at(partner(i)))}
		case 2:
			t.Calls = []scripted.Call{h.shell(fmt.Sprintf("sh audit.sh %s && sed -n %dp %s >>found.txt", part(i), i+1, part(i)))}
		case 3:
			t.Calls = []scripted.Call{h.shell("sh audit.sh " + part(i)), h.read(at(part(i - 3)))}
		}
		if i%3 == 1 {
			t.Thought = fmt.Sprintf("Part %d is next; the lines of the parts before it are known.", i)
		}
		turns = append(turns, t)
	}
	turns = append(
		turns,
		scripted.Turn{Text: "All parts are read.", Calls: []scripted.Call{h.write(at("report.md"), "# Report\n\nSix lines were found.\n")}},
		scripted.Turn{Text: "The ledger is read, and found.txt has the lines."},
	)
	return scripted.Script{Conversations: []scripted.Conversation{
		{Match: jobTitle, Turns: []scripted.Turn{{Text: "Reading the ledger"}}},
		{Match: largeTask, Turns: turns},
	}}
}

// ledgerRead is the repository when the job is done.
func ledgerRead() map[string]string {
	files := ledger()
	files["report.md"] = "# Report\n\nSix lines were found.\n"
	for i := 2; i < largeTurns; i += 4 {
		files["found.txt"] += strings.SplitAfter(files[part(i)], "\n")[i]
	}
	return files
}

// codexLargeHands are Codex's tools, told not to cut what they return at 10 kB, which its configuration has to allow, too.
func codexLargeHands() hands {
	h := codexHands()
	h.shell = func(command string) scripted.Call {
		return made("exec_command", "cmd", command, "max_output_tokens", 10_000)
	}
	h.read = func(path string) scripted.Call { return h.shell("cat " + shellQuote(path)) }
	return h
}

// claudeHands are Claude Code's tools.
func claudeHands() hands {
	return hands{
		shell: call1("Bash", "command"),
		read:  call1("Read", "file_path"),
		write: func(path, text string) scripted.Call { return made("Write", "file_path", path, "content", text) },
	}
}

// geminiHands are the tools of Gemini CLI and of Qwen Code, which comes from it.
func geminiHands() hands {
	return hands{
		shell: func(command string) scripted.Call {
			return made("run_shell_command", "command", command, "is_background", false)
		},
		read:  call1("read_file", "file_path"),
		write: func(path, text string) scripted.Call { return made("write_file", "file_path", path, "content", text) },
	}
}

// crushHands are Crush's tools.
func crushHands() hands {
	return hands{
		shell: call1("bash", "command"),
		read:  call1("view", "file_path"),
		write: func(path, text string) scripted.Call { return made("write", "file_path", path, "content", text) },
	}
}
