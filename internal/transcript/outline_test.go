package transcript_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/transcript"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/provider/openai"
)

var update = flag.Bool("update", false, "write what testdata wants as it is now")

// TestOutlines reads the recordings of testdata. A file has cases: a name behind ===, a recording, and behind ---- the
// outline of what is read of it.
//
//	claude-code "1", 2 turns, 5 lines           format, id, what was answered, and what else the recording says of itself
//	#1 t1 root; complete, 10 read 8 write 1 out 3
//	                                            a request: number, thread, relation; how its answer ended and what was counted
//	  L1 user "text"                            a message: line, role, public texts; calls, results, what is not known
//	  L2 assistant "text" +call -result ?
//	L3 ?                                        what cannot be read
//	! 3: text                                   a warning
//
// covers: I-07
func TestOutlines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			var now strings.Builder
			for _, c := range outlineCases(t, file) {
				got := outline([]byte(c.recording))
				if got != c.want && !*update {
					t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
				}
				fmt.Fprintf(&now, "=== %s\n%s----\n%s", c.name, c.recording, got)
			}
			if *update {
				if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type outlineCase struct{ name, recording, want string }

func outlineCases(t testing.TB, file string) (cases []outlineCase) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		recording, want, _ := strings.Cut("\n"+rest+"\n", "\n----\n")
		if recording != "" {
			recording = recording[1:] + "\n"
		}
		if want != "" {
			want = strings.TrimRight(want, "\n") + "\n"
		}
		cases = append(cases, outlineCase{name, recording, want})
	}
	return cases
}

// outline says what is read of a recording, as text.
func outline(data []byte) string {
	r, err := transcript.Read(data)
	if err != nil {
		if !errors.Is(err, transcript.ErrFormat) {
			return "another error: " + err.Error() + "\n"
		}
		return err.Error() + "\n"
	}
	o := &outlining{r: r, data: data, p: pool.New()}
	fmt.Fprintf(o, "%s %q, %d turns, %d lines", r.Format, r.ID, r.Turns, r.Lines)
	if r.Version != "" {
		fmt.Fprintf(o, ", version %s", r.Version)
	}
	if r.Parent != "" {
		fmt.Fprintf(o, ", agent %q of %q", r.Agent, r.Parent)
	}
	if r.Title != nil {
		fmt.Fprintf(o, ", title %s", data[r.Title.Offset:r.Title.Offset+r.Title.Length])
	}
	o.WriteByte('\n')
	for i, f := range r.Facts {
		if err := o.p.Fold(journal.Frame{Entry: entry.Entry{Seq: entry.Seq(i + 1), Fact: f}, Sum: "00000000", Prev: "00000000"}); err != nil {
			return err.Error()
		}
	}
	o.behind, o.silent = o.p.Behind()
	for _, f := range r.Facts {
		switch f := f.(type) {
		case *entry.Request:
			o.request(o.p.Exchange(f.N))
		case *entry.Unit:
			o.unit(f)
		}
	}
	for _, agent := range sortedKeys(r.Agents) {
		fmt.Fprintf(o, "agent %s of %s\n", agent, r.Agents[agent])
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(o, "! %d: %s\n", w.Line, w.Text)
	}
	return o.String()
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type outlining struct {
	strings.Builder
	r              *transcript.Recording
	data           []byte
	p              *pool.Pool
	behind, silent map[int]bool
	n              int // of the request that was told last
}

func (o *outlining) request(x *pool.Exchange) {
	o.n = x.Request.N
	fmt.Fprintf(o, "#%d", o.n)
	if f := x.Relation; f == nil {
		o.WriteString(" by itself")
	} else {
		fmt.Fprintf(o, " %s %s", f.Thread, f.How)
		if f.Parent != 0 {
			fmt.Fprintf(o, " #%d", f.Parent)
		}
		if f.Call != "" || f.Owner != 0 {
			fmt.Fprintf(o, " of #%d %s", f.Owner, f.Call)
		}
	}
	a := x.Response
	fmt.Fprintf(o, "; %s", cmp.Or(a.Error, string(a.End)))
	if a.Status != 0 && a.Status != 200 {
		fmt.Fprintf(o, " %d", a.Status)
	}
	if u := a.Usage; u != nil {
		fmt.Fprintf(o, ", %d read %d write %d out %d", u.Input, u.CacheRead, u.CacheWrite, u.Output)
	}
	if o.behind[o.n] {
		o.WriteString("; behind")
	} else if o.silent[o.n] {
		o.WriteString("; its answer behind")
	}
	o.WriteByte('\n')
}

func (o *outlining) unit(u *entry.Unit) {
	if u.N != 0 {
		o.WriteString("  ")
	}
	if u.N != o.n && u.N != 0 {
		fmt.Fprintf(o, "#%d ", u.N)
	}
	switch u.Of {
	case entry.PartPruned:
		fmt.Fprintf(o, "without %s\n", strings.Join(u.Results, " "))
		return
	case entry.PartResumed:
		o.WriteString("started anew\n")
		return
	case entry.PartMore:
		fmt.Fprintf(o, "more: %d %d\n", len(u.Calls), len(u.Results))
		return
	}
	fmt.Fprintf(o, "L%d", u.Line)
	if u.Role != "" {
		fmt.Fprintf(o, " %s", u.Role)
	}
	for _, text := range texts(o.r, o.data, u) {
		runes := []rune(text.Text)
		fmt.Fprintf(o, " %q", string(runes[:min(len(runes), 40)]))
	}
	for _, id := range u.Calls {
		fmt.Fprintf(o, " +%s", id)
	}
	for _, id := range u.Results {
		fmt.Fprintf(o, " -%s", id)
	}
	if u.Unknown {
		o.WriteString(" ?")
	}
	o.WriteByte('\n')
}

// texts are the public texts of a unit, read as they are when it is recalled.
func texts(r *transcript.Recording, data []byte, u *entry.Unit) []provider.Text {
	switch {
	case u.N == 0 || u.Of.Silent():
		return nil
	case u.Of == entry.PartRecord:
		return transcript.Message(r.Format, *u, data[u.Offset:u.Offset+u.Length]).Texts
	}
	var q *entry.Request
	var a *entry.Response
	for _, f := range r.Facts {
		switch f := f.(type) {
		case *entry.Request:
			if f.N == u.N {
				q = f
			}
		case *entry.Response:
			if f.N == u.N {
				a = f
			}
		}
	}
	family := provider.Protocol(openai.Protocol{})
	if q.Provider == "anthropic" {
		family = anthropic.Protocol{}
	}
	asked := provider.Request{Type: q.Type, Model: q.Model}
	if u.Of == entry.PartMessage {
		return family.Message(asked, data[u.Offset:u.Offset+u.Length], u.At).Texts
	}
	body := data[a.Recorded.Offset : a.Recorded.Offset+a.Recorded.Length]
	if v := provider.JSON(body); v.Kind() == '"' {
		body = []byte(v.Text())
	}
	got := family.Response(asked, a.Headers["content-type"], body).Answer
	return got.Texts()
}
