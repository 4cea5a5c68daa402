package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"ambit"
	"ambit/journal"
)

// saying is a proxy whose provider says what it is told to.
type saying struct {
	*rig
	next string
}

func newSaying(t *testing.T) *saying {
	s := new(saying)
	s.rig = newRig(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, s.next)
	}, nil)
	return s
}

// ask sends a conversation of user and assistant by turns, and has it answered.
func (s *saying) ask(answer string, said ...string) {
	s.t.Helper()
	var messages []string
	for i, text := range said {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], text))
	}
	s.send("/anthropic/v1/messages", `{"tools":[{"name":"t"}],"messages":[`+strings.Join(messages, ",")+`]}`,
		fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"text","text":%q}],"stop_reason":"end_turn"}`, answer))
}

func (s *saying) send(path, body, answer string) {
	s.t.Helper()
	s.next = answer
	if _, _, err := s.post(path, []byte(body)); err != nil {
		s.t.Fatal(err)
	}
	s.played++
	s.settle(2 * s.played)
}

// find searches the one session that was recorded.
func (s *saying) find(text string, branches ambit.Branches) ambit.Recalled {
	s.t.Helper()
	name := s.only().Session.ID
	d, err := journal.Open("/data", journal.Options{FS: s.mem})
	if err != nil {
		s.t.Fatal(err)
	}
	defer d.Close()
	rec, err := ambit.OpenRecording(s.t.Context(), d, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return rec.Search(s.t.Context(), []byte("key"), ambit.Query{Text: text, Branches: branches})
}

// TestCurrentBranch searches conversations in which somebody went back: what the last request holds is there, and what it
// left behind is not.
//
// covers: A-01 part
// covers: A-07 part
func TestCurrentBranch(t *testing.T) {
	for name, test := range map[string]struct {
		play func(s *saying)
		want string
	}{
		"said again after going back": {func(s *saying) {
			s.ask("A1", "u1")
			s.ask("A2", "u1", "A1", "u2")
			s.ask("A3", "u1", "A1", "u2", "A2", "NEEDLE")
			s.ask("B2", "u1", "A1", "v2")
			s.ask("B3", "u1", "A1", "v2", "B2", "NEEDLE")
			s.ask("B4", "u1", "A1", "v2", "B2", "NEEDLE", "B3", "u5")
		}, "found"},
		"left behind": {func(s *saying) {
			s.ask("A1", "u1")
			s.ask("A2", "u1", "A1", "NEEDLE")
			s.ask("A3", "u1", "A1", "NEEDLE", "A2", "u3")
			s.ask("B2", "u1", "A1", "v2")
		}, "complete-miss"},
		"left behind, and counted before": {func(s *saying) {
			s.ask("A1", "u1")
			s.send("/anthropic/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"u1"},{"role":"assistant","content":"A1"},{"role":"user","content":"NEEDLE"}]}`, `{"input_tokens":3}`)
			s.ask("A2", "u1", "A1", "NEEDLE")
			s.ask("A3", "u1", "A1", "NEEDLE", "A2", "u3")
			s.ask("B2", "u1", "A1", "v2")
		}, "complete-miss"},
		"an answer regenerated twice": {func(s *saying) {
			s.ask("A1", "u1")
			s.ask("NEEDLE", "u1", "A1", "u2")
			s.ask("A3", "u1", "A1", "u2", "NEEDLE", "u3")
			s.ask("B2", "u1", "A1", "u2")
			s.ask("B3", "u1", "A1", "u2", "B2", "u3")
			s.ask("C2", "u1", "A1", "u2")
			s.ask("C3", "u1", "A1", "u2", "C2", "u3")
		}, "complete-miss"},
		"an answer regenerated and taken after all": {func(s *saying) {
			s.ask("A1", "u1")
			s.ask("NEEDLE", "u1", "A1", "u2")
			s.ask("A3", "u1", "A1", "u2", "NEEDLE", "u3")
			s.ask("B2", "u1", "A1", "u2")
			s.ask("A4", "u1", "A1", "u2", "NEEDLE", "v3")
			s.ask("A5", "u1", "A1", "u2", "NEEDLE", "v3", "A4", "u5")
		}, "found"},
		"beside the way, and said again": {func(s *saying) {
			s.ask("A1", "u1")
			s.ask("A2", "u1", "A1", "u2")
			s.ask("A3", "u1", "A1", "u2", "A2", "u3")
			s.ask("B2", "u1", "A1", "NEEDLE")
			s.ask("B3", "u1", "A1", "NEEDLE", "B2", "y")
			s.ask("C3", "u1", "A1", "u2", "A2", "z")
			s.ask("C4", "u1", "A1", "u2", "A2", "z", "C3", "w")
			s.ask("D3", "u1", "A1", "u2", "A2", "q")
			s.ask("D4", "u1", "A1", "u2", "A2", "q", "D3", "NEEDLE")
			s.ask("D5", "u1", "A1", "u2", "A2", "q", "D3", "NEEDLE", "D4", "end")
		}, "found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSaying(t)
			test.play(s)
			if a := s.find("NEEDLE", ambit.CurrentBranch); string(a.Status) != test.want || a.Coverage != "complete" {
				t.Errorf("%+v, want %s", a, test.want)
			}
			if a := s.find("NEEDLE", ambit.AllBranches); a.Status != "found" {
				t.Errorf("all branches: %+v", a)
			}
		})
	}
}

// TestNothingInSilence searches for what stands where nothing is known to stand: it is not declared absent.
//
// covers: A-03 part
func TestNothingInSilence(t *testing.T) {
	const fine = `{"type":"message","role":"assistant","content":[{"type":"text","text":"fine"}],"stop_reason":"end_turn"}`
	for name, test := range map[string]struct{ path, body, answer string }{
		"a block beside an answer that is repeated": {
			"/anthropic/v1/messages",
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"fine"},{"type":"odd","x":"NEEDLE"}]},{"role":"user","content":"b"}]}`, fine,
		},
		"an answer of another shape": {"/anthropic/v1/messages", `{"messages":[{"role":"user","content":"a"}]}`, `{"completion":"NEEDLE"}`},
		"messages that are no list":  {"/openai/v1/chat/completions", `{"messages":{"role":"user","content":"NEEDLE"}}`, `{"choices":[]}`},
		"an input that is one item":  {"/openai/v1/responses", `{"input":{"role":"user","content":"NEEDLE"}}`, `{"id":"r","status":"completed","output":[]}`},
		"a prompt with variables":    {"/openai/v1/responses", `{"prompt":{"id":"p","variables":{"q":"NEEDLE"}}}`, `{"id":"r","status":"completed","output":[]}`},
		"contents that are one text": {"/gemini/v1beta/models/m:generateContent", `{"contents":"NEEDLE"}`, `{"candidates":[]}`},
		"a stream quoted by a tool":  {"/anthropic/v1/messages", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"data: {\"a\":\"data:x;base64,AA\"}\n\ndata: NEEDLE\n"}]}]}`, fine},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSaying(t)
			if strings.HasPrefix(name, "a block") {
				s.ask("fine", "a")
			}
			s.send(test.path, test.body, test.answer)
			if a := s.find("NEEDLE", ambit.CurrentBranch); a.Status == "complete-miss" {
				t.Errorf("%+v", a)
			}
		})
	}
}
