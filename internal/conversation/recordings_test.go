package conversation_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/internal/transcript"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/openai"
)

// recorded is a recording with what is made of it.
type recorded struct {
	*transcript.Recording
	data []byte
	pool *pool.Pool
	all  []*conversation.Conversation
}

// read reads a recording; nil where it is none.
func read(t testing.TB, data []byte) *recorded {
	t.Helper()
	r, err := transcript.Read(data)
	if err != nil {
		return nil
	}
	all := &recorded{r, data, pool.New(), nil}
	for i, f := range r.Facts {
		if err := all.pool.Fold(journal.Frame{Entry: entry.Entry{Seq: entry.Seq(i + 1), Fact: f}, Sum: "00000000", Prev: "00000000"}); err != nil {
			t.Fatal(err)
		}
	}
	all.all = conversation.Of(all.pool, conversation.Reader{
		Message: func(u *pool.Unit) (provider.Message, error) { return all.message(u), nil },
		Answer:  func(n int) (provider.Answer, error) { return all.answer(n), nil },
		Body:    func(n int) ([]conversation.Element, error) { return all.body(n), nil },
	})
	return all
}

func (r *recorded) message(u *pool.Unit) provider.Message {
	raw := r.data[u.Offset : u.Offset+u.Length]
	if u.Of == entry.PartRecord {
		return transcript.Message(r.Format, u.Unit, raw)
	}
	w := r.wire(u.N)
	return w.Message(w.Request, raw, u.At)
}

func (r *recorded) wire(n int) wire {
	q := r.pool.Exchange(n).Request
	w := wire{openai.Protocol{}, provider.Request{Type: q.Type, Model: q.Model}}
	if q.Provider == "anthropic" {
		w.Protocol = anthropic.Protocol{}
	}
	return w
}

// at is what a log has at a place; nil for nothing.
func (r *recorded) at(p *entry.Place) []byte {
	if p == nil || p.Length == 0 {
		return nil
	}
	raw := r.data[p.Offset : p.Offset+p.Length]
	if v := provider.JSON(raw); v.Kind() == '"' {
		return []byte(v.Text())
	}
	return raw
}

func (r *recorded) answer(n int) provider.Answer {
	a, w := r.pool.Exchange(n).Response, r.wire(n)
	return w.Response(w.Request, a.Headers["content-type"], r.at(a.Recorded)).Answer
}

func (r *recorded) body(n int) (list []conversation.Element) {
	body, w := r.at(r.pool.Exchange(n).Request.Recorded), r.wire(n)
	if body == nil {
		return nil
	}
	elements, err := w.Elements(w.Request, body)
	if err != nil || elements.Previous != "" {
		return nil
	}
	for _, el := range elements.Messages {
		raw := body[el.Offset : el.Offset+el.Length]
		list = append(list, conversation.Element{Hash: el.Hash, Message: func() provider.Message { return w.Message(w.Request, raw, el.At) }})
	}
	return list
}

// TestOutlinesOfRecordings makes conversations of the recordings in the testdata of the package that reads them. What
// comes of them is in testdata/recorded, by the same names: that of a recording behind ===, and its outline.
func TestOutlinesOfRecordings(t *testing.T) {
	files, err := filepath.Glob("../transcript/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			var now strings.Builder
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
				name, rest, _ := strings.Cut(part, "\n")
				recording, _, _ := strings.Cut(rest, "\n----\n")
				r := read(t, []byte(recording+"\n"))
				if r == nil || len(r.all) == 0 {
					continue
				}
				fmt.Fprintf(&now, "=== %s\n%s", name, outline(r.all))
				for _, law := range r.broken() {
					t.Errorf("%s: %s", name, law)
				}
			}
			golden := filepath.Join("testdata", "recorded", filepath.Base(file))
			if *update && now.Len() > 0 {
				if err := os.WriteFile(golden, []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); string(want) != now.String() && (err == nil || now.Len() > 0) {
				t.Errorf("%v\n%s\nwant:\n%s", err, now.String(), want)
			}
		})
	}
}

// shared are the recordings that others made, by name.
func shared(t testing.TB) map[string]*recorded {
	t.Helper()
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "transcripts")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recorded sessions: %v; set AMBIT_SHARED", err)
	}
	all := make(map[string]*recorded)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if r := read(t, data); r != nil {
			name, _ := filepath.Rel(dir, path)
			all[name] = r
		}
		return nil
	})
	if err != nil || len(all) < 50 {
		t.Fatalf("%d recordings, %v", len(all), err)
	}
	return all
}

// broken are the laws that conversations of a recording break.
func (r *recorded) broken() (laws []string) {
	early := make(map[string]bool) // results that the recording tells before their calls, or without
	made := make(map[string]bool)
	for i := range r.pool.Units {
		u := &r.pool.Units[i]
		for _, id := range u.Calls {
			made[id] = true
		}
		for _, id := range u.Results {
			early[id] = early[id] || !made[id] && u.Of != entry.PartPruned
		}
	}
	for _, c := range r.all {
		laws = append(laws, broken(c)...)
		for i := range c.Turns {
			t := &c.Turns[i]
			for _, id := range unpaired(c, t) {
				if !early[id] {
					laws = append(laws, fmt.Sprintf("%s #%d: the result of %s does not stand behind its call", c.Thread, t.N, id))
				}
			}
			if elements := r.body(t.N); t.Passed != (elements != nil) {
				laws = append(laws, fmt.Sprintf("#%d passed: %v", t.N, t.Passed))
			} else if got, want := saidIn(c, t.Held), saidBy(elements); t.Passed && got != want {
				laws = append(laws, fmt.Sprintf("#%d holds\n%q, its body\n%q", t.N, got, want))
			}
		}
	}
	return append(laws, r.lost()...)
}

// saidIn and saidBy are all that messages say, without white space, by which an answer may differ from what is sent again.
func saidIn(c *conversation.Conversation, list []int) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(conversation.Text(c.Messages[m].Unit))
	}
	return packed(b.String())
}

func saidBy(elements []conversation.Element) string {
	var b strings.Builder
	for _, el := range elements {
		b.WriteString(conversation.Text(conversation.Unit("", el.Message())))
	}
	return packed(b.String())
}

func packed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// lost are the parts of units that are not in messages as often as they are told: at least once where bodies tell more.
func (r *recorded) lost() (laws []string) {
	have, told := make(map[string]int), make(map[string]int)
	bodies := false
	for _, c := range r.all {
		for i := range c.Turns {
			bodies = bodies || c.Turns[i].Passed
		}
		for i := range c.Messages {
			for _, p := range c.Messages[i].Parts {
				have[partKey(string(p.Kind), p.ID, p.Text)]++
			}
		}
	}
	type place struct {
		offset, length int64
		at             string
	}
	seen := make(map[place]bool)
	for i := range r.pool.Units {
		u := &r.pool.Units[i]
		at := place{u.Offset, u.Length, u.At}
		if x := r.pool.Exchange(u.N); x == nil || x.Relation == nil || x.Relation.How == entry.Count || u.Of.Silent() || u.Of == entry.PartAnswer || seen[at] {
			continue
		}
		seen[at] = true
		for _, p := range conversation.Unit("", r.message(u)).Parts {
			told[partKey(string(p.Kind), p.ID, p.Text)]++
		}
	}
	for key, n := range told {
		if got := have[key]; got == 0 || got != n && !bodies {
			laws = append(laws, fmt.Sprintf("%.80q is told %d times, and is in %d messages", key, n, got))
		}
	}
	return laws
}

func partKey(kind, id, text string) string { return kind + " " + id + " " + text }

// TestLawsOfRecordings holds for every recording: see broken. What requests held grows as what the provider counted.
// covers: J-14 part
func TestLawsOfRecordings(t *testing.T) {
	compared := 0
	for name, r := range shared(t) {
		laws := r.broken()
		for _, law := range laws[:min(len(laws), 5)] {
			t.Errorf("%s: %.600s", name, law)
		}
		for _, c := range r.all {
			est, counted := sizes(c)
			if len(est) < 20 {
				continue
			}
			compared++
			rho := spearman(est, counted)
			t.Logf("%s %s: %d requests, rank correlation %.3f", name, c.Thread, len(est), rho)
			if rho < leastRho {
				t.Errorf("%s %s: what %d requests held and what was counted: rank correlation %.3f", name, c.Thread, len(est), rho)
			}
		}
	}
	if compared < 15 {
		t.Errorf("%d conversations were compared with what providers counted", compared)
	}
}

// leastRho is a little less than the least that was found: in that recording a fourth goes at once, and nothing tells why.
const leastRho = 0.65

// sizes are what requests of a conversation held, in bytes, and what the provider counted, from one compaction to the next
// the longest stretch: what a client puts in front anew then is not told.
func sizes(c *conversation.Conversation) (est, counted []float64) {
	var e, n []float64
	longest := func() {
		if len(e) > len(est) {
			est, counted = e, n
		}
		e, n = nil, nil
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.How == entry.ClientCompaction || t.Trimmed || t.Edited {
			longest()
		}
		if t.Usage == nil || t.Usage.Input == 0 {
			continue
		}
		bytes := 0
		for _, m := range t.Held {
			bytes += c.Messages[m].Bytes()
		}
		e, n = append(e, float64(bytes)), append(n, float64(t.Usage.Input))
	}
	longest()
	return est, counted
}

// spearman is the correlation of the ranks of two lists.
func spearman(a, b []float64) float64 {
	ra, rb := ranks(a), ranks(b)
	mean := float64(len(a)-1) / 2
	var ab, aa, bb float64
	for i := range ra {
		x, y := ra[i]-mean, rb[i]-mean
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / max(1e-9, math.Sqrt(aa*bb))
}

func ranks(list []float64) []float64 {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case list[i] < list[j]:
			return -1
		case list[i] > list[j]:
			return 1
		}
		return 0
	})
	ranks := make([]float64, len(list))
	for i := 0; i < len(order); {
		j := i
		for j+1 < len(order) && list[order[j+1]] == list[order[i]] {
			j++
		}
		for k := i; k <= j; k++ {
			ranks[order[k]] = float64(i+j) / 2
		}
		i = j + 1
	}
	return ranks
}
