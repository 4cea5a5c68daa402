package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit"
	"ambit/journal"
)

// TestEditedShown: a request that was edited is marked in the list, the boundary stands at it in both logs, and the finding of
// the session is listed and read.
//
// covers: X-11 part
func TestEditedShown(t *testing.T) {
	dir := t.TempDir()
	editedHome(t, dir)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"request", "i-edited", "--list"}, []string{" SENT ", "  155  "}},
		{[]string{"log", "i-edited"}, []string{"(context.pruned, ~8 tokens to ~5)", "beside the conversation", "finding n1 by agent, unverified, rests on e4: it leaks"}},
		{[]string{"log", "i-edited", "--full"}, []string{"finding n1 by agent, unverified, rests on e4:\n           it leaks\n"}},
		{[]string{"log", "i-edited", "--tree"}, []string{"context.pruned, ~8 tokens to ~5"}},
		{[]string{"log", "i-edited", "--entries"}, []string{"n1 finding by agent, unverified, rests on e4, 8 bytes: it leaks"}},
		{[]string{"context", "i-edited"}, []string{" findings: 1, unverified", "  n1   e8     agent: it leaks"}},
		{[]string{"context", "i-edited", "--json"}, []string{`"notes":[{"id":"n1","ref":"e8",`}},
		{[]string{"read", "i-edited", "e8"}, []string{"it leaks\n"}},
		{[]string{"read", "i-edited", "e8", "--json"}, []string{`"status":"found","coverage":"complete"`, `"ref":"e8"`, `"field":"/text"`}},
	} {
		out, said := call(t, dir, 0, c.args...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("ambit %q does not print %q:\n%s%s", c.args, want, out, said)
			}
		}
	}
	for ref, want := range map[string]string{
		"e5": "e5 is a decision about what is sent, context.pruned, and no text", "e6": "e6 is an edit, 2 changes to what is sent, and no text", "e7": "e7 says what was sent for request 1",
	} {
		for _, args := range [][]string{{"read", "i-edited", ref}, {"read", "i-edited", ref, "--to", filepath.Join(dir, "none")}} {
			if _, said := call(t, dir, 1, args...); !strings.Contains(said, want) {
				t.Errorf("ambit %q: %s", args, said)
			}
		}
	}
	if _, said := call(t, dir, 1, "read", "i-edited", "e6"); !strings.Contains(said, "view i-edited shows what was sent, and with --checkpoint") {
		t.Error(said)
	}
}

// TestReadSuffix: a ref as a model is shown it names its session by itself.
//
// covers: A-01 part
func TestReadSuffix(t *testing.T) {
	dir := t.TempDir()
	fullHome := callsRecording(t)
	taken, _ := call(t, dir, 0, "import", fullHome, "--json")
	editedHome(t, dir)
	_, s, _ := strings.Cut(taken, `"session":"`)
	s, _, _ = strings.Cut(s, `"`)
	key, err := secret(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := journal.Open(dir, journal.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rec, err := ambit.OpenRecording(t.Context(), d, "i-edited")
	if err != nil {
		t.Fatal(err)
	}
	ref := rec.Handle(key, 8)
	if out, said := call(t, dir, 0, "read", ref); out != "it leaks\n" {
		t.Error(out, said)
	}
	file := filepath.Join(t.TempDir(), "text")
	call(t, dir, 0, "read", ref, "--to", file)
	if text, err := os.ReadFile(file); err != nil || string(text) != "it leaks" {
		t.Errorf("%q %v", text, err)
	}
	if _, said := call(t, dir, 1, "read", "e8.aaaaaaaa"); !strings.Contains(said, `no session here has the ref "e8.aaaaaaaa"`) {
		t.Error(said)
	}
	if _, said := call(t, dir, 1, "read", s, ref); !strings.Contains(said, "has the ref") {
		t.Error(said)
	}
	if _, said := call(t, dir, 2, "read", "e8"); !strings.Contains(said, "a REF alone needs the suffix") {
		t.Error(said)
	}
}

// TestRequestFlags: what is wrong is said of the flag that is.
func TestRequestFlags(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"--attempt counts from 1; 0 is none":                                          {"--attempt", "0"},
		"--client prints what the client sent and --response what came of it":         {"--client", "--response"},
		"--client prints what the client sent, once, and --attempt what was sent for": {"--client", "--attempt", "1"},
	} {
		if _, said := call(t, dir, 2, append([]string{"request", "s", "1"}, args...)...); !strings.Contains(said, want) {
			t.Errorf("%q: %s", args, said)
		}
	}
}

// TestWrap: a line is printed whole, in lines of a page, whatever its words are.
func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 150)
	for text, want := range map[string]string{
		" short":                         " short\n",
		strings.Repeat("a word ", 20):    strings.Repeat("a word ", 14) + "a\n   word " + strings.TrimSpace(strings.Repeat("a word ", 5)) + "\n",
		long + " end":                    long + "\n   end\n",
		"a " + long:                      "a\n   " + long + "\n",
		"a\x1b" + strings.Repeat("é", 9): "a?" + strings.Repeat("é", 9) + "\n",
	} {
		e, printed, _ := testEnv(nil)
		if e.wrap("   ", text); printed.String() != want {
			t.Errorf("%q: %q, want %q", text, printed, want)
		}
	}
}
