package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ambit/provider/scripted"
)

const cliJSON = "../../docs/format/cli-json.md"

// documented reads the tables of docs/format/cli-json.md: for every command the type of each member.
func documented(text string) map[string]map[string]string {
	heading := regexp.MustCompile("^## `ambit (\\w+)(?:[^`]*( --public| --checkpoint))?")
	member := regexp.MustCompile("^\\| `([^`]+)` \\| (\\w+) \\| [^|]+ \\| [^|]+ \\|$")
	all, command := make(map[string]map[string]string), ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "## ") {
			command = ""
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			command = m[1] + m[2]
			all[command] = make(map[string]string)
		} else if m := member.FindStringSubmatch(line); m != nil && command != "" {
			all[command][m[1]] = m[2]
		}
	}
	return all
}

// openObjects are members whose own members are data, or are told in their own line.
var openObjects = []string{"headers", "entry", "recorded", "title_at", "role_text", "text", "volatile", "values"}

// members notes the path and type of every member of a JSON value.
func members(at string, v any, found map[string]string) error {
	note := func(kind string) error {
		if was := found[at]; was == "number" && kind == "integer" || was == "integer" && kind == "number" {
			kind, found[at] = "number", "number" // JSON does not tell them apart
		}
		if was := found[at]; at != "" && was != "" && was != kind {
			return fmt.Errorf("%s is %s and %s", at, was, kind)
		}
		if at != "" && !strings.HasSuffix(at, "[]") {
			found[at] = kind
		}
		return nil
	}
	switch v := v.(type) {
	case nil:
		return fmt.Errorf("%s is null", at)
	case bool:
		return note("boolean")
	case json.Number:
		if _, err := v.Int64(); err != nil {
			return note("number")
		}
		return note("integer")
	case string:
		if jsonKinds["<time>"](v) {
			return note("time")
		}
		return note("string")
	case []any:
		for _, element := range v {
			if err := members(at+"[]", element, found); err != nil {
				return err
			}
		}
		return note("array")
	case map[string]any:
		if err := note("object"); err != nil || slices.Contains(openObjects, at) {
			return err
		}
		for key, member := range v {
			if err := members(strings.TrimPrefix(at+"."+key, "."), member, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestCLIJSON: every member that a command prints stands in docs/format/cli-json.md with its type, and every member
// that stands there is printed.
func TestCLIJSON(t *testing.T) {
	text, err := os.ReadFile(cliJSON)
	if err != nil {
		t.Fatal(err)
	}
	described := documented(string(text))
	dir, recording, pruned := fullHome(t), brokenRecording(t), prunedRecording(t)
	model := httptest.NewServer(scripted.New(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{{Text: "Yes."}, {Text: "No."}}}}}))
	defer model.Close()
	editedHome(t, dir)
	e, taken, said := testEnv(map[string]string{"AMBIT_HOME": dir})
	if run(t.Context(), e, []string{"import", pruned, "--json"}) != 0 {
		t.Fatal(said)
	}
	_, name, _ := strings.Cut(taken.String(), `"session":"`)
	name, _, _ = strings.Cut(name, `"`)
	long := importedCalls(t, dir)
	printed := make(map[string]map[string]string)
	for _, call := range []struct {
		status int
		args   []string
	}{
		{0, []string{"sessions", "--json"}},
		{0, []string{"log", "a-full", "--json"}},
		{0, []string{"log", "e-talk", "--json"}},
		{0, []string{"log", "f-fork", "--json"}},
		{0, []string{"log", "g-purged", "--json"}},
		{0, []string{"log", "h-imported", "--json"}},
		{0, []string{"request", "a-full", "--list", "--json"}},
		{0, []string{"request", "h-imported", "--list", "--json"}},
		{0, []string{"search", "e-talk", "needle", "--json", "--max-results", "1"}},
		{0, []string{"read", "e-talk", "e4", "--json", "--max-bytes", "4000"}},
		{0, []string{"fork", "e-talk", "e2", "--json"}},
		{1, []string{"check", "--json"}},
		{0, []string{"reindex", "a-full", "--json"}},
		{0, []string{"pin", "f-fork", "e4", "--json"}},
		{0, []string{"pin", "f-fork", "--json"}},
		{0, []string{"pin", "f-fork", "--text", "x", "--json"}},
		{0, []string{"unpin", "f-fork", "p2", "--json"}},
		{0, []string{"unpin", "f-fork", "p1", "--json"}},
		{0, []string{"compact", long, "--json"}},
		{0, []string{"export", "a-full"}},
		{0, []string{"export", "g-purged"}},
		{0, []string{"export", "e-talk", "--public"}},
		{0, []string{"purge", "e-talk", "e4", "--yes", "--json"}},
		{0, []string{"purge", "e-talk", "e4", "--yes", "--json"}},
		{0, []string{"log", "e-talk", "--json"}},
		{0, []string{"purge", "e-talk", "--yes", "--json"}},
		{0, []string{"view", name, "--json"}},
		{0, []string{"view", "a-full", "--checkpoint", "--json"}},
		{0, []string{"view", "i-edited", "--json"}},
		{0, []string{"context", "i-edited", "--json"}},
		{0, []string{"context", name, "--json"}},
		{0, []string{"purge", name, "--yes", "--json"}},
		{0, []string{"context", name, "--json"}},
		{0, []string{"replay", recording, "--json"}},
		{0, []string{"usage", recording, "--json"}},
		{0, []string{"version", "--json"}},
		{0, []string{"run", "--scripted", "demo", "--dir", t.TempDir(), "--yes", "--json", "Fix it."}},
		{1, []string{"run", "--base-url", "http://127.0.0.1:9", "--json", "Fix it."}},
		{1, []string{"run", "--base-url", "http://127.0.0.1:9", "--ephemeral", "--json", "Fix it."}},
		{0, []string{"run", "--base-url", model.URL, "--json", "Answer it."}},
		{0, []string{"aside", "Answer it.", "--id", "a", "--json", "Why?"}},
		{0, []string{"aside", "Answer it.", "--id", "a", "--json", "Why?"}},
	} {
		command := call.args[0]
		for _, flag := range []string{"--public", "--checkpoint"} {
			if slices.Contains(call.args, flag) {
				command += " " + flag
			}
		}
		if printed[command] == nil {
			printed[command] = make(map[string]string)
		}
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, call.args); got != call.status || said.Len() > 0 && !strings.Contains(said.String(), "purged") && command != "run" && command != "aside" {
			t.Errorf("ambit %v: status %d, want %d; %s", call.args, got, call.status, said)
		}
		if n := strings.Count(out.String(), "\n"); n == 0 || call.args[0] != "log" && call.args[0] != "export" && n != 1 {
			t.Errorf("ambit %v prints %d lines", call.args, n)
		}
		values, err := jsonValues(out.String())
		if err != nil {
			t.Fatalf("ambit %v: %v", call.args, err)
		}
		for _, v := range values {
			if err := members("", v, printed[command]); err != nil {
				t.Errorf("ambit %v: %v", call.args, err)
			}
		}
	}
	for _, command := range slices.Sorted(maps.Keys(described)) {
		if _, ok := printed[command]; !ok {
			t.Errorf("ambit %s is documented and was not called", command)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(printed)) {
		for _, problem := range differences(described[command], printed[command]) {
			t.Errorf("ambit %s: %s", command, problem)
		}
	}

	// One request alone is an element of the list.
	alone := make(map[string]string)
	for _, session := range []string{"a-full", "h-imported"} {
		e, out, _ := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, []string{"request", session, "1", "--json"}); got != 0 {
			t.Fatalf("status %d", got)
		}
		one, err := jsonValues(out.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := members("requests[]", one[0], alone); err != nil {
			t.Fatal(err)
		}
	}
	alone["requests"] = "array"
	for _, problem := range differences(described["request"], alone) {
		t.Errorf("ambit request N: %s", problem)
	}
}

// differences says where what is documented and what is printed are not the same.
func differences(described, printed map[string]string) []string {
	var problems []string
	for _, member := range slices.Sorted(maps.Keys(printed)) {
		if described[member] == "" {
			problems = append(problems, fmt.Sprintf("%s is printed and not documented", member))
		} else if described[member] != printed[member] && (described[member] != "number" || printed[member] != "integer") {
			problems = append(problems, fmt.Sprintf("%s is documented as %s and printed as %s", member, described[member], printed[member]))
		}
	}
	for _, member := range slices.Sorted(maps.Keys(described)) {
		if printed[member] == "" {
			problems = append(problems, fmt.Sprintf("%s is documented and not printed", member))
		}
	}
	return problems
}

func TestCLIJSONCanFail(t *testing.T) {
	described := documented("## `ambit a --json`\n| `x` | string | m | never |\n| `y[].z` | integer | m | never |\n## Other\n| `v` | string | m | never |\n")
	if len(described) != 1 || !maps.Equal(described["a"], map[string]string{"x": "string", "y[].z": "integer"}) {
		t.Fatalf("documented are %v", described)
	}
	values, err := jsonValues(`{"x":1,"y":[{"z":1},{"z":2}],"headers":{"h":"v"}}`)
	if err != nil {
		t.Fatal(err)
	}
	printed := make(map[string]string)
	if err := members("", values[0], printed); err != nil {
		t.Fatal(err)
	}
	got := differences(described["a"], printed)
	want := []string{"headers is printed and not documented", "x is documented as string and printed as integer", "y is printed and not documented"}
	if !slices.Equal(got, want) {
		t.Errorf("differences are %q, want %q", got, want)
	}
	if got := differences(map[string]string{"gone": "string"}, nil); len(got) != 1 {
		t.Errorf("differences are %q", got)
	}
	for _, text := range []string{`{"x":null}`, `{"x":[{"y":1},{"y":"s"}]}`} {
		values, err := jsonValues(text)
		if err != nil {
			t.Fatal(err)
		}
		if members("", values[0], make(map[string]string)) == nil {
			t.Errorf("%s has no problem", text)
		}
	}
}

// TestExitStatuses: the statuses that the document gives are those of the command.
func TestExitStatuses(t *testing.T) {
	text, err := os.ReadFile(cliJSON)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\d) \|`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	if want := fmt.Sprint([]int{exitDone, exitFail, exitUsage}); fmt.Sprint(got) != want {
		t.Errorf("documented are %v, want %s", got, want)
	}
}
