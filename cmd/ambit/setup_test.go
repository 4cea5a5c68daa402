package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// setups are all setups that can be asked for, by what is typed: of every client and provider, plain, with a tag, and
// with a token.
func setups(t *testing.T) map[string]setup {
	t.Helper()
	all := make(map[string]setup)
	for _, c := range clientsKnown() {
		for _, w := range c.ways {
			for typed, f := range map[string]setupFlags{
				"":                          {addr: usualAddr},
				" --tag 'a \"$AMBIT_TOKEN'": {addr: usualAddr, tag: `a "$AMBIT_TOKEN`, tagged: true},
				" --addr [2001:db8::1]:80":  {addr: "[2001:db8::1]:80"},
			} {
				f.provider, f.chosen = w.provider, true
				e, _, _ := testEnv(nil)
				s, err := e.setup(c.name, f)
				if err != nil {
					t.Fatal(err)
				}
				all[c.name+" --provider "+w.provider+typed] = s
			}
		}
	}
	return all
}

// TestSetupText: what people paste says the same as the JSON: a shell sets these variables, with the token in them, the
// files stand there as they are, and all else but the command is comment.
func TestSetupText(t *testing.T) {
	for typed, s := range setups(t) {
		var script strings.Builder
		text := s.text()
		for _, f := range s.Files {
			before, after, ok := strings.Cut(text, f.Content)
			if !ok || !strings.HasSuffix(before, "\n") || !strings.Contains(before, "# "+f.Path+"; if there is one, do not replace it, but "+f.Merge+":\n") {
				t.Errorf("%s: %s is not in its text:\n%s", typed, f.Path, text)
			}
			text = before + after
		}
		for name := range s.Env {
			fmt.Fprintf(&script, "printf '%%s\\n' \"$%s\" >%s\n", name, name)
		}
		plain := regexp.MustCompile(`(?m)^(?:#.*|export .*|)\n`).ReplaceAllString(text, "")
		if plain != s.Command+"\n" {
			t.Errorf("%s: besides comments and variables there is %q", typed, plain)
		}
		before, _, _ := strings.Cut(text, "\n"+s.Command+"\n")
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), "sh", "-euc", before+"\n"+script.String())
		c.Dir, c.Env = dir, []string{"AMBIT_TOKEN=to k'en"}
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", typed, err, out)
		}
		for name, value := range s.Env {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if want := strings.ReplaceAll(value, tokenHere, "to k'en") + "\n"; err != nil || string(got) != want {
				t.Errorf("%s: a shell has %s=%q, want %q (%v)", typed, name, got, want, err)
			}
		}
	}
}

// TestSetupURLs: every setup has its URL in one place, whole, and sets no key.
func TestSetupURLs(t *testing.T) {
	for typed, s := range setups(t) {
		texts := slices.Collect(maps.Values(s.Env))
		for _, f := range s.Files {
			texts = append(texts, f.Content)
		}
		url := "http://" + s.Addr + "/" + s.Provider
		switch {
		case strings.Contains(typed, "--tag"):
			url += "/s/a%20%22%24AMBIT_TOKEN"
		case strings.Contains(typed, "--addr"):
			url += "/t/" + tokenHere
		}
		all := strings.Join(texts, "\n")
		if strings.Count(all, "http") != 1 || !regexp.MustCompile(regexp.QuoteMeta(url)+`(?:/v1/?|/v1beta)?["\n]`).MatchString(all+"\n") {
			t.Errorf("%s: it has not the URL %s once:\n%s", typed, url, all)
		}
		for name := range s.Env {
			if strings.Contains(name, "KEY") {
				t.Errorf("%s sets %s", typed, name)
			}
		}
		if said := fmt.Sprint(s.Notes); strings.Contains(said, tokenHere) != strings.Contains(typed, "--addr") {
			t.Errorf("%s says of the token: %s", typed, said)
		}
	}
}

// TestSetupJSON: what docs/format/cli-json.md says of ambit setup is what it prints.
func TestSetupJSON(t *testing.T) {
	text, err := os.ReadFile(cliJSON)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		heading string
		calls   [][]string
	}{
		{"The clients: `ambit setup --json`", [][]string{{"setup", "--json"}}},
		{"Leading a client: `ambit setup CLIENT --json`", [][]string{
			{"setup", "qwen", "--json", "--addr", "host:1"}, {"setup", "codex", "--json", "--addr", "host:1"},
		}},
	} {
		_, section, ok := strings.Cut(string(text), "\n## "+c.heading+"\n")
		if !ok {
			t.Fatalf("there is no %q", c.heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		printed := make(map[string]string)
		for _, call := range c.calls {
			e, out, said := testEnv(nil)
			if got := run(t.Context(), e, call); got != 0 || said.Len() > 0 || strings.Count(out.String(), "\n") != 1 {
				t.Errorf("ambit %v: status %d, %s", call, got, said)
			}
			values, err := jsonValues(out.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := members("", values[0], printed); err != nil {
				t.Errorf("ambit %v: %v", call, err)
			}
		}
		maps.DeleteFunc(printed, func(name, _ string) bool { return strings.HasPrefix(name, "env.") }) // whose names are data
		for _, problem := range differences(documented("## `ambit setup`\n" + section)["setup"], printed) {
			t.Errorf("%s: %s", c.heading, problem)
		}
	}
}

// TestSetupReadme: the README names every client of ambit setup, and no other.
func TestSetupReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range clientsKnown() {
		want = append(want, c.name)
	}
	m := regexp.MustCompile("CLIENT is one of ((?:`[a-z]+`(?:,\\s|\\sand\\s)?)+)").FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("it lists none")
	}
	var got []string
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(m[1], -1) {
		got = append(got, name[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("it names %v, want %v", got, want)
	}
	for _, m := range regexp.MustCompile(`bin/ambit setup ([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := findClient(m[1]); err != nil {
			t.Error(err)
		}
	}
}
