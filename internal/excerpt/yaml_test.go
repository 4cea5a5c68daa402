package excerpt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"ambit/internal/excerpt"
)

// parsed is a checkpoint as a YAML library reads it.
type parsed struct {
	Objective        string   `yaml:"objective"`
	Completed        []string `yaml:"completed"`
	CurrentState     string   `yaml:"current_state"`
	ImportantFiles   []file   `yaml:"important_files"`
	FailedAttempts   []string `yaml:"failed_attempts"`
	Decisions        []string `yaml:"decisions"`
	RunningProcesses []string `yaml:"running_processes"`
	NextSteps        []string `yaml:"next_steps"`
}

type file struct {
	Path   string `yaml:"path"`
	Reason string `yaml:"reason"`
}

func anyCheckpoint() *rapid.Generator[excerpt.Checkpoint] {
	text := rapid.OneOf(anyText(), rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab:-#\"'\\ \t\n\r{}[]&*!|>%@`,?~0\u0085\u2028\U0001F600\U000E0001\uFFFE"))))
	list := rapid.SliceOfN(text, 0, 4)
	return rapid.Custom(func(t *rapid.T) excerpt.Checkpoint {
		c := excerpt.Checkpoint{
			Objective: text.Draw(t, "objective"), CurrentState: text.Draw(t, "state"),
			Completed: list.Draw(t, "completed"), FailedAttempts: list.Draw(t, "failed"), Decisions: list.Draw(t, "decisions"),
			RunningProcesses: list.Draw(t, "running"), NextSteps: list.Draw(t, "next"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "files") {
			c.ImportantFiles = append(c.ImportantFiles, excerpt.File{Path: "p" + text.Draw(t, "path"), Reason: "r" + text.Draw(t, "reason")})
		}
		return c
	})
}

// wanted is what a checkpoint says, as a YAML library can read it.
func wanted(c excerpt.Checkpoint) parsed {
	valid := func(list []string) []string {
		out := []string{}
		for _, s := range list {
			out = append(out, strings.ToValidUTF8(s, "\uFFFD"))
		}
		return out
	}
	p := parsed{
		strings.ToValidUTF8(c.Objective, "\uFFFD"), valid(c.Completed), strings.ToValidUTF8(c.CurrentState, "\uFFFD"),
		[]file{},
		valid(c.FailedAttempts), valid(c.Decisions), valid(c.RunningProcesses), valid(c.NextSteps),
	}
	for _, f := range c.ImportantFiles {
		p.ImportantFiles = append(p.ImportantFiles, file{strings.ToValidUTF8(f.Path, "\uFFFD"), strings.ToValidUTF8(f.Reason, "\uFFFD")})
	}
	return p
}

// TestYAML: a library reads what is written, whatever the texts, and so does Parse.
// covers: X-04 part
func TestYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCheckpoint().Draw(t, "checkpoint")
		text := c.YAML()
		var got parsed
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(wanted(c), got); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
		again, err := excerpt.Parse([]byte(text))
		if strings.TrimSpace(c.Objective) == "" {
			if err == nil {
				t.Fatal("an empty objective was accepted")
			}
			return
		}
		if len(text) > 64<<10 {
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(wanted(c), wanted(again)); d != "" {
			t.Fatal(d)
		}
	})
}

// covers: X-04 part
func TestYAMLForm(t *testing.T) {
	c := excerpt.Checkpoint{
		Objective: "Mend the login.\nKeep the API.", Completed: []string{"Passed: go test ./...", "yes"}, CurrentState: "Two tests fail",
		ImportantFiles: []excerpt.File{{Path: "a/b.go", Reason: "edited: twice"}}, Decisions: []string{`User: Never say "no".`, "User: Don't: never.", "\x1b[0m"},
	}
	want := `objective: |-
  Mend the login.
  Keep the API.
completed:
  - 'Passed: go test ./...'
  - 'yes'
current_state: Two tests fail
important_files:
  - path: a/b.go
    reason: 'edited: twice'
failed_attempts: []
decisions:
  - 'User: Never say "no".'
  - |-
    User: Don't: never.
  - "\u001B[0m"
running_processes: []
next_steps: []
`
	if d := cmp.Diff(want, c.YAML()); d != "" {
		t.Error(d)
	}
}

const goodYAML = `objective: Mend it
completed: [one, 2]
current_state: ""
important_files:
- path: a.go
  reason: edited
failed_attempts:
decisions: []
running_processes: []
next_steps:
  - test
`

// TestParseRefuses: what a model wrote wrongly is refused with what is wrong and where.
// covers: X-04 part
func TestParseRefuses(t *testing.T) {
	if _, err := excerpt.Parse([]byte("```yaml\n" + goodYAML + "```\n")); err != nil {
		t.Error(err)
	}
	c, err := excerpt.Parse([]byte(goodYAML))
	if err != nil || c.ImportantFiles[0] != (excerpt.File{Path: "a.go", Reason: "edited"}) || c.Completed[1] != "2" || c.FailedAttempts != nil {
		t.Errorf("%+v, %v", c, err)
	}
	for _, r := range []struct{ old, new, want string }{
		{"decisions: []\n", "", "the section decisions is missing"},
		{"decisions: []", "choices: []", `line 8: "choices" is no section`},
		{"decisions: []", "next_steps: []", "line 10: next_steps stands there twice"},
		{"decisions: []", "decisions: none", "line 8: decisions is not a list"},
		{"decisions: []", "decisions: [{a: b}]", "line 8: an entry of decisions is not a text"},
		{"decisions: []", "decisions: [&x a, *x]", "line 8: an entry of decisions is not a text"},
		{"objective: Mend it", "objective: [a]", "line 1: objective is not a text"},
		{"objective: Mend it", "objective: ' '", "objective is empty"},
		{"- path: a.go\n  reason: edited", "- a.go", "line 5: an entry of important_files is not a mapping of path and reason"},
		{"  reason: edited", "  why: edited", `line 6: "why" is no part of a file`},
		{"  reason: edited\n", "", "line 5: a file has no path or no reason"},
		{"objective:", "objective: : :", "read YAML"},
		{goodYAML, "", "empty"},
		{goodYAML, "Sure! Here is it.", "no mapping"},
		{goodYAML, "- a", "no mapping"},
		{"next_steps:\n  - test\n", "next_steps: []\n---\nx: y\n", "something follows"},
		{"Mend it", strings.Repeat("x", 70_000), "more than 65536"},
	} {
		text := strings.Replace(goodYAML, r.old, r.new, 1)
		if c, err := excerpt.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: %v, want %s", r.new, err, r.want)
		} else if d := cmp.Diff(excerpt.Checkpoint{}, c); d != "" {
			t.Error(d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodYAML))
	f.Add([]byte("objective: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := excerpt.Parse(data)
		if err != nil {
			return
		}
		again, err := excerpt.Parse([]byte(c.YAML()))
		if len(c.YAML()) > 64<<10 {
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, c.YAML())
		}
		if d := cmp.Diff(wanted(c), wanted(again)); d != "" {
			t.Fatal(d)
		}
	})
}
