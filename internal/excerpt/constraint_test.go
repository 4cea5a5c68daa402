package excerpt_test

import (
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/internal/excerpt"
)

// forms are sentences that state a constraint, each in a way of its own. %s is a name or a path.
var forms = []string{
	"You must not change %s.", "Never touch %s!", "Always run the tests in %s before you commit.", "Do not rename %s", "Don't add dependencies to %s, ok?",
	"please don’t reformat %s", "Only edit %s.", "Make sure %s still compiles on Go 1.22.", "Keep %s under 300 lines.", "Avoid global state in %s",
	"Prefer composition over inheritance in %s.", "Use tabs in %s (not spaces).", "From now on answer me in English.", "Remember that %s is generated", "Write it without touching %s.",
	"At most two retries in %s.", "We need at least 80 % coverage for %s.", "A review of %s is required before each merge.", "The public API of %s has to stay stable.", "%s is off limits.",
	"Hands off %s.", "Stay away from %s, please.", "No new dependencies, please", "Nothing in %s may be deleted.", "Under no circumstances should %s be published.",
	"I want you to ask me before you push anything.", "Leave %s alone.", "%s must remain backwards compatible", "Refrain from editing %s.", "It is forbidden to write to %s.",
	"Deleting %s is not allowed.", "Ask first if you want to change %s.", "I'd rather have small functions in %s.", "Stick to the standard library in %s.", "Treat %s as read-only.",
	"Limit yourself to %s.", "Every function of %s needs a doc comment.", "Commit messages may not exceed 72 characters.", "Instead of mocks, write fakes for %s.", "No matter what, %s stays as it is.",
	"Whenever you change %s, update the changelog.", "Don't forget to run the linter on %s.", "Do nothing in %s until I say so.", "You should stop using %s", "It is important that %s keeps its format.",
	"Follow the conventions of %s.", "Secrets from %s must never appear in logs.", "Respect the budget of 5 seconds in %s.", "Skip %s.", "Under 100 ms for %s, otherwise it is useless.",
	"All output of %s goes to stderr.", "Comments in British English only.", "We never squash commits in %s.", "The build of %s shall not need the network", "%s cannot be changed.",
	"Neither %s nor its tests are to be modified.", "Restrict the change to %s.", "Ensure that %s is idempotent.", "Be careful with %s.", "We target Node 18, so no top-level await in %s.",
	"If you touch %s, run make generate.", "Exclude %s from the change.", "Please keep the names in %s intact.", "Get my approval before deleting %s.", "Let %s be.",
	"Niemals %s ändern!", "Bitte verwende nur Tabs in %s.", "Die Datei %s darf nicht gelöscht werden.", "Ändere %s auf keinen Fall.", "Achte darauf, dass %s klein bleibt.", "Keine neuen Abhängigkeiten in %s.",
	"Ne modifie jamais %s.", "Il faut toujours lancer les tests de %s.", "Évitez de toucher à %s.", "N'utilise pas %s.", "Garde %s sans dépendances.",
	"No cambies %s.", "Nunca borres %s.", "Siempre ejecuta las pruebas de %s.", "Usa solo la biblioteca estándar en %s.", "Evita tocar %s.",
	"不要修改 %s。", "必须保持 %s 的接口不变。", "禁止删除 %s", "请始终用中文回答。", "最多重试三次 %s。",
	"%s は変更しないでください。", "必ずテストを実行すること。", "%s だけを編集してください", "外部ライブラリは禁止。",
	"Не меняй %s.", "절대 %s 를 수정하지 마세요.",
}

// names are what a rule is about.
var names = []string{"internal/auth/token.go", "the config", "`db/schema.sql`", "v2.3 of the API", "src/App.tsx", "package.json", "/etc/hosts", "https://example.org/a.b?c=d", "the CI pipeline", "`foo(bar); baz`"}

// noise are lines that state nothing: code, logs, diffs, traces, tables, and prose.
var noise = []string{
	"func (s *Server) handle(w http.ResponseWriter, r *http.Request) {", "\tif err != nil {", "\t\treturn fmt.Errorf(\"read %q: %w\", name, err)", "}", "import { useState } from 'react';", "    self.items = list(items or [])", "const x = await fetch(url, { method: 'POST' });",
	"2026-01-02T10:11:12Z INFO server started port=8080 pid=1234", "[12:00:01] DEBUG cache hit ratio=0.93 key=abc", "ERROR 500 GET /api/v1/users 123ms", "npm ERR! code ELIFECYCLE",
	"    at Object.<anonymous> (/app/index.js:10:15)", "  File \"/app/main.py\", line 12, in <module>", "goroutine 17 [running]:", "\tmain.go:17 +0x1d",
	"| name | size | mode |", "|---|---|---|", "+  value: 12,", "-  value: 13,", "  \"name\": \"left-pad\",", "drwxr-xr-x  2 user user 4096 Jan  1 00:00 bin", "$ go build -o /tmp/x .", "==> 12 passed, 0 skipped in 0.31s",
	"The page shows the list of orders with their totals.", "Yesterday the service answered slowly for a while.", "Here is what I see on my machine.", "It began after the last deployment.", "Customers log in with their mail address.", "",
}

// long are n lines of noise.
func long(r *rand.Rand, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = noise[r.Intn(len(noise))]
	}
	return lines
}

// plant is a rule of a form about a name, as it is written into a message: plain, quoted, in a list, behind other prose.
func plant(r *rand.Rand, n int) (rule, line string) {
	rule = forms[n%len(forms)]
	rule = strings.Replace(rule, "%s", names[r.Intn(len(names))], 1)
	line = []string{"%s", "- %s", "3. %s", "> %s", "  * %s", "One more thing. %s", "Hello. %s Thanks!", "**Note:** %s", "PS: %s", "\t%s"}[r.Intn(10)]
	if strings.HasSuffix(line, "Thanks!") && !strings.HasSuffix(rule, ".") {
		line = "%s"
	}
	return rule, strings.Replace(line, "%s", rule, 1)
}

// paraphrases are more forms, one a line.
func paraphrases(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/constraints.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// TestParaphrases: each is found among prose and code.
// covers: P-08 part
func TestParaphrases(t *testing.T) {
	for _, s := range paraphrases(t) {
		text := "The page shows the list.\nfunc f() {\n" + s + "\n}\nIt began after the last deployment."
		if got := excerpt.Constraints(text); !slices.ContainsFunc(got, func(c string) bool { return strings.Contains(c, s) }) {
			t.Errorf("not found: %s", s)
		} else if len(got) > 1 {
			t.Errorf("more found than %s: %q", s, got)
		}
	}
}

// TestEveryFormIsFound: 3,000 messages of 200 lines of noise with three constraints each.
// covers: P-08 part
func TestEveryFormIsFound(t *testing.T) {
	if len(forms) < 60 {
		t.Fatalf("%d forms", len(forms))
	}
	lost := map[string]int{}
	kept, bytes := 0, 0
	for i := range 1000 {
		r := rand.New(rand.NewSource(int64(i)))
		lines := long(r, 200)
		var planted []string
		for k := range 3 {
			rule, line := plant(r, 3*i+k)
			planted = append(planted, rule)
			lines[10+60*k+r.Intn(50)] = line
		}
		text := strings.Join(lines, "\n")
		got := strings.Join(excerpt.Constraints(text), "\n")
		for k, rule := range planted {
			if !strings.Contains(got, rule) {
				lost[forms[(3*i+k)%len(forms)]]++
			}
		}
		kept, bytes = kept+len(got), bytes+len(text)
	}
	for form, n := range lost {
		t.Errorf("%d times not found: %s", n, form)
	}
	if share := float64(kept) / float64(bytes); share > 0.05 {
		t.Errorf("%.1f %% of the noise counts as constraints", 100*share)
	} else {
		t.Logf("%.1f %% of the bytes were taken", 100*share)
	}
}

// TestConstraints are the ways in which texts hold rules.
func TestConstraints(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "Hello there. The page is slow.", nil},
		{"sentences", "Hi. Never push to main, e.g. by git push. Thanks! Use v1.2 of it; not v1.3.", []string{"Never push to main, e.g. by git push.", "Use v1.2 of it; not v1.3."}},
		{"wrapped", "Please look at the following. The generated files must\nnot be edited by hand, as they are\nwritten by a tool. Good luck.", []string{"The generated files must\nnot be edited by hand, as they are\nwritten by a tool."}},
		{"pronoun", "The schema is generated. Don't edit it.", []string{"The schema is generated. Don't edit it."}},
		{"title", "Mend the page.\n\nRules:\n- tabs\n- one class per file\n\nThe page is slow.", []string{"Rules:", "tabs", "one class per file"}},
		{"heading", "# Task\nThe page is slow.\n\n## Ground rules\n\n1. tabs\n2. small functions\n\n# Log\nThe page is slow.", []string{"Ground rules", "tabs", "small functions"}},
		{"leads to a list", "Do not touch these files:\n- a.go\n- b.go\n\nThe page is slow.", []string{"Do not touch these files:\n- a.go\n- b.go"}},
		{"leads to a block", "Never run:\n```\nrm -rf /\n```\nThe page is slow.", []string{"Never run:\n```\nrm -rf /\n```"}},
		{"fence", "```go\n// must hold the lock\nfunc f() { never() }\n```\nThe page is slow.", nil},
		{"rules in a fence", "```\nYou must never push to main.\nx := 1\n```", []string{"You must never push to main."}},
		{"open fence", "```\nx := 1\nAlways use tabs.", []string{"Always use tabs."}},
		{"diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n- You must never do it.\n+ Always do it.\n\nThe page is slow.", nil},
		{"question", "Why does it use two files? Should we only use one?", []string{"Should we only use one?"}},
		{"carriage return", "Use tabs.\r\nThe page is slow.\r\n", []string{"Use tabs."}},
		{"wide", "页面很慢。不要修改接口！谢谢。", []string{"不要修改接口！"}},
	} {
		if got := excerpt.Constraints(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestConstraintsAreVerbatim: whatever the text, they stand in it, in order; a long sentence is whole.
// covers: P-08 part
func TestConstraintsAreVerbatim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "a") + rapid.SampledFrom(forms).Draw(t, "form") + anyText().Draw(t, "b")
		at := 0
		for _, s := range excerpt.Constraints(text) {
			n := strings.Index(text[at:], s)
			if n < 0 || s == "" {
				t.Fatalf("%q does not stand behind %d of %q", s, at, text)
			}
			at += n + len(s)
		}
	})
	sentence := "You must keep " + strings.Repeat("this and ", 200) + "that."
	if got := excerpt.Constraints("Hello. " + sentence + " Bye."); !slices.Equal(got, []string{sentence}) {
		t.Errorf("%q", got)
	}
}

// TestUserText: a long message keeps its beginning, its end and every constraint, says what is left out, and shortening it
// again changes nothing.
// covers: P-08 part
func TestUserText(t *testing.T) {
	for i := range 1000 {
		r := rand.New(rand.NewSource(int64(i)))
		lines := long(r, 100+r.Intn(200))
		var planted []string
		for k := range 1 + r.Intn(6) {
			rule, line := plant(r, 7*i+k)
			planted = append(planted, rule)
			lines[5+15*k+r.Intn(14)] = line
		}
		text := "First line of the request.\n" + strings.Join(lines, "\n") + "\nLast line of it."
		limit := 1000 + r.Intn(2000)
		w := excerpt.Where{Ref: "e3.aaaa"}
		got := excerpt.UserText(text, limit, w)
		if !strings.HasPrefix(got, "First line of the request.\n") || !strings.HasSuffix(got, "\nLast line of it.") || !strings.Contains(got, "recall e3.aaaa") {
			t.Fatalf("%d: %s", i, got)
		}
		for _, rule := range planted {
			if !strings.Contains(got, rule) {
				t.Fatalf("%d: %q is lost in %s", i, rule, got)
			}
		}
		if held := len(strings.Join(excerpt.Constraints(text), "")); len(got) > max(limit, limit/2+2*held+1500) {
			t.Fatalf("%d: %d bytes of %d with a limit of %d and constraints of %d", i, len(got), len(text), limit, held)
		}
		if again := excerpt.UserText(got, limit, w); again != got {
			t.Fatalf("%d: shortened again:\n%s\n%s", i, got, again)
		}
		less := excerpt.UserText(got, limit/2, w)
		for _, rule := range planted {
			if !strings.Contains(less, rule) {
				t.Fatalf("%d: %q is lost in %s", i, rule, less)
			}
		}
		if again := excerpt.UserText(less, limit/2, w); again != less {
			t.Fatalf("%d: shortened again:\n%s\n%s", i, less, again)
		}
	}
}

var markers = regexp.MustCompile(`\n(?:\[Ambit shortened [^\n]*\]\n)?\[… [\d,]+ characters left out …\]\n`)

// TestUserTextLaws: for any text the parts that are kept stand in it in order, and it shortens once.
func TestUserTextLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "a") + "\n" + rapid.SampledFrom(forms).Draw(t, "form") + "\n" + anyText().Draw(t, "b")
		limit := rapid.IntRange(excerpt.MinCut, 2000).Draw(t, "limit")
		w := excerpt.Where{Ref: rapid.SampledFrom([]string{"", "e1.a"}).Draw(t, "ref")}
		got := excerpt.UserText(text, limit, w)
		if len(text) <= limit && got != text {
			t.Fatal("changed without need")
		}
		if again := excerpt.UserText(got, limit, w); again != got {
			t.Fatalf("shortened again:\n%q\n%q", got, again)
		}
		if got == text {
			return
		}
		at := 0
		for _, part := range markers.Split(got, -1) {
			n := strings.Index(text[at:], part)
			if n < 0 {
				t.Fatalf("%q does not stand in %q", part, text[at:])
			}
			at += n + len(part)
		}
		for _, s := range excerpt.Constraints(text) {
			if !strings.Contains(got, s) {
				t.Fatalf("%q is lost in %q", s, got)
			}
		}
	})
}

func BenchmarkConstraints(b *testing.B) {
	text := strings.Join(long(rand.New(rand.NewSource(1)), 20_000), "\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		excerpt.Constraints(text)
	}
}
