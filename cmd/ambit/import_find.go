package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ownFolder is where a program keeps its sessions.
type ownFolder struct {
	client string
	path   string
	within []string // the folders below the path that hold recordings, as patterns; empty where the path does
	named  string   // a pattern of the names of recordings; empty where each file of a usual name may be one

	holds []string // the folders, or the path, in which some were found
	files int
	bytes int64
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
	qwen := "QWEN_RUNTIME_DIR"
	if e.getenv(qwen) == "" {
		qwen = "QWEN_HOME"
	}
	tasks := func(extension string) string {
		rest := filepath.Join("Code", "User", "globalStorage", extension, "tasks")
		if runtime.GOOS == "darwin" {
			return under("", filepath.Join("Library", "Application Support"), rest)
		}
		return under("XDG_CONFIG_HOME", ".config", rest)
	}
	const task = "api_conversation_history.json"
	return []ownFolder{
		{client: "Claude Code", path: under("CLAUDE_CONFIG_DIR", ".claude", "projects")},
		{client: "Codex", path: under("CODEX_HOME", ".codex", "sessions")},
		{client: "Codex", path: under("CODEX_HOME", ".codex", "archived_sessions")},
		{client: "OpenCode", path: under("XDG_DATA_HOME", filepath.Join(".local", "share"), filepath.Join("opencode", "opencode.db"))},
		{client: "pi", path: under("PI_CODING_AGENT_DIR", filepath.Join(".pi", "agent"), "sessions")},
		{client: "Gemini CLI", path: under("GEMINI_CLI_HOME", "", filepath.Join(".gemini", "tmp")), within: []string{"*/chats"}},
		{client: "Qwen Code", path: under(qwen, ".qwen", "projects"), within: []string{"*/chats", "*/subagents"}},
		{client: "Copilot CLI", path: under("COPILOT_HOME", ".copilot", "session-state"), named: "*.jsonl"},
		{client: "Cline", path: tasks("saoudrizwan.claude-dev"), named: task},
		{client: "Roo Code", path: tasks("rooveterinaryinc.roo-cline"), named: task},
	}
}

// noRecordings says that none of the programs has kept a session where it was looked for.
func noRecordings(looked []string, hint string) error {
	return &hintError{
		errors.New("no recordings of Claude Code, Codex, OpenCode, pi, Gemini CLI, Qwen Code, Copilot CLI, Cline or Roo Code are here: looked in " +
			strings.Join(looked, ", ")),
		hint,
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
			found = append(found, own.holds...)
		}
	}
	if len(found) == 0 {
		return nil, noRecordings(looked, "name the files or folders: "+e.self()+" import PATH")
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

// measure counts the files that may be recordings, and finds the folders that hold them.
func (f *ownFolder) measure(ctx context.Context) {
	if len(f.within) == 0 {
		f.walk(ctx, f.path)
		return
	}
	for _, pattern := range f.within {
		folders, _ := fs.Glob(os.DirFS(f.path), pattern) // the pattern is well formed
		for _, folder := range folders {
			f.walk(ctx, filepath.Join(f.path, filepath.FromSlash(folder)))
		}
	}
}

// walk counts the files of one folder.
func (f *ownFolder) walk(ctx context.Context, folder string) {
	root, before := folder, f.files
	if about, err := os.Stat(root); err == nil && about.IsDir() {
		root += string(filepath.Separator) // so that a link to a folder is the folder
	}
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !d.Type().IsRegular() || !f.may(d.Name()) { // what cannot be read is said when it is imported
			return nil
		}
		if about, err := d.Info(); err == nil {
			f.files, f.bytes = f.files+1, f.bytes+about.Size()
		}
		return nil
	})
	if f.files > before {
		f.holds = append(f.holds, folder)
	}
}

// may reports whether a file of this name may be a recording.
func (f *ownFolder) may(name string) bool {
	if f.named != "" {
		ok, _ := filepath.Match(f.named, name) // the pattern is well formed
		return ok
	}
	ext := filepath.Ext(name)
	return ext == ".jsonl" || ext == ".json" || ext == ".db"
}
