package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"ambit"
	"ambit/provider"
	"ambit/provider/scripted"
)

// runScripted makes the project of a written task in an empty folder and serves the model that does it. It returns the
// model's base URL.
func (e *env) runScripted(ctx context.Context, name, dir string, m ambit.Model) (base string, stop func(), err error) {
	if name != "demo" {
		return "", nil, misused("there is no script %q: demo is the only one", name)
	}
	if err := makeTaskProject(dir); err != nil {
		return "", nil, err
	}
	p := scripted.NewWith(taskScript(), scripted.Options{Strict: true, WebSocket: true})
	addr, stop, err := serveLocal(&http.Server{Handler: p, ReadHeaderTimeout: time.Minute})
	if err != nil {
		return "", nil, err
	}
	base = "http://" + addr
	if m.Type == provider.TypeResponses || m.Type == provider.TypeChat {
		base += "/v1"
	}
	return base, stop, nil
}

// taskFiles are a small project one of whose tests fails.
var taskFiles = map[string]string{
	"README.md": "# words\n\nsh words.sh FILE counts the words of a file. sh test.sh tests it.\n",
	"words.sh":  "#!/bin/sh\n# Counts the words of a file.\nset -eu\ntr -s ' ' '\\n' <\"$1\" | wc -l\n",
	"test.sh": "#!/bin/sh\n# Tests words.sh; exits 1 if anything is not as it should be.\nfailed=0\ncheck() {\n" +
		"\tprintf \"$1\" >sample.txt\n\tgot=$(sh words.sh sample.txt | tr -d ' ')\n\trm sample.txt\n" +
		"\tif [ \"$got\" = \"$2\" ]; then echo \"ok: $2\"; else echo \"FAILED: $got, not $2\"; failed=1; fi\n}\n" +
		"check 'one two three\\n' 3\ncheck 'one  two\\n' 2\ncheck '' 0\ncheck '  one\\n\\ntwo\\n' 2\nexit $failed\n",
	"notes/todo.md": "- a test of blank lines was added; it fails\n",
}

// makeTaskProject writes them into a folder that holds nothing but perhaps a repository.
func makeTaskProject(dir string) error {
	found, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the folder of the scripted task: %w", err)
	}
	for _, f := range found {
		if f.Name() != ".git" {
			return &hintError{fmt.Errorf("the scripted task needs an empty folder, and %s holds %s", dir, f.Name()), "give one with --dir"}
		}
	}
	for name, text := range taskFiles {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// taskScript is how the written model mends them: it looks, tries something that is not enough, and then what is.
func taskScript() scripted.Script {
	call := func(name string, args map[string]any) scripted.Call { return scripted.Call{Name: name, Args: args} }
	read := func(path string) scripted.Call { return call("read", map[string]any{"path": path}) }
	test := call("bash", map[string]any{"command": "sh test.sh"})
	return scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Thought: "First I look around.", Text: "I'll look at the project and what it asks of itself.", Calls: []scripted.Call{call("list", map[string]any{"path": "."}), read("README.md")}},
		{Text: "Which test fails?", Calls: []scripted.Call{test}, Fault: &scripted.Fault{Status: 529, Message: "Overloaded", RetryAfter: "0"}},
		{Thought: "An empty line counts as a word.", Text: "The last: blank lines and spaces in front count as words. Here is why.", Calls: []scripted.Call{read("words.sh"), read("test.sh")}},
		{Text: "tr makes a line of every space, and wc counts lines. Is anything else built on it?", Calls: []scripted.Call{call("search", map[string]any{"pattern": "words\\.sh"})}},
		{Text: "Only the tests. I'll leave empty lines out.", Calls: []scripted.Call{
			call("edit", map[string]any{"path": "words.sh", "old": "tr -s ' ' '\\n' <\"$1\" | wc -l\n", "new": "tr -s ' ' '\\n' <\"$1\" | grep -c .\n"}),
		}},
		{Text: "Now all of them.", Calls: []scripted.Call{test}},
		{Thought: "grep -c exits with 1 when it counts nothing, and set -e is on.", Text: "The counts are right, but grep fails where there is nothing to count. wc -w counts words and needs no help.", Calls: []scripted.Call{
			call("edit", map[string]any{"path": "words.sh", "old": "tr -s ' ' '\\n' <\"$1\" | grep -c .\n", "new": "wc -w <\"$1\"\n"}),
		}},
		{Text: "Once more.", Calls: []scripted.Call{test}},
		{Text: "All four pass. I'll note it down.", Calls: []scripted.Call{call("write", map[string]any{"path": "notes/todo.md", "content": "- blank lines: done, words.sh uses wc -w\n"})}},
		{Text: "The failing test passes: words.sh now counts words with wc -w, where it counted the lines that tr makes of spaces, empty ones too."},
	}}}}
}
