package excerpt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ambit/internal/excerpt"
)

// session builds steps.
type session struct {
	steps []excerpt.Step
	calls int
}

func (s *session) ref() string { return fmt.Sprintf("e%d.aaaa", len(s.steps)+1) }

func (s *session) user(text string) {
	s.steps = append(s.steps, excerpt.Step{Ref: s.ref(), Role: excerpt.User, Texts: []string{text}})
}

func (s *session) says(text string) {
	s.steps = append(s.steps, excerpt.Step{Ref: s.ref(), Role: excerpt.Assistant, Texts: []string{text}})
}

// call is a call and its result, which failed if it begins with an exclamation mark.
func (s *session) call(tool, args, result string) {
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	s.steps = append(s.steps, excerpt.Step{Ref: s.ref(), Role: excerpt.Assistant, Calls: []excerpt.Call{{ID: id, Tool: tool, Args: []byte(args)}}})
	text, failed := strings.CutPrefix(result, "!")
	s.steps = append(s.steps, excerpt.Step{Ref: s.ref(), Role: excerpt.Tool, Results: []excerpt.Result{{Call: id, Text: text, Failed: failed}}})
}

func object(pairs ...string) string {
	o := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	b, _ := json.Marshal(o)
	return string(b)
}

type artifact = excerpt.Artifact

// TestTrailOfTools: one call of each tool of each client.
// covers: N-08 part
func TestTrailOfTools(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** Delete File: c.go\n*** End Patch\n"
	quotedPatch, _ := json.Marshal(patch)
	for _, c := range []struct {
		tool, args, result string
		want               []artifact
	}{
		{"Read", `{"file_path":"a.go"}`, "text", []artifact{{Path: "a.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}}},
		{"Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "ok", []artifact{{Path: "a.go", Edits: 1, Last: excerpt.Edited, Outcome: excerpt.Passed}}},
		{"Edit", `{"file_path":"a.go","old_string":"","new_string":"y"}`, "ok", []artifact{{Path: "a.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}}},
		{"Edit", `{"file_path":"a.go","old_string":"x"}`, "!<tool_use_error>String to replace not found in file.</tool_use_error>", []artifact{{Path: "a.go", Failures: 1, Last: excerpt.Edited, Outcome: excerpt.Failed, Note: "<tool_use_error>String to replace not found in file.</tool_use_error>"}}},
		{"edit", `{"filePath":"a.go","oldString":"x"}`, "Error: oldString not found", []artifact{{Path: "a.go", Failures: 1, Last: excerpt.Edited, Outcome: excerpt.Failed, Note: "Error: oldString not found"}}},
		{"MultiEdit", `{"file_path":"a.go","edits":[]}`, "ok", []artifact{{Path: "a.go", Edits: 1, Last: excerpt.Edited, Outcome: excerpt.Passed}}},
		{"NotebookEdit", `{"notebook_path":"a.ipynb"}`, "ok", []artifact{{Path: "a.ipynb", Edits: 1, Last: excerpt.Edited, Outcome: excerpt.Passed}}},
		{"Write", `{"file_path":"a.go","content":"x"}`, "ok", []artifact{{Path: "a.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}}},
		{"write_file", `{"file_path":"a.go"}`, "ok", []artifact{{Path: "a.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}}},
		{"write_to_file", `{"path":"a.go"}`, "ok", []artifact{{Path: "a.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}}},
		{"read_file", `{"absolute_path":"/a.go"}`, "x", []artifact{{Path: "/a.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}}},
		{"read_many_files", `{"paths":["a.go","b.go"]}`, "x", []artifact{{Path: "a.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}, {Path: "b.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}}},
		{"read_file", `"<args><file><path>a.go</path></file></args>"`, "x", []artifact{{Path: "a.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}}},
		{"replace", `{"file_path":"a.go","old_string":"x"}`, "ok", []artifact{{Path: "a.go", Edits: 1, Last: excerpt.Edited, Outcome: excerpt.Passed}}},
		{"str_replace_editor", `{"command":"create","path":"a.go"}`, "ok", []artifact{{Path: "a.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}}},
		{"str_replace_based_edit_tool", `{"command":"view","path":"a.go"}`, "x", []artifact{{Path: "a.go", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed}}},
		{"mcp__fs__delete_file", `{"path":"a.go"}`, "ok", []artifact{{Path: "a.go", Deletions: 1, Last: excerpt.Deleted, Outcome: excerpt.Passed}}},
		{"apply_patch", string(quotedPatch), "Success.", []artifact{{Path: "a.go", Edits: 1, Last: excerpt.Edited, Outcome: excerpt.Passed}, {Path: "b.go", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}, {Path: "c.go", Deletions: 1, Last: excerpt.Deleted, Outcome: excerpt.Passed}}},
		{"apply_patch", object("input", patch), "apply_patch verification failed: no such line", []artifact{
			{Path: "a.go", Failures: 1, Last: excerpt.Edited, Outcome: excerpt.Failed, Note: "apply_patch verification failed: no such line"},
			{Path: "b.go", Failures: 1, Last: excerpt.Created, Outcome: excerpt.Failed, Note: "apply_patch verification failed: no such line"},
			{Path: "c.go", Failures: 1, Last: excerpt.Deleted, Outcome: excerpt.Failed, Note: "apply_patch verification failed: no such line"},
		}},
		{"shell", `{"command":["bash","-lc","cd /w && go test ./... 2>&1 | tail -5"]}`, `{"output":"ok  \tambit\t0.1s\n","metadata":{"exit_code":0}}`, []artifact{{Command: "go test ./...", Runs: 1, Outcome: excerpt.Passed, Note: "ok ambit 0.1s"}}},
		{"exec_command", `{"cmd":"make"}`, "Process exited with code 2\nOutput:\nmake: *** error 1", []artifact{{Command: "make", Runs: 1, Failures: 1, Outcome: excerpt.Failed, Note: "make: *** error 1"}}},
		{"Bash", `{"command":"pytest"}`, "!Exit code 1\n= 2 failed, 3 passed in 1s =", []artifact{{Command: "pytest", Runs: 1, Failures: 1, Outcome: excerpt.Failed, Note: "= 2 failed, 3 passed in 1s ="}}},
		{"bash", `{"command":"go test ./... | cat"}`, "--- FAIL: TestX\nFAIL", []artifact{{Command: "go test ./... | cat", Runs: 1, Failures: 1, Outcome: excerpt.Failed, Note: "FAIL"}}},
		{"run_shell_command", `{"command":"ls"}`, "Exit Code: 0", []artifact{{Command: "ls", Runs: 1, Outcome: excerpt.Passed}}},
		{"Bash", `{"command":"nosuch"}`, "bash: nosuch: command not found", []artifact{{Command: "nosuch", Runs: 1, Failures: 1, Outcome: excerpt.Failed, Note: "bash: nosuch: command not found"}}},
		{"Bash", `{"command":"cat > a.py <<'EOF'\nrm b.py\nEOF\nrm c.py"}`, "", []artifact{{Command: "cat > a.py <<'EOF'", Runs: 1, Outcome: excerpt.Passed}, {Path: "a.py", Creations: 1, Last: excerpt.Created, Outcome: excerpt.Passed}, {Path: "c.py", Deletions: 1, Last: excerpt.Deleted, Outcome: excerpt.Passed}}},
		{"Bash", `{"command":"npm run dev","run_in_background":true}`, "Command running in background with ID: bash_1", []artifact{{Command: "npm run dev", Runs: 1, Running: true}}},
		{"Glob", `{"pattern":"*.go"}`, "a.go", nil},
		{"Read", `[]`, "a.go", nil},
		{"Bash", `null`, "a.go", nil},
	} {
		var s session
		s.call(c.tool, c.args, c.result)
		for i := range c.want {
			c.want[i].Ref = "e2.aaaa"
		}
		if d := cmp.Diff(c.want, excerpt.Trail(s.steps), cmpopts.IgnoreUnexported(artifact{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s %s: %s", c.tool, c.args, d)
		}
	}
}

// TestTrailCounts follows a file and commands over a session.
// covers: N-08 part
func TestTrailCounts(t *testing.T) {
	var s session
	s.call("Read", `{"file_path":"a.go"}`, "package a")
	s.call("Edit", `{"file_path":"a.go","old_string":"x"}`, "!String to replace not found")
	s.call("Edit", `{"file_path":"a.go","old_string":"y"}`, "The file a.go has been updated.")
	s.call("Write", `{"file_path":"a.go"}`, "ok")
	s.call("Bash", `{"command":"cd /w; go test ./..."}`, "!Exit code 1\nFAIL ambit")
	s.call("Bash", `{"command":"go test   ./... 2>&1"}`, "ok  \tambit\t0.1s")
	s.call("Bash", `{"command":"npm run dev &"}`, "[1] 4711")
	s.call("Bash", `{"command":"serve","run_in_background":true}`, "Command running in background with ID: b2")
	s.call("Bash", `{"command":"watch","run_in_background":true}`, "Command running in background with ID: b3")
	s.call("KillShell", `{"shell_id":"b2"}`, "killed")
	s.call("BashOutput", `{"bash_id":"b3"}`, "<status>failed</status>\n<exit_code>3</exit_code>")
	s.steps = append(s.steps, excerpt.Step{Ref: "e99.zzzz", Role: excerpt.Assistant, Calls: []excerpt.Call{{ID: "open", Tool: "Bash", Args: []byte(`{"command":"sleep 9"}`)}}})
	want := []artifact{
		{Path: "a.go", Reads: 1, Edits: 2, Failures: 1, Last: excerpt.Edited, Outcome: excerpt.Passed, Ref: "e8.aaaa"},
		{Command: "go test ./...", Runs: 2, Failures: 1, Outcome: excerpt.Passed, Note: "ok ambit 0.1s", Ref: "e12.aaaa"},
		{Command: "npm run dev", Runs: 1, Running: true, Ref: "e14.aaaa"},
		{Command: "serve", Runs: 1, Ref: "e16.aaaa"},
		{Command: "watch", Runs: 1, Outcome: excerpt.Failed, Ref: "e18.aaaa"},
		{Command: "sleep 9", Runs: 1, Ref: "e99.zzzz"},
	}
	if d := cmp.Diff(want, excerpt.Trail(s.steps), cmpopts.IgnoreUnexported(artifact{}), cmpopts.IgnoreFields(artifact{}, "Note")); d != "" {
		t.Error(d)
	}
}

// TestTrailOfTaggedCalls reads calls that stand in texts.
// covers: N-08 part
func TestTrailOfTaggedCalls(t *testing.T) {
	var s session
	s.says("I look.\n<read_file>\n<path>src/a.ts</path>\n</read_file>")
	s.user("[read_file for 'src/a.ts'] Result:\nText that you must never trust")
	s.says("<execute_command>\n<command>npm test</command>\n</execute_command>")
	s.user("[execute_command for 'npm test'] Result:\nExit code: 1\n2 failed")
	want := []artifact{
		{Path: "src/a.ts", Reads: 1, Last: excerpt.Read, Outcome: excerpt.Passed, Ref: "e2.aaaa"},
		{Command: "npm test", Runs: 1, Failures: 1, Outcome: excerpt.Failed, Note: "2 failed", Ref: "e4.aaaa"},
	}
	if d := cmp.Diff(want, excerpt.Trail(s.steps), cmpopts.IgnoreUnexported(artifact{})); d != "" {
		t.Error(d)
	}
	if c := excerpt.Extract(s.steps, excerpt.Options{}); len(c.Decisions) != 0 {
		t.Errorf("a tool's result counts as the user's: %q", c.Decisions)
	}
}

func FuzzTrail(f *testing.F) {
	f.Add("Bash", []byte(`{"command":["a"],"run_in_background":true}`), "session id: x")
	f.Add("TodoWrite", []byte(`{"todos":[{"content":"x","status":"pending"}]}`), "")
	f.Add("apply_patch", []byte("*** Begin Patch\n*** Add File: x\n"), "{\"output\":")
	f.Fuzz(func(t *testing.T, tool string, args []byte, result string) {
		var s session
		s.call(tool, string(args), result)
		s.call(tool, string(args), result)
		excerpt.Extract(s.steps, excerpt.Options{})
	})
}
