package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"ambit"
	"ambit/internal/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a working folder beside a secret that is outside, and the tools over it.
type rig struct {
	t     *testing.T
	dir   string
	tools []ambit.Tool
}

// work makes a rig. Without rules everything is allowed.
func work(t *testing.T, files map[string]string, o agent.Options) *rig {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: filepath.Join(base, "project")}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		r.put(name, text)
	}
	r.put("../secret", "the secret\n")
	if o.Dir = r.dir; o.Rules == nil {
		o.Rules = agent.Rules{{Action: agent.Allow, Tool: "*", Subject: "*"}}
	}
	if r.tools, err = agent.Tools(o); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) put(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) link(to, name string) {
	r.t.Helper()
	if err := os.Symlink(to, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) get(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// use calls a tool. Whatever it says is valid UTF-8, and no temporary file stays.
func (r *rig) use(ctx context.Context, name, args string) (string, error) {
	r.t.Helper()
	i := slices.IndexFunc(r.tools, func(t ambit.Tool) bool { return t.Name == name })
	if i < 0 {
		r.t.Fatalf("no tool %s", name)
	}
	text, err := r.tools[i].Run(ctx, json.RawMessage(args))
	if !utf8.ValidString(text) || err != nil && !utf8.ValidString(err.Error()) {
		r.t.Errorf("%s %s: %q, %v is not valid UTF-8", name, args, text, err)
	}
	_ = filepath.WalkDir(r.dir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, ".ambit-") {
			r.t.Errorf("%s %s: %s stayed", name, args, path)
		}
		return nil
	})
	return text, err
}

// row is a call and what comes of it.
type row struct {
	tool, args string
	want       string // the whole text
	fails      string // a part of the error
}

func (r *rig) rows(rows []row) {
	r.t.Helper()
	for _, w := range rows {
		got, err := r.use(r.t.Context(), w.tool, w.args)
		if got != w.want || w.fails == "" && err != nil || w.fails != "" && (err == nil || !strings.Contains(err.Error(), w.fails)) {
			r.t.Errorf("%s %s:\n got %q, %v\nwant %q, %v", w.tool, w.args, got, err, w.want, w.fails)
		}
	}
}

// object is JSON of some arguments.
func object(t *testing.T, args map[string]any) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTools(t *testing.T) {
	one, two := skilled(t, agent.Options{}, nil), skilled(t, agent.Options{}, nil)
	var names []string
	for i, tool := range one.tools {
		names = append(names, tool.Name)
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || schema.Required == nil || schema.Additional == nil || *schema.Additional {
			t.Errorf("%s: schema %s: %v", tool.Name, tool.Schema, err)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s is not described", tool.Name, name)
			}
		}
		if tool.Description == "" || string(tool.Schema) != string(two.tools[i].Schema) || tool.Description != two.tools[i].Description {
			t.Errorf("%s is not the same in two folders, or not described", tool.Name)
		}
	}
	if got := strings.Join(names, " "); got != "read write edit bash search list skill" {
		t.Errorf("tools are %s", got)
	}
	if n := len(work(t, nil, agent.Options{}).tools); n != 6 {
		t.Errorf("%d tools without skills", n)
	}
	for _, tool := range one.tools {
		if looks := tool.Name == "read" || tool.Name == "search" || tool.Name == "list" || tool.Name == "skill"; tool.Reads != looks {
			t.Errorf("%s only looks: %v", tool.Name, tool.Reads)
		}
	}
	for _, dir := range []string{"", filepath.Join(one.dir, "none"), filepath.Join(one.dir, "../secret")} {
		if _, err := agent.Tools(agent.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "open the working folder") {
			t.Errorf("tools over %q: %v", dir, err)
		}
	}
}

func TestPrompt(t *testing.T) {
	p := agent.Prompt()
	if p != agent.Prompt() || len(p) < 500 || len(p) > 2500 || strings.ContainsAny(p, "0123456789/") {
		t.Errorf("the role is %q", p)
	}
}

func TestArguments(t *testing.T) {
	work(t, map[string]string{"a": "x\n"}, agent.Options{}).rows([]row{
		{"read", `{"path":"a"}`, "1\tx\n", ""},
		{"read", ` {"path":"a","offset":null,"limit":1}`, "1\tx\n", ""},
		{"list", ``, "a\n", ""},
		{"list", `{}`, "a\n", ""},
		{"read", ``, "", `read: the argument "path" is missing`},
		{"read", `{`, "", "read: the arguments are not valid JSON"},
		{"read", `{"path":"a"} {}`, "", "read: the arguments are not valid JSON"},
		{"read", `["a"]`, "", "read: the arguments must be a JSON object"},
		{"read", `null`, "", "read: the arguments must be a JSON object"},
		{"read", `"a"`, "", "read: the arguments must be a JSON object"},
		{"read", `{"path":7}`, "", `read: the argument "path" must be a string`},
		{"read", `{"path":null}`, "", `read: the argument "path" must be a string`},
		{"read", `{"path":""}`, "", `read: the argument "path" is empty`},
		{"read", `{"path":"a","path":"b"}`, "", `read: the arguments name "path" twice`},
		{"read", `{"Path":"a"}`, "", `read has no argument "Path": it has path, offset, limit`},
		{"read", `{"path":"a","offset":"1"}`, "", `read: the argument "offset" must be a whole number`},
		{"read", `{"path":"a","offset":1.5}`, "", `read: the argument "offset" must be a whole number`},
		{"read", `{"path":"a","offset":0}`, "", `read: the argument "offset" must be a whole number from 1 on`},
		{"read", `{"path":"a","limit":2001}`, "", `read: the argument "limit" must be a whole number from 1 to 2000`},
		{"read", `{"path":"a\u0000"}`, "", "holds a zero byte"},
		{"write", `{"path":"b"}`, "", `write: the argument "content" is missing`},
		{"edit", `{"path":"a","old":"","new":"y"}`, "", `edit: the argument "old" is empty`},
		{"edit", `{"path":"a","old":"x","new":"y","all":"yes"}`, "", `edit: the argument "all" must be true or false`},
		{"bash", `{"command":"true","timeout_s":601}`, "", `bash: the argument "timeout_s" must be a whole number from 1 to 600`},
		{"bash", `{"command":"a\u0000"}`, "", "holds a zero byte"},
		{"search", `{"pattern":"("}`, "", `search: the argument "pattern" is no regular expression`},
		{"search", `{"pattern":"x","glob":"*.{a,b}"}`, "", "one call for each"},
		{"list", `{"glob":"../*"}`, "", "no / at the beginning, and no part"},
	})
}

// TestEscape tries to leave the working folder by every file tool.
func TestEscape(t *testing.T) {
	r := work(t, map[string]string{"a": "x\n", "in/b": "y\n"}, agent.Options{})
	r.link("../secret", "up")
	r.link(filepath.Join(r.dir, "../secret"), "absolute")
	r.link("..", "parent")
	r.link("in/../../secret", "winding")
	r.link("up", "twice")
	r.link("round", "round")
	r.link("../../secret", "in/deep")
	r.link("none/../../secret", "broken")
	for _, path := range []string{
		"../secret", "in/../../secret", "..", r.dir + "/../secret", "/etc/passwd", "up", "absolute", "parent/secret", "winding", "twice", "round", "in/deep", "broken",
	} {
		for _, args := range [][2]string{
			{"read", object(t, map[string]any{"path": path})},
			{"write", object(t, map[string]any{"path": path, "content": "z"})},
			{"edit", object(t, map[string]any{"path": path, "old": "secret", "new": "z"})},
			{"search", object(t, map[string]any{"path": path, "pattern": "."})},
			{"list", object(t, map[string]any{"path": path})},
		} {
			text, err := r.use(t.Context(), args[0], args[1])
			if text != "" || err == nil || !strings.Contains(err.Error(), "the working folder, which no file tool") && !strings.Contains(err.Error(), "is a link that l") && !strings.Contains(err.Error(), "more than 40 links") {
				t.Errorf("%s %s: %q, %v", args[0], args[1], text, err)
			}
		}
	}
	if got := r.get("../secret"); got != "the secret\n" {
		t.Errorf("the secret is now %q", got)
	}
	r.rows([]row{
		{"read", object(t, map[string]any{"path": r.dir + "/in/b"}), "1\ty\n", ""},
		{"search", `{"pattern":"secret"}`, "(no match)\n", ""},
		{"list", `{"glob":"**/secret"}`, "(nothing)\n", ""},
	})
}

// TestCanceled calls every tool when its context has ended.
// covers: R-06 part
func TestCanceled(t *testing.T) {
	r := work(t, map[string]string{"a": "x\n"}, agent.Options{})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for tool, args := range map[string]string{
		"read": `{"path":"a"}`, "write": `{"path":"a","content":"y"}`, "edit": `{"path":"a","old":"x","new":"y"}`, "bash": `{"command":"echo y >a"}`, "search": `{"pattern":"x"}`, "list": ``,
	} {
		if text, err := r.use(ctx, tool, args); text != "" || !errors.Is(err, cause) {
			t.Errorf("%s: %q, %v", tool, text, err)
		}
	}
	if got := r.get("a"); got != "x\n" {
		t.Errorf("a is now %q", got)
	}
}
