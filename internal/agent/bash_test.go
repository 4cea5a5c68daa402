package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"ambit/internal/agent"
)

func TestBash(t *testing.T) {
	t.Setenv("AMBIT_TEST_api_Key", "hidden")
	t.Setenv("AMBIT_TEST_TOKEN", "wanted")
	t.Setenv("AMBIT_TEST_PLAIN", "plain")
	r := work(t, map[string]string{"a": "x\n"}, agent.Options{Env: []string{"AMBIT_TEST_TOKEN"}})
	pwd := r.dir + "\n(exit status 0)\n"
	r.rows([]row{
		{"bash", `{"command":"cat a"}`, "x\n(exit status 0)\n", ""},
		{"bash", `{"command":"true"}`, "(exit status 0)\n", ""},
		{"bash", `{"command":"printf out; printf err >&2; exit 3"}`, "outerr\n", "exit status 3"},
		{"bash", `{"command":"pwd; echo \"$PWD\" >/dev/null"}`, pwd, ""},
		{"bash", `{"command":"echo $PWD"}`, pwd, ""},
		{"bash", `{"command":"cat; read x || echo nothing"}`, "nothing\n(exit status 0)\n", ""},
		{"bash", `{"command":"printf '\\344\\366'"}`, "\uFFFD\n(exit status 0)\n", ""},
		{"bash", `{"command":"kill -9 $$"}`, "", "the command ended by a signal: killed"},
		{"bash", `{"command":"echo \"$AMBIT_TEST_api_Key,$AMBIT_TEST_TOKEN,$AMBIT_TEST_PLAIN\""}`, ",wanted,plain\n(exit status 0)\n", ""},
	})
	if text, err := r.use(t.Context(), "bash", `{"command":"-x"}`); err == nil || !strings.Contains(text, "not found") {
		t.Errorf("-x is not taken for a command: %q, %v", text, err)
	}
}

// TestBashOutput lets commands print more than is returned, in whole lines, in one line, and in no text at all.
func TestBashOutput(t *testing.T) {
	r := work(t, nil, agent.Options{})
	small := work(t, nil, agent.Options{Output: 1024})
	for _, w := range []struct {
		r          *rig
		command    string
		head, tail string
		all, most  int
	}{
		{r, "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); echo $i; done", "1\n2\n", "39999\n40000\n(exit status 0)\n", 228894, 100_000},
		{r, "head -c 1000000 /dev/zero | tr '\\0' x; echo end", "xxx", "xxxend\n(exit status 0)\n", 1000004, 100_000},
		{r, "head -c 1000000 /dev/zero | tr '\\0' '\\344'", "\uFFFD", "\n(exit status 0)\n", 0, 100_000},
		{r, "yes ä | head -c 90000 | tr '\\n' '\\344'", "ä\uFFFDä", "\uFFFDä\uFFFD\n(exit status 0)\n", 0, 100_000},
		{small, "yes | head -n 1000", "y\ny\n", "y\ny\n(exit status 0)\n", 2000, 1024},
	} {
		text, err := w.r.use(t.Context(), "bash", object(t, map[string]any{"command": w.command}))
		if err != nil || len(text) > w.most || !strings.HasPrefix(text, w.head) || !strings.HasSuffix(text, w.tail) {
			t.Errorf("%s: %d bytes, %q … %q, %v", w.command, len(text), text[:min(40, len(text))], text[max(0, len(text)-40):], err)
			continue
		}
		head, rest, cut := strings.Cut(text, "\n[")
		if w.all == 0 {
			continue
		}
		var dropped int
		if _, err := fmt.Sscanf(rest, "%d bytes are left out here]\n", &dropped); !cut || err != nil {
			t.Errorf("%s: no mark: %v", w.command, err)
			continue
		}
		_, tail, _ := strings.Cut(rest, "]\n")
		shown := len(head) + 1 + len(strings.TrimSuffix(tail, "(exit status 0)\n"))
		if strings.Contains(w.command, "tr ") {
			shown-- // the line that the mark breaks
		}
		if shown+dropped != w.all || shown < w.most/3 {
			t.Errorf("%s: %d shown and %d left out, of %d", w.command, shown, dropped, w.all)
		}
	}
}
