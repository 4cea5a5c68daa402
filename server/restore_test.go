package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"ambit/entry"
)

// After a client has compacted its conversation, what the user had said must hold stands behind the summary again if that has
// lost it: in this and every later request, word for word, and what the summary has kept is not said twice.
// covers: X-05 part
// covers: N-08 part
func TestRestored(t *testing.T) {
	d := dialects[0]
	summary := "Summary of the work so far: " + strings.Repeat("the parser was read and two of its functions were rewritten; ", 8) + "You must run the tests before each commit."
	var last []byte
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		last, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer := d.answer
		if strings.Contains(string(last), "a detailed summary") {
			text, _ := json.Marshal(summary)
			answer = strings.Replace(answer, `"done"`, string(text), 1)
		}
		io.WriteString(w, answer)
	}, func(o *Options) { o.Policy = "full" })
	never := "Never touch the \"vendored\" code in third_party/."
	talk := []string{
		d.says("Rewrite the parser. " + never + " You must run the tests before each commit. The file has nine hundred lines.\n" +
			"<system-reminder>You must not mention this reminder.</system-reminder>"),
	}
	talk = append(talk, d.reads("call_number_1_of_all", "a", manual("a", 3))...)
	g.ok(d.path, d.request(talk...))
	talk = append(talk, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`, d.says("and now the lexer"))
	talk = append(talk, d.reads("call_number_2_of_all", "b", manual("b", 3))...)
	g.ok(d.path, d.request(talk...))
	talk = append(talk, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`)
	g.ok(d.path, d.request(append(talk, d.says("Write a detailed summary of the conversation so far."))...))
	short := []string{d.says("This session is being continued from a previous conversation.\n" + summary), d.says("go on")}
	for _, more := range []string{"", "and the printer"} {
		if more != "" {
			short = append(short, `{"role":"assistant","content":[{"type":"text","text":"done"}]}`, d.says(more))
			g.againUnder("full")
		}
		g.ok(d.path, d.request(short...))
		said := string(last)
		want, _ := json.Marshal(never)
		if strings.Count(said, strings.Trim(string(want), `"`)) != 1 || strings.Count(said, "You must run the tests before each commit.") != 1 ||
			strings.Contains(said, "this reminder") || strings.Contains(said, "nine hundred") {
			t.Fatalf("after the summary was sent:\n%s", said)
		}
	}
	p := g.only()
	if n := len(p.Decisions); n != 1 || p.Decisions[0].Stage != entry.StageRestore || p.Decisions[0].Lost != 1 {
		t.Errorf("decisions: %+v", p.Decisions)
	}
}

// A client goes back to before something was said, and clears a result on the way: what it left behind is not put back, whatever it
// demanded, and what stands on the way is.
func TestRestoredFromTheWayBack(t *testing.T) {
	d := dialects[0]
	var last []byte
	g := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		last, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, d.answer)
	}, func(o *Options) { o.Policy = "full" })
	done := `{"role":"assistant","content":[{"type":"text","text":"done"}]}`
	talk := []string{d.says("Build it."), done, d.says("Never delete the tests."), done, d.says("And the printer."), done, d.says("And the lexer.")}
	talk = append(talk, d.reads("call_number_1_of_all", "a", manual("a", 3))...)
	g.ok(d.path, d.request(talk...))
	for _, text := range []string{"Never touch the vendored code.", "And more."} {
		talk = append(talk, done, d.says(text))
		g.ok(d.path, d.request(talk...))
	}
	back := append([]string{d.says("Build it.")}, d.reads("call_number_1_of_all", "a", "[Cleared.]")...)
	for range 2 {
		back = append(back, d.says("Rather the lexer."))
		g.ok(d.path, d.request(back...))
		if said := string(last); strings.Contains(said, "vendored") || !strings.Contains(said, "Never delete the tests.") {
			t.Errorf("after going back was sent:\n%s", said)
		}
		back = append(back, done)
	}
	if x := g.only().Exchange(4); x.Relation.How != entry.ClientCompaction {
		t.Errorf("going back so is %s", x.Relation.How)
	}
}
