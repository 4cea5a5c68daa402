package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/transcript"
)

// figures are what is told of a recording.
type figures struct {
	turns, threads           int // answered requests, and conversations
	calls, results, unpaired int // and results of no call that is told
	counted                  int // answers with a usage
	input, read, write, out  int64
	compactions              int
}

func figuresOf(r *transcript.Recording) figures {
	g := figures{turns: r.Turns}
	made, held := make(map[string]int), make(map[string]int)
	threads := make(map[string]bool)
	for _, f := range r.Facts {
		switch f := f.(type) {
		case *entry.Relation:
			threads[f.Thread] = true
			if f.How == entry.ClientCompaction {
				g.compactions++
			}
		case *entry.Unit:
			g.calls, g.results = g.calls+len(f.Calls), g.results+len(f.Results)
			for _, id := range f.Calls {
				made[id]++
			}
			for _, id := range f.Results {
				held[id]++
			}
		case *entry.Response:
			if u := f.Usage; u != nil {
				g.counted++
				g.input, g.read, g.write, g.out = g.input+u.Input, g.read+u.CacheRead, g.write+u.CacheWrite, g.out+u.Output
			}
		}
	}
	for id, n := range held {
		if made[id] == 0 {
			g.unpaired += n
		}
	}
	g.threads = len(threads)
	return g
}

// TestFiguresOfAgents compares what is read of the recordings of other agents with the figures of the manifest, which
// another program found. Where they differ, the remark says why.
// covers: I-07 part
func TestFiguresOfAgents(t *testing.T) {
	dir := shared(t)
	for name, want := range map[string]figures{
		// The manifest: 11 calls, one of which counts nothing, as it is the rest of the one before; out 717 without thoughts.
		"gemini-cli/cli--f7633853*": {turns: 10, threads: 1, calls: 9, results: 9, counted: 10, input: 17_521 + 113_854, read: 113_854, out: 717 + 1_095},
		"gemini-cli/cli--faff42ab*": {turns: 4, threads: 1, calls: 2, results: 2, counted: 4, input: 13_635 + 35_330, read: 35_330, out: 70 + 232},
		// 105 contents, of which two of the model's stand in a row; 45 calls, one result without a call.
		"gemini-cli/gemini-cli--trajectory*": {turns: 51, threads: 1, calls: 45, results: 46, unpaired: 1},

		// 55 and 60 messages, 68 and 61 calls; of the second one request was broken off before an answer came.
		"copilot-cli/agentv--10fb*": {turns: 54, threads: 1, calls: 68, results: 68},
		"copilot-cli/agentv--c3f0*": {turns: 57, threads: 1, calls: 61, results: 61},

		// Calls as in the manifest; the last of each ends the task, and a summary stands in the place of one more.
		"roo-cline/roo--heavy-un*api*":     {turns: 27, threads: 1, calls: 27, results: 26},
		"roo-cline/roo--natural-al*api*":   {turns: 14, threads: 1, calls: 13, results: 11},
		"roo-cline/roo--natural-mini*api*": {turns: 10, threads: 1, calls: 9, results: 8},
		"roo-cline/roo--synthetic-2*api*":  {turns: 16, threads: 1, calls: 16, results: 15},
		"roo-cline/roo--synthetic-3*api*":  {turns: 46, threads: 1, calls: 46, results: 45},
		"odd/roo-cline/*":                  {turns: 4, threads: 1, calls: 4, results: 4},

		// 15 answers are counted in ten chats, of which one holds nothing, and what stands before them; the manifest counts
		// edits as calls, and no tokens.
		"aider-history/*": {turns: 21, threads: 10, counted: 15, input: 207_383, out: 6_097},

		// Calls as in the manifest; the last ends the task. One file repeats ids.
		"swe-agent-traj/*i_got_id*":    {turns: 21, threads: 1, calls: 21, results: 20},
		"swe-agent-traj/*marshmallow*": {turns: 13, threads: 1, calls: 13, results: 13},
		"swe-agent-traj/*pydicom*":     {turns: 12, threads: 1, calls: 12, results: 11},

		// All as in the manifest: in and cache_read together are the input.
		"mini-swe-agent/*11910*": {turns: 138, threads: 1, calls: 138, results: 137, counted: 138, input: 37_103 + 5_263_936, read: 5_263_936, out: 45_480},
		"mini-swe-agent/*11797*": {turns: 156, threads: 1, calls: 156, results: 155, counted: 156, input: 40_464 + 5_160_448, read: 5_160_448, out: 29_260},
		"mini-swe-agent/*1733*":  {turns: 157, threads: 1, calls: 157, results: 156, counted: 157, input: 44_814 + 8_674_304, read: 8_674_304, out: 61_187},
		"mini-swe-agent/*1606*":  {turns: 97, threads: 1, calls: 97, results: 96, counted: 97, input: 26_240 + 2_702_528, read: 2_702_528, out: 37_684},
		"mini-swe-agent/*1413*":  {turns: 137, threads: 1, calls: 137, results: 136, counted: 137, input: 37_907 + 4_561_024, read: 4_561_024, out: 29_425},

		// The manifest counts each answer twice, and its in holds what was written to the cache.
		"openhands-output/*multi*": {turns: 105, threads: 3, calls: 105, results: 103, counted: 210 / 2, input: 3_826_684 / 2, out: 26_682 / 2},
		"openhands-output/*traj*": {
			turns: 216, threads: 5, calls: 216, results: 213, counted: 432 / 2, input: (471_726 + 12_003_700) / 2, read: 12_003_700 / 2,
			write: 470_484 / 2, out: 98_398 / 2,
		},
	} {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v %v", name, found, err)
			continue
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		r, err := pointing(data)
		if err != nil || r == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := figuresOf(r); got != want {
			t.Errorf("%s:\n%+v, want\n%+v", name, got, want)
		}
		for _, f := range r.Facts {
			if u, ok := f.(*entry.Unit); ok && u.Unknown {
				t.Errorf("%s: line %d, %s is not known", name, u.Line, u.At)
			}
		}
	}
}

// TestOddOfAgents reads what is hard to read of the new formats: each is imported, or refused with a reason.
// covers: I-07 part
func TestOddOfAgents(t *testing.T) {
	dir := shared(t)
	for name, want := range map[string]string{
		"odd/gemini-cli/*": "gemini-cli, but nothing was said in it",
		"odd/fixtures-multi/agentsview/gemini/system_messages.json": "gemini-cli, but nothing was said in it",
		"odd/fixtures-multi/agentsview/gemini/s*_session.json":      "",
		"odd/fixtures-multi/agentsview/gemini/t*.json":              "",
		"roo-cline/*ui_messages.json":                               "api_conversation_history.json",
	} {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %v %v", name, found, err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = transcript.Read(data)
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", path, err)
			case want != "" && (!errors.Is(err, transcript.ErrFormat) || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
	}
}

// TestCutValues reads recordings of one JSON value that break off, at each byte: each part that is whole is there, and no
// other. Of SWE-agent that holds from where the history begins.
func TestCutValues(t *testing.T) {
	for _, c := range golden(t) {
		data := []byte(c.recording)
		all, err := transcript.Read(data)
		if err != nil || !transcript.OneValue(all.Format) || all.Format == transcript.OpenCode {
			continue
		}
		from := 0
		if all.Format == transcript.SWEAgent {
			from = strings.Index(c.recording, `"history"`) + len(`"history": [{`)
		}
		if strings.Contains(c.recording, "clientHistory") || from < len("history") && all.Format == transcript.SWEAgent {
			continue // what is read depends on what comes later
		}
		for i := from; i < len(data); i++ {
			r, err := transcript.Read(data[:i])
			if err != nil {
				if !errors.Is(err, transcript.ErrFormat) {
					t.Fatalf("%s: cut at %d: %v", c.name, i, err)
				}
				if n := whole(all, i); n > 1 {
					t.Fatalf("%s: cut at %d: %v, and %d parts are whole", c.name, i, err, n)
				}
				continue
			}
			if got, want := whole(r, len(data)), whole(all, i); got < want || got > want && r.Format != transcript.SWEAgent {
				t.Fatalf("%s: cut at %d: %d parts of %d, %v", c.name, i, got, want, r.Warnings)
			}
			if len(r.Warnings) == 0 && len(strings.TrimSpace(c.recording[i:])) > 0 {
				t.Fatalf("%s: cut at %d: no warning", c.name, i)
			}
		}
	}
}

// whole is how many messages of a recording end before an offset.
func whole(r *transcript.Recording, end int) (n int) {
	for _, f := range r.Facts {
		u, ok := f.(*entry.Unit)
		if ok && u.N != 0 && u.Offset+u.Length <= int64(end) && !strings.Contains(u.At, "/toolCalls/") { // which stands in a message
			n++
		}
	}
	return n
}

// TestOddBytesOfAgents reads recordings that begin with a byte order mark, and ids that are no text.
func TestOddBytesOfAgents(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	for name, c := range map[string]struct{ data, want string }{
		"a value": {mark + "[{\"role\":\"user\",\"parts\":[{\"text\":\"one\"}]},\r\n{\"role\":\"model\",\"parts\":[{\"text\":\"two\"}]}]\r\n", `gemini-cli "", 1 turns, 2 lines, title "one"
#1 t1 root; complete
  L1 user "one"
  L2 assistant "two"
`},
		"Markdown": {mark + "#### one  \r\n\r\ntwo\r\n\r\n> Tokens: 7 sent, 2 received.\r\n", `aider-history "", 1 turns, 5 lines
#1 t1 root; complete, 7 read 0 write 0 out 2
  L1 user "one"
  L3 assistant "two"
#2 t1 extends #1; the recording has no answer
  L5 tool "Tokens: 7 sent, 2 received."
`},
		"an id": {`{"sessionId":"s","projectHash":"h","messages":[{"type":"gemini","content":"two","toolCalls":[{"id":"a` + "\xff\\n\\u0000\\ud800" + `","name":"ls","args":{},"result":"b"}]}]}`, `gemini-cli "s", 1 turns, 1 lines
#1 t1 root; complete
  L1 assistant "two" +a` + "�\n\x00�" + `
#2 t1 extends #1; the recording has no answer
  L1 tool "b" -a` + "�\n\x00�" + `
`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outline([]byte(c.data)); got != c.want {
				t.Errorf("%q\nwant:\n%q", got, c.want)
			}
			if _, err := pointing([]byte(c.data)); err != nil {
				t.Error(err)
			}
		})
	}
}
