package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownFolder is where a program keeps its sessions.
type ownFolder struct {
	client string
	path   string
	files  int
	bytes  int64
}

// ownFolders are where the programs keep their sessions on this computer, each with its own variable to move it.
func (e *env) ownFolders() []ownFolder {
	home := e.getenv("HOME")
	under := func(variable, otherwise, rest string) string {
		if dir := e.getenv(variable); dir != "" {
			return filepath.Join(dir, rest)
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, otherwise, rest)
	}
	return []ownFolder{
		{client: "Claude Code", path: under("CLAUDE_CONFIG_DIR", ".claude", "projects")},
		{client: "Codex", path: under("CODEX_HOME", ".codex", "sessions")},
		{client: "Codex", path: under("CODEX_HOME", ".codex", "archived_sessions")},
		{client: "OpenCode", path: under("XDG_DATA_HOME", filepath.Join(".local", "share"), filepath.Join("opencode", "opencode.db"))},
		{client: "pi", path: under("PI_CODING_AGENT_DIR", filepath.Join(".pi", "agent"), "sessions")},
	}
}

// findRecordings looks where the programs keep their sessions, says what is there and asks whether to take it in.
func (e *env) findRecordings(ctx context.Context, yes bool) ([]string, error) {
	var found []string
	var looked []string
	for _, own := range e.ownFolders() {
		if own.path == "" {
			continue
		}
		looked = append(looked, own.path)
		own.measure(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if own.files > 0 {
			e.say("%s: %s, %s bytes, in %s", own.client, plural(own.files, "file", "files"), count(own.bytes), own.path)
			found = append(found, own.path)
		}
	}
	if len(found) == 0 {
		return nil, &hintError{
			errors.New("no recordings of Claude Code, Codex, OpenCode or pi are here: looked in " + strings.Join(looked, ", ")),
			"name the files or folders: " + e.self() + " import PATH",
		}
	}
	if yes {
		return found, nil
	}
	if !e.asks() {
		return nil, &hintError{errors.New("nothing was imported: there is no terminal to ask on"), e.self() + " import --yes takes them all in"}
	}
	fmt.Fprint(e.err, "Take them in? Nothing there is changed. [y/N] ")
	said, err := e.line(ctx)
	if err != nil {
		return nil, err
	}
	if said = strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		return nil, errors.New("nothing was imported")
	}
	return found, nil
}

// measure counts the files that may be recordings.
func (f *ownFolder) measure(ctx context.Context) {
	root := f.path
	if about, err := os.Stat(root); err == nil && about.IsDir() {
		root += string(filepath.Separator) // so that a link to a folder is the folder
	}
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !d.Type().IsRegular() { // what cannot be read is said when it is imported
			return nil
		}
		if ext := filepath.Ext(at); ext == ".jsonl" || ext == ".json" || ext == ".db" {
			if about, err := d.Info(); err == nil {
				f.files, f.bytes = f.files+1, f.bytes+about.Size()
			}
		}
		return nil
	})
}
