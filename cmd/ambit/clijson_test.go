package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit/entry"
)

const cliJSON = "../../docs/format/cli-json.md"

// documented reads the tables of docs/format/cli-json.md: for every command the type of each member.
func documented(text string) map[string]map[string]string {
	heading := regexp.MustCompile("^## `ambit (\\w+)")
	member := regexp.MustCompile("^\\| `([^`]+)` \\| (\\w+) \\| [^|]+ \\| [^|]+ \\|$")
	all, command := make(map[string]map[string]string), ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "## ") {
			command = ""
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			command = m[1]
			all[command] = make(map[string]string)
		} else if m := member.FindStringSubmatch(line); m != nil && command != "" {
			all[command][m[1]] = m[2]
		}
	}
	return all
}

// openObjects are members whose own members are data.
var openObjects = []string{"headers", "entry"}

// members notes the path and type of every member of a JSON value.
func members(at string, v any, found map[string]string) error {
	note := func(kind string) error {
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
			return fmt.Errorf("%s is %v", at, v)
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

// fullHome makes a data directory that gives every member something to say: a session with every kind of entry,
// two that are damaged, and one that cannot be read.
func fullHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	d := madeSessions(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, name := range []string{"a-full", "b-entry", "c-body"} {
		unlock, err := d.Lock(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []entry.Body
		for _, text := range []string{`{"model":"m"}`, "\xff\x00"} {
			b, err := d.Put(t.Context(), name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, b)
		}
		headers := map[string]string{"content-type": "application/json"}
		for _, facts := range [][]entry.Fact{
			{&entry.Session{ID: name, Title: "title", Client: "client/1", Key: "tag:a"}, &entry.Request{
				N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Headers: headers, Model: "m",
				Arrived: at, Partial: true, Body: &bodies[0],
			}},
			{&entry.Response{
				N: 1, Status: 200, Headers: headers, Model: "m", Usage: &entry.Usage{Input: 4, CacheRead: 1, CacheWrite: 2, Output: 3},
				End: entry.EndDropped, Error: "unexpected EOF", FirstByteMS: 1, DurationMS: 2, Body: &bodies[1],
			}},
			{&entry.Gap{Exchanges: 1, Bytes: 2, Cause: "no space left on device", Since: at}},
			{&entry.Unknown{Name: "note", Raw: json.RawMessage(`{"time":"2026-01-02T03:04:05Z","kind":"note","text":"?"}`)}},
		} {
			if _, err := d.Append(t.Context(), name, facts...); err != nil {
				t.Fatal(err)
			}
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"b-entry/entries/000000000001.jsonl", "c-body/bodies/literals.log"} {
		file = filepath.Join(dir, "sessions", file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-10] ^= 1
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions/d-unreadable/entries/000000000001.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestCLIJSON: every member that a command prints stands in docs/format/cli-json.md with its type, and every member
// that stands there is printed.
func TestCLIJSON(t *testing.T) {
	text, err := os.ReadFile(cliJSON)
	if err != nil {
		t.Fatal(err)
	}
	described := documented(string(text))
	dir := fullHome(t)
	printed := make(map[string]map[string]string)
	for _, call := range []struct {
		status int
		args   []string
	}{
		{0, []string{"sessions", "--json"}},
		{0, []string{"log", "a-full", "--json"}},
		{0, []string{"request", "a-full", "--list", "--json"}},
		{1, []string{"check", "--json"}},
		{0, []string{"reindex", "a-full", "--json"}},
		{0, []string{"export", "a-full"}},
		{0, []string{"version", "--json"}},
	} {
		command := call.args[0]
		printed[command] = make(map[string]string)
		e, out, said := testEnv(map[string]string{"AMBIT_HOME": dir})
		if got := run(t.Context(), e, call.args); got != call.status || said.Len() > 0 {
			t.Errorf("ambit %v: status %d, want %d; %s", call.args, got, call.status, said)
		}
		if n := strings.Count(out.String(), "\n"); n == 0 || command != "log" && command != "export" && n != 1 {
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
	e, out, _ := testEnv(map[string]string{"AMBIT_HOME": dir})
	if got := run(t.Context(), e, []string{"request", "a-full", "1", "--json"}); got != 0 {
		t.Fatalf("status %d", got)
	}
	one, err := jsonValues(out.String())
	if err != nil {
		t.Fatal(err)
	}
	alone := make(map[string]string)
	if err := members("requests[]", one[0], alone); err != nil {
		t.Fatal(err)
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
		} else if described[member] != printed[member] {
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
	for _, text := range []string{`{"x":null}`, `{"x":1.5}`, `{"x":[{"y":1},{"y":"s"}]}`} {
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
