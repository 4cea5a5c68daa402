package agent_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ambit"
	"ambit/internal/agent"
	"ambit/source"
	"ambit/source/host"
)

// skilled is a rig whose project and whose user have skills.
func skilled(t *testing.T, o agent.Options, files map[string]string) *rig {
	t.Helper()
	r := work(t, files, agent.Options{})
	o.Dir, o.Skills = r.dir, source.NewSkills(source.SkillOptions{
		Files: host.Files(), Folders: []string{filepath.Join(r.dir, ".ambit/skills"), filepath.Join(r.dir, "../own")}, Tool: agent.SkillTool,
	})
	var err error
	if r.tools, err = agent.Tools(o); err != nil {
		t.Fatal(err)
	}
	return r
}

func skillFile(description, body string) string {
	return "---\ndescription: " + description + "\n---\n" + body
}

// The tool shows the text of the skills that are listed, wherever they stand, and of nothing else.
func TestSkill(t *testing.T) {
	const body = "Run make release.\n"
	r := skilled(t, agent.Options{}, map[string]string{
		".ambit/skills/release/SKILL.md": skillFile("How to bring it out.", body),
		".ambit/skills/draft/SKILL.md":   "no skill yet",
		"../own/review/SKILL.md":         skillFile("How to read it.", "Read it twice."),
		"../own/release/SKILL.md":        skillFile("not this one", "no"),
		"release/SKILL.md":               skillFile("nor this", "no"),
	})
	own := filepath.Join(filepath.Dir(r.dir), "own")
	r.rows([]row{
		{"skill", `{"name":"release"}`, skillFile("How to bring it out.", body) + "(what it names beside it stands in " + r.dir + "/.ambit/skills/release)\n", ""},
		{"skill", `{"name":"review"}`, skillFile("How to read it.", "Read it twice.\n") + "(what it names beside it stands in " + own + "/review)\n", ""},
		{"skill", `{"name":"draft"}`, "", `skill: there is no skill "draft": there are release, review`},
		{"skill", `{"name":"../release"}`, "", `skill: there is no skill "../release": there are release, review`},
		{"skill", `{"name":"Release"}`, "", `skill: there is no skill "Release"`},
		{"skill", `{"name":""}`, "", `skill: the argument "name" is empty`},
		{"skill", `{}`, "", `skill: the argument "name" is missing`},
	})
	r.put(".ambit/skills/late/SKILL.md", skillFile("Came later.", ""))
	if text, err := r.use(t.Context(), "skill", `{"name":"late"}`); err != nil || !strings.HasPrefix(text, skillFile("Came later.", "")) {
		t.Errorf("one that came later: %q, %v", text, err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if text, err := r.use(ctx, "skill", `{"name":"late"}`); text != "" || !errors.Is(err, cause) {
		t.Errorf("when its context has ended: %q, %v", text, err)
	}
}

// A skill is shown as far as a result may go, and says so.
func TestSkillThatIsLong(t *testing.T) {
	long := skillFile("Long.", strings.Repeat("ü", 40<<10))
	for output, most := range map[int]int{0: 64 << 10, 2000: 2000} {
		r := skilled(t, agent.Options{Output: output}, map[string]string{".ambit/skills/long/SKILL.md": long})
		text, err := r.use(t.Context(), "skill", `{"name":"long"}`)
		shown, rest, _ := strings.Cut(text, "\n(this is cut: ")
		if want := fmt.Sprintf("the file has %d bytes)\n(what it names beside it stands in %s/.ambit/skills/long)\n", len(long), r.dir); err != nil || rest != want {
			t.Errorf("%q, %v, want %q", rest, err, want)
		}
		if len(text) > most || len(shown) < most-512 || !strings.HasPrefix(long, shown) {
			t.Errorf("%d bytes of %d, of which %d may be, are shown", len(shown), len(long), most)
		}
	}
}

// Rules say which skills may be shown. What may not be read is not shown as a skill, either.
func TestSkillRules(t *testing.T) {
	files := map[string]string{
		".ambit/skills/release/SKILL.md": skillFile("How to bring it out.", ""), ".ambit/skills/deploy/prod/SKILL.md": skillFile("no skill", ""),
		"../own/deploy/SKILL.md": skillFile("How to deploy.", ""), "../own/deploy-all/SKILL.md": skillFile("How to deploy all.", ""),
	}
	for _, x := range []struct {
		rules   string
		allowed string // of the skills, in this order
		denied  string // a part of the last refusal
	}{
		{"", "release deploy deploy-all", ""},
		{"deny skill:deploy*", "release", `not allowed: skill "deploy-all" is denied, by the rule "deny skill:deploy*"`},
		{"deny skill:* | allow skill:deploy", "deploy", `skill "deploy-all" is denied, by the rule "deny skill:*"`},
		{"ask skill:release", "deploy deploy-all", `skill "release" would have to be asked about`},
		{"deny read:.ambit/**", "deploy deploy-all", `read ".ambit/skills/release/SKILL.md" is denied`},
		{"ask read:**/SKILL.md", "deploy deploy-all", `read ".ambit/skills/release/SKILL.md" would have to be asked about`},
	} {
		r := skilled(t, agent.Options{Rules: append(agent.DefaultRules(), rules(t, x.rules)...)}, files)
		var allowed []string
		last := ""
		for _, name := range []string{"release", "deploy", "deploy-all"} {
			text, err := r.use(t.Context(), "skill", object(t, map[string]any{"name": name}))
			switch {
			case err == nil && text != "":
				allowed = append(allowed, name)
			case !errors.Is(err, ambit.ErrDenied) || text != "":
				t.Errorf("%s: %q, %v", x.rules, text, err)
			default:
				last = err.Error()
			}
		}
		if got := strings.Join(allowed, " "); got != x.allowed || !strings.Contains(last, x.denied) {
			t.Errorf("%s: %s are shown, want %s; the last refusal is %q, want %q", x.rules, got, x.allowed, last, x.denied)
		}
	}
}

// TestNever: a tool that no rule lets be used need not be there.
func TestNever(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   false,
		"deny skill:*":                       true,
		"deny *:*":                           true,
		"deny sk*:**":                        true,
		"deny skill:deploy":                  false,
		"deny skill:* | allow skill:deploy":  false,
		"allow skill:deploy | deny skill:*":  true,
		"deny skill:* | ask skill:deploy":    false,
		"deny skill:* | deny skill:deploy":   true,
		"deny skill:* | allow bash:go test*": true,
		"ask skill:*":                        false,
	} {
		if got := append(agent.DefaultRules(), rules(t, text)...).Never(agent.SkillTool); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
