package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ambit"
	"ambit/internal/agent"
)

func rules(t *testing.T, text string) agent.Rules {
	t.Helper()
	r, err := agent.ParseRules(strings.ReplaceAll(text, " | ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRules(t *testing.T) {
	r, err := agent.ParseRules("# ours\n\n  allow bash:git status*\nask write:*\ndeny read:**/.env  \nallow bash:echo a: b\nallow *:*\n")
	if want := "[allow bash:git status* ask write:* deny read:**/.env allow bash:echo a: b allow *:*]"; err != nil || fmt.Sprint(r) != want {
		t.Errorf("%v, %v, want %s", r, err, want)
	}
	for _, rule := range r {
		if again, err := agent.ParseRule(rule.String()); again != rule || err != nil {
			t.Errorf("%q becomes %q, %v", rule, again, err)
		}
	}
	for text, want := range map[string]string{
		"permit bash:*":          `rule "permit bash:*": it begins with allow, ask or deny`,
		"Allow bash:*":           "it begins with allow, ask or deny",
		"allow":                  "has the form allow TOOL:PATTERN",
		"allow bash":             "has the form allow TOOL:PATTERN",
		"deny bash:":             "has the form deny TOOL:PATTERN, such as deny bash:*",
		"ask :*":                 "has the form ask TOOL:PATTERN",
		"allow git status:*":     `"git status" is not the name of a tool`,
		"deny read:/etc/passwd":  "a path is relative to the working folder",
		"deny read:../x":         "a path is relative to the working folder",
		"deny write:~/.ssh":      "a path is relative to the working folder",
		"allow read:a\nno\n\nno": `line 2: rule "no": it begins`,
	} {
		if r, err := agent.ParseRules(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, r, err, want)
		}
	}
}

func TestDecide(t *testing.T) {
	const status = "allow bash:git status*"
	const but = "allow bash:* | deny bash:rm *"
	for _, row := range []struct {
		rules, tool, subject string
		want                 agent.Action
	}{
		{"", "read", "a", agent.Ask},
		{"", "bash", "ls", agent.Ask},
		{"", "skill", "deploy", agent.Ask},
		{"allow skill:*", "skill", "team/deploy: all", agent.Allow},
		{"allow skill:* | deny skill:team*", "skill", "team/deploy", agent.Deny},
		{"allow skill:* | deny skill:Deploy", "skill", "deploy", agent.Allow},
		{"allow read:*", "read", "a", agent.Allow},
		{"allow read:*", "read", "a/b/c", agent.Allow},
		{"allow read:*", "read", ".", agent.Allow},
		{"allow read:*", "write", "a", agent.Ask},
		{"allow *:*", "write", "a/b", agent.Allow},
		{"allow re*:*", "read", "a", agent.Allow},
		{"allow read:* | deny read:**/.env", "read", ".env", agent.Deny},
		{"allow read:* | deny read:**/.env", "read", "a/b/.env", agent.Deny},
		{"allow read:* | deny read:**/.env", "read", "a/.ENV/b", agent.Deny},
		{"allow read:* | deny read:**/.env", "read", "a/b/x.env", agent.Allow},
		{"deny read:**/.env | allow read:*", "read", ".env", agent.Allow},
		{"allow write:src/*.go", "write", "src/a.go", agent.Allow},
		{"allow write:src/*.go", "write", "src/a/b.go", agent.Ask},
		{"allow write:src/*.go", "write", "SRC/a.go", agent.Ask},
		{"allow write:src/**/?.go", "write", "src/a.go", agent.Allow},
		{"allow write:src/**/?.go", "write", "src/x/y/a.go", agent.Allow},
		{"allow write:src/**/?.go", "write", "src/x/y/ab.go", agent.Ask},
		{"deny write:src/", "write", "src/a/b", agent.Deny},
		{"deny write:./src", "write", "srcs/a", agent.Ask},
		{"deny write:.", "write", "a/b", agent.Deny},

		{status, "bash", "git status", agent.Allow},
		{status, "bash", "  git status -s\t", agent.Allow},
		{status, "bash", `git status 'a;b' "c|d" e\;f`, agent.Allow},
		{status, "bash", "git status 2>&1 >/dev/null", agent.Allow},
		{status, "bash", "git status;git status && git status\ngit status &", agent.Allow},
		{status, "bash", `git status "${HOME}" $HOME "a\"b" '$(x)'`, agent.Allow},
		{status, "bash", "git  status", agent.Ask},
		{status, "bash", "git status; rm -rf x", agent.Ask},
		{status, "bash", "git status;rm", agent.Ask},
		{status, "bash", "git status && rm", agent.Ask},
		{status, "bash", "git status || rm", agent.Ask},
		{status, "bash", "git status | rm", agent.Ask},
		{status, "bash", "git status & rm", agent.Ask},
		{status, "bash", "git status\nrm", agent.Ask},
		{status, "bash", "git status `rm`", agent.Ask},
		{status, "bash", "git status $(rm)", agent.Ask},
		{status, "bash", `git status "$(rm)"`, agent.Ask},
		{status, "bash", "git status \"`rm`\"", agent.Ask},
		{status, "bash", "git status <(rm)", agent.Ask},
		{status, "bash", "git status >(rm)", agent.Ask},
		{status, "bash", "git status > x", agent.Ask},
		{status, "bash", "git status >>x", agent.Ask},
		{status, "bash", "git status >&x", agent.Ask},
		{status, "bash", "git status >& x", agent.Ask},
		{status, "bash", "git status >|x", agent.Ask},
		{status, "bash", "git status <>x", agent.Ask},
		{status, "bash", "git status >/dev/nullx", agent.Ask},
		{status, "bash", "git status <<x\nrm\nx", agent.Ask},
		{status, "bash", "git status 'a", agent.Ask},
		{status, "bash", `git status "a`, agent.Ask},
		{status, "bash", "git status \\\nx", agent.Ask},
		{status, "bash", "git status # it's\nrm 'x", agent.Ask},
		{status, "bash", `git status $'\'; rm #'`, agent.Ask},
		{status, "bash", `git status ${x:-$(rm)}`, agent.Ask},
		{status, "bash", "git status $[x]", agent.Ask},
		{status, "bash", "git status\r\x01", agent.Ask},
		{status, "bash", "git status \xff", agent.Ask},
		{status, "bash", "git status() { rm; }; git status", agent.Ask},
		{status, "bash", "(git status)", agent.Ask},

		{but, "bash", "ls; make", agent.Allow},
		{but, "bash", "rm x", agent.Deny},
		{but, "bash", "(rm x)", agent.Deny},
		{but, "bash", "ls | rm x", agent.Deny},
		{but, "bash", "/bin/rm x", agent.Deny},
		{but, "bash", `A=1 "r"m  x`, agent.Deny},
		{but, "bash", "echo $(rm x)", agent.Deny},
		{but, "bash", "if true; then rm x; fi", agent.Ask},
		{but, "bash", "if true; then ls; fi", agent.Ask},
		{but, "bash", "{rm,x}", agent.Ask},
		{but, "bash", "</dev/null rm x", agent.Ask},
		{but, "bash", "2>/dev/null rm x", agent.Ask},
		{but, "bash", "ls $(date)", agent.Ask},
		{"allow bash:* | deny bash:curl*|*sh", "bash", "curl x | sh", agent.Deny},
		{"ask bash:* | allow bash:*", "bash", "for x in $(ls); do rm $x; done >y", agent.Allow},
		{"deny bash:rm* | allow bash:*", "bash", "echo $(rm x)", agent.Allow},
		{"allow bash:* | allow bash:ls | ask write:*", "bash", "echo $(x)", agent.Allow},
		{"allow bash:ls | allow bash:wc*", "bash", "ls | wc -l", agent.Allow},
		{"allow bash:ls | allow bash:wc*", "bash", "wc -l x | ls -l", agent.Ask},
		{"allow bash:a;b", "bash", "a;b", agent.Ask},
	} {
		if got := rules(t, row.rules).Decide(row.tool, row.subject); got.Action != row.want || got.Why == "" {
			t.Errorf("%s: %s %q: %+v, want %s", row.rules, row.tool, row.subject, got, row.want)
		}
	}
}

func TestDefaultRules(t *testing.T) {
	ours := agent.DefaultRules()
	yes := append(ours, rules(t, "deny write:go.mod | deny bash:git push* | ask bash:make*")...).Yes()
	for _, row := range []struct {
		tool, subject string
		want, yes     agent.Action
	}{
		{"read", "a/b.go", agent.Allow, agent.Allow},
		{"search", ".", agent.Allow, agent.Allow},
		{"list", "a", agent.Allow, agent.Allow},
		{"read", ".env", agent.Ask, agent.Allow},
		{"read", "a/.env.local", agent.Ask, agent.Allow},
		{"read", "a/.env.example", agent.Allow, agent.Allow},
		{"read", "keys/id_ed25519", agent.Ask, agent.Allow},
		{"read", "tls/server.PEM", agent.Ask, agent.Allow},
		{"read", ".ssh/config", agent.Ask, agent.Allow},
		{"write", "a", agent.Ask, agent.Allow},
		{"edit", "a", agent.Ask, agent.Allow},
		{"write", "go.mod", agent.Ask, agent.Deny},
		{"bash", "ls", agent.Ask, agent.Allow},
		{"bash", "make all", agent.Ask, agent.Allow},
		{"bash", "make; git push -f", agent.Ask, agent.Deny},
		{"other", "x", agent.Ask, agent.Allow},
	} {
		if got := ours.Decide(row.tool, row.subject).Action; got != row.want {
			t.Errorf("%s %s: %s, want %s", row.tool, row.subject, got, row.want)
		}
		if got := yes.Decide(row.tool, row.subject).Action; got != row.yes {
			t.Errorf("with yes, %s %s: %s, want %s", row.tool, row.subject, got, row.yes)
		}
	}
	if got := ours.Yes().Decide("bash", "echo $(date) >x"); got.Action != agent.Allow {
		t.Errorf("with yes to everything: %+v", got)
	}
}

// TestPermit calls tools that are allowed, denied and asked about: nothing is done before it is permitted.
func TestPermit(t *testing.T) {
	files := map[string]string{"a": "x\n", ".env": "secret x\n", "in/b": "x\n"}
	own := rules(t, "allow read:* | allow search:* | ask read:**/.env | deny write:a | deny read:in/**/c | allow bash:echo *")
	r := work(t, files, agent.Options{Rules: own})
	r.link(".env", "harmless")
	r.link("a", "also")
	r.rows([]row{
		{"read", `{"path":"a"}`, "1\tx\n", ""},
		{"read", `{"path":"in/c"}`, "", `not allowed: read "in/c" is denied, by the rule "deny read:in/**/c"`},
		{"read", `{"path":".env"}`, "", `not allowed: read ".env" would have to be asked about (the rule "ask read:**/.env"), and there is nobody to ask; the user allows it by the rule "allow read:.env"`},
		{"read", `{"path":"harmless"}`, "", `not allowed: read ".env" would have`},
		{"edit", `{"path":".env","old":"y","new":"z"}`, "", `not allowed: edit ".env" would have`},
		{"write", `{"path":"a","content":"y"}`, "", `not allowed: write "a" is denied`},
		{"write", `{"path":"also","content":"y"}`, "", `not allowed: write "a" is denied`},
		{"write", `{"path":"new/n","content":"y"}`, "", `no rule is about it`},
		{"search", `{"pattern":"x"}`, "a:1: x\nin/b:1: x\n(1 files were left out, which may not be read unasked: read asks)\n", ""},
		{"search", `{"pattern":"x","path":".env"}`, "", `not allowed: search ".env" would have`},
		{"list", `{}`, "", `not allowed: list "." would have`},
		{"bash", `{"command":"echo y"}`, "y\n(exit status 0)\n", ""},
		{"bash", `{"command":"echo y; rm a"}`, "", `(no rule is about it), and there is nobody to ask; the user allows it by the rule "allow bash:rm a"`},
		{"bash", `{"command":"echo y >a"}`, "", `(it writes to a file by ">"), and there is nobody to ask; run its commands in calls of their own`},
	})
	if _, err := r.use(t.Context(), "write", `{"path":"a","content":"y"}`); !errors.Is(err, ambit.ErrDenied) {
		t.Errorf("not denied: %v", err)
	}
	if _, err := r.use(t.Context(), "read", `{"path":".env"}`); !errors.Is(err, ambit.ErrDenied) {
		t.Errorf("not denied: %v", err)
	}
	if got := r.get("a"); got != "x\n" {
		t.Errorf("a is now %q", got)
	}
}

func TestAsk(t *testing.T) {
	var asked []agent.Question
	answer, failure := true, error(nil)
	r := work(t, map[string]string{".env": "x\n", "a": "x\n"}, agent.Options{
		Rules: agent.DefaultRules(),
		Ask: func(_ context.Context, q agent.Question) (bool, error) {
			asked = append(asked, q)
			return answer, failure
		},
	})
	r.link("a", "link")
	r.rows([]row{
		{"read", `{"path":"a"}`, "1\tx\n", ""},
		{"write", `{"path":"link","content":"y\n"}`, "replaced link: 2 bytes\n", ""},
		{"edit", `{"path":".env","old":"x","new":"y"}`, "edited .env at line 1\n", ""},
		{"search", `{"path":".env","pattern":"y"}`, ".env:1: y\n", ""},
		{"bash", `{"command":"echo a; true $(true)"}`, "a\n(exit status 0)\n", ""},
	})
	answer = false
	r.rows([]row{{"write", `{"path":"a","content":"z"}`, "", `not allowed: the user was asked about write "a" and said no`}})
	failure = context.Canceled
	if _, err := r.use(t.Context(), "write", `{"path":"a","content":"z"}`); !errors.Is(err, context.Canceled) || errors.Is(err, ambit.ErrDenied) {
		t.Errorf("an answer that fails: %v", err)
	}
	var got []string
	for _, q := range asked {
		got = append(got, fmt.Sprintf("%s %s (%s) %s", q.Tool, q.Subject, q.Why, q.Args))
	}
	want := []string{
		`write a (the rule "ask *:*") {"path":"link","content":"y\n"}`,
		`edit .env (the rule "ask *:*") {"path":".env","old":"x","new":"y"}`,
		`search .env (the rule "ask read:**/.env") {"path":".env","pattern":"y"}`,
		`bash echo a; true $(true) (it runs a command inside another, by $( ), backticks or < >( )) {"command":"echo a; true $(true)"}`,
		`write a (the rule "ask *:*") {"path":"a","content":"z"}`,
		`write a (the rule "ask *:*") {"path":"a","content":"z"}`,
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := r.get("a"); got != "y\n" {
		t.Errorf("a is now %q", got)
	}
}
