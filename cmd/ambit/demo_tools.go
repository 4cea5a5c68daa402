package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

const (
	demoOutputBytes = 120_000 // of a command, of which a tool result keeps head and tail
	demoReadLines   = 2000    // of a file, in one read_file
)

// demoTools are the tools of the demo's agent. Files are opened through a root, which refuses every path that leaves
// the scratch project, links included. A command only starts there: sh cannot be confined, and what is run comes
// from the demo's own script.
type demoTools struct {
	dir  string
	root *os.Root
	task func(ctx context.Context, prompt string) (string, error) // runs a sub-agent; nil for a sub-agent's own tools
}

// demoOutcome is what a tool call came to.
type demoOutcome struct {
	text   string
	failed bool
}

// demoArgs are the arguments of all tools.
type demoArgs struct {
	Command string `json:"command"`
	Path    string `json:"path"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
	Content string `json:"content"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Pattern string `json:"pattern"`
	Prompt  string `json:"prompt"`
}

// demoToolSpecs are the tools as the model is told of them, task last.
func demoToolSpecs() []json.RawMessage {
	spec := func(name, about, properties, required string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":{"type":"object","properties":{%s},"required":[%s]}}`, name, about, properties, required))
	}
	const path = `"path":{"type":"string","description":"relative to the project"}`
	return []json.RawMessage{
		spec("bash", "Runs a command with sh in the project's folder and returns what it prints, errors included. Of a very long output head and tail are returned. A command that fails says its exit status in the last line.",
			`"command":{"type":"string"}`, `"command"`),
		spec("read_file", "Returns the lines of a file with their numbers. Long files are read in parts: offset is the first line, counted from 1, and limit the number of lines, at most 2000.",
			path+`,"offset":{"type":"integer"},"limit":{"type":"integer"}`, `"path"`),
		spec("write_file", "Writes a file, in place of what was there. Folders that are missing are made.",
			path+`,"content":{"type":"string"}`, `"path","content"`),
		spec("edit_file", "Replaces a text in a file by another. The old text must stand in the file exactly once, spaces and line breaks included; give enough of what stands around it.",
			path+`,"old":{"type":"string"},"new":{"type":"string"}`, `"path","old","new"`),
		spec("grep", "Finds the lines that match a regular expression, in a file or in all files under a folder, and returns them as path:line: text.",
			`"pattern":{"type":"string"},`+path, `"pattern"`),
		spec("task", "Gives a piece of work to a second agent with a context of its own and returns its last word. It can read and run commands but not edit. Tell it all that it needs to know.",
			`"prompt":{"type":"string"}`, `"prompt"`),
	}
}

// run carries out one call. An error is the demo's own; what a tool could not do is its outcome.
func (t *demoTools) run(ctx context.Context, name string, input json.RawMessage) (demoOutcome, error) {
	var a demoArgs
	if err := json.Unmarshal(input, &a); err != nil {
		return demoOutcome{fmt.Sprintf("the arguments are not valid: %v", err), true}, nil
	}
	var text string
	var err error
	switch name {
	case "bash":
		return t.bash(ctx, a.Command)
	case "read_file":
		text, err = t.read(a)
	case "write_file":
		text, err = t.write(a.Path, a.Content)
	case "edit_file":
		text, err = t.edit(a)
	case "grep":
		text, err = t.grep(a)
	case "task":
		if t.task == nil {
			return demoOutcome{"a sub-agent cannot start another", true}, nil
		}
		text, err = t.task(ctx, a.Prompt)
		return demoOutcome{text: text}, err
	default:
		err = fmt.Errorf("no tool %q", name)
	}
	if err != nil {
		return demoOutcome{err.Error(), true}, nil
	}
	return demoOutcome{text: text}, nil
}

func (t *demoTools) bash(ctx context.Context, command string) (demoOutcome, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = t.dir, demoEnv(t.dir, 2), time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return demoOutcome{}, ctx.Err()
	}
	text := demoShorten(string(out))
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return demoOutcome{fmt.Sprintf("%s(exit status %d)\n", text, exit.ExitCode()), true}, nil
	}
	if err != nil {
		return demoOutcome{}, fmt.Errorf("run sh: %w", err)
	}
	if text == "" {
		text = "(no output)\n"
	}
	return demoOutcome{text: text}, nil
}

// demoShorten keeps head and tail of what is too long, in whole lines where there are lines.
func demoShorten(s string) string {
	const half = demoOutputBytes / 2
	if len(s) <= demoOutputBytes {
		return s
	}
	head, tail := s[:half], s[len(s)-half:]
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[:n+1]
	}
	if n := strings.IndexByte(tail, '\n'); n >= 0 {
		tail = tail[n+1:]
	}
	return fmt.Sprintf("%s(%d bytes left out)\n%s", head, len(s)-len(head)-len(tail), tail)
}

func (t *demoTools) read(a demoArgs) (string, error) {
	raw, err := t.root.ReadFile(a.Path)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(raw), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := max(a.Offset, 1)
	if from > len(lines) {
		return "", fmt.Errorf("%s has %d lines", a.Path, len(lines))
	}
	limit := demoReadLines
	if a.Limit > 0 {
		limit = min(a.Limit, limit)
	}
	to := min(from-1+limit, len(lines))
	var b strings.Builder
	for i, line := range lines[from-1 : to] {
		fmt.Fprintf(&b, "%5d  %s", from+i, line)
	}
	if to < len(lines) {
		fmt.Fprintf(&b, "(%d more lines)\n", len(lines)-to)
	}
	return b.String(), nil
}

func (t *demoTools) write(path, content string) (string, error) {
	if n := strings.LastIndexByte(path, '/'); n > 0 {
		if err := t.root.MkdirAll(path[:n], 0o755); err != nil {
			return "", err
		}
	}
	if err := t.root.WriteFile(path, []byte(content), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %s, %d bytes\n", path, len(content)), nil
}

func (t *demoTools) edit(a demoArgs) (string, error) {
	raw, err := t.root.ReadFile(a.Path)
	if err != nil {
		return "", err
	}
	text := string(raw)
	if a.Old == "" || a.Old == a.New {
		return "", errors.New("old is empty, or the same as new")
	}
	if n := strings.Count(text, a.Old); n != 1 {
		return "", fmt.Errorf("the old text stands %d times in %s, and must stand once", n, a.Path)
	}
	line := 1 + strings.Count(text[:strings.Index(text, a.Old)], "\n")
	if err := t.root.WriteFile(a.Path, []byte(strings.Replace(text, a.Old, a.New, 1)), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("edited %s at line %d\n", a.Path, line), nil
}

// grep walks in the order of names and leaves git's own folder and files that are not text out.
func (t *demoTools) grep(a demoArgs) (string, error) {
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", err
	}
	if a.Path == "" {
		a.Path = "."
	}
	var b strings.Builder
	err = fs.WalkDir(t.root.FS(), a.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		raw, err := t.root.ReadFile(path)
		if err != nil || bytes.IndexByte(raw, 0) >= 0 {
			return err
		}
		for i, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
			if re.MatchString(line) {
				fmt.Fprintf(&b, "%s:%d: %s\n", path, i+1, line)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if b.Len() == 0 {
		return "(no match)\n", nil
	}
	return demoShorten(b.String()), nil
}
