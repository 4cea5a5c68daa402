package selection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/unit"
)

// fuzzed is a client that does whatever clients do between two requests.
type fuzzed struct {
	*client
	t       *rapid.T
	before  []unit.Unit // of the request before: what the client sent
	sent    []unit.Unit // and what we did
	branch  []unit.Unit // where a rewind came from
	pinning int
}

func (f *fuzzed) step() {
	switch rapid.IntRange(0, 13).Draw(f.t, "step") {
	case 0, 1, 2, 3:
		f.parallel()
	case 4:
		f.work("bash", rapid.IntRange(1, 6).Draw(f.t, "things"), rapid.SampledFrom([]int{50, 3_000, 12_000, 30_000}).Draw(f.t, "bytes"))
	case 5:
		f.user(fmt.Sprintf("Now number %d. Never delete folder %d.", len(f.talk), len(f.talk)) + lines(len(f.talk), rapid.IntRange(0, 30_000).Draw(f.t, "more")))
	case 6:
		f.rewind()
	case 7:
		f.edit()
	case 8:
		f.compaction()
	case 9:
		f.restart()
	case 10:
		f.policy, _ = selection.Named(rapid.SampledFrom([]string{selection.Record, selection.Cut, selection.Full}).Draw(f.t, "policy"))
	case 11:
		f.cold = !f.cold
	case 12:
		f.pinning++
		f.pins = append(f.pins, selection.Pin{ID: fmt.Sprint("p", f.pinning), Text: fmt.Sprintf("Rule \"%d\": größe\nalways.", f.pinning)})
	case 13:
		f.say(unit.Assistant, text("Done."))
		f.user("continue")
	}
}

// parallel lets the agent reason, and call several tools at once.
func (f *fuzzed) parallel() {
	tool := rapid.SampledFrom([]string{"read", "bash", "grep", "edit"}).Draw(f.t, "tool")
	n := rapid.IntRange(1, 3).Draw(f.t, "calls")
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = rapid.SampledFrom([]int{0, 200, 5_000, 20_000}).Draw(f.t, "size")
	}
	at := len(f.talk)
	f.use(tool, fmt.Sprintf("src/f%d", rapid.IntRange(0, 3).Draw(f.t, "file")), sizes...)
	if rapid.IntRange(0, 3).Draw(f.t, "reasons") == 0 {
		u := &f.talk[at]
		u.Parts = append([]unit.Part{{Kind: unit.Opaque, Raw: []byte(`{"type":"thinking"}`)}}, u.Parts...)
	}
	if rapid.IntRange(0, 5).Draw(f.t, "shows a picture") == 0 {
		u := &f.talk[at+1]
		u.Parts = append(slices.Clone(u.Parts), unit.Part{Kind: unit.Opaque, Raw: []byte(`{"type":"image"}`)})
	}
}

// rewind goes back to an earlier message of the user's, or forward to the branch that was left.
func (f *fuzzed) rewind() {
	if f.branch != nil && rapid.Bool().Draw(f.t, "forward") {
		f.talk, f.branch = f.branch, nil
		return
	}
	at := rapid.IntRange(0, len(f.talk)-1).Draw(f.t, "back to")
	for at > 0 && f.talk[at].Role != unit.User {
		at--
	}
	f.branch = slices.Clone(f.talk)
	f.talk = slices.Clone(f.talk[:at+1])
}

// edit changes a text somewhere.
func (f *fuzzed) edit() {
	at := rapid.IntRange(0, len(f.talk)-1).Draw(f.t, "edits")
	f.talk = slices.Clone(f.talk)
	u := &f.talk[at]
	u.Parts = slices.Clone(u.Parts)
	for i := range u.Parts {
		if p := &u.Parts[i]; p.Text != "" {
			p.Text += fmt.Sprint(" edited ", len(f.written))
		}
	}
}

// compaction has the client put a summary in the place of what is old.
func (f *fuzzed) compaction() {
	at := len(f.talk) - 1
	for at > 0 && f.talk[at].Role != unit.Assistant {
		at--
	}
	f.talk = append([]unit.Unit{{Role: unit.User, Parts: []unit.Part{text(fmt.Sprintf("Summary %d of what was said.", len(f.written)))}}}, f.talk[at:]...)
}

// TestLaws sends requests of clients that rewind, edit, compact, restart and change policies between any two, and looks at
// each: the contract holds, nothing is half there, what is mandatory stands, nothing grew, a pin is there, the decision is the
// same when it is made again, and between boundaries what is sent begins with what was sent before.
//
// covers: X-01 part
// covers: V-08
// covers: N-02 part
// covers: N-06 part
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClient(t, selection.Full)
		c.bank = pricing.Bank{Account: 1e9}
		if rapid.Bool().Draw(t, "has a window") {
			c.model = sonnet(rapid.IntRange(8_000, 100_000).Draw(t, "window"))
		}
		f := &fuzzed{client: c, t: t}
		f.user("Begin.")
		for range rapid.IntRange(1, 25).Draw(t, "requests") {
			for range rapid.IntRange(1, 3).Draw(t, "steps") {
				f.step()
			}
			f.request()
		}
	})
}

// request sends one and looks at it.
func (f *fuzzed) request() {
	t := f.t
	in := f.input()
	d := selection.Decide(in)
	if again := selection.Decide(f.input()); !cmp.Equal(d, again) {
		t.Fatalf("decided otherwise again: %s", cmp.Diff(d, again))
	}
	f.take(d)
	f.last = slices.Clone(f.talk)
	shown := f.shown()
	if err := unit.Check(f.talk, wire); err == nil {
		if err := unit.Check(shown, wire); err != nil {
			t.Fatalf("%s: %v", d.Stage, err)
		}
	}
	if d.After > d.Before+500*len(f.pins) && len(d.Lifts) == 0 {
		t.Fatalf("%s: grew from %d to %d", d.Stage, d.Before, d.After)
	}
	if len(d.Changes) > 0 != (d.Stage == entry.StageCompact) {
		t.Fatalf("%s with %d changes", d.Stage, len(d.Changes))
	}
	if f.policy.Name != selection.Record {
		f.mandatory(shown, d)
	}
	if boundary := d.Stage == entry.StagePrune || d.Stage == entry.StageCompact || d.Stage == entry.StageLift; !boundary {
		f.prefix(shown, d)
	}
	f.before, f.sent = slices.Clone(f.talk), shown
}

// mandatory: what the user said stands, shortened at most; the newest answer stands, and its results, as long as the request
// fitted; what is sealed stands; pins stand.
func (f *fuzzed) mandatory(shown []unit.Unit, d selection.Decision) {
	t := f.t
	for i, u := range f.talk {
		first, _, _ := strings.Cut(u.Parts[0].Text, "\n")
		if u.Role == unit.User && !says(shown, firstWords(first)) {
			t.Fatalf("%s: what the user said in %d is lost: %q", d.Stage, i, first)
		}
	}
	last := len(f.talk) - 1
	for last > 0 && f.talk[last].Role != unit.Assistant {
		last--
	}
	if f.talk[last].Role == unit.Assistant && !slices.ContainsFunc(shown, func(u unit.Unit) bool { return cmp.Equal(u, f.talk[last]) }) {
		t.Fatalf("%s: the newest answer is changed", d.Stage)
	}
	for _, pin := range f.pins {
		if !says(shown, pin.Text) {
			t.Fatalf("%s: pin %s is lost; %v", d.Stage, pin.ID, d.Uncut)
		}
	}
}

func firstWords(s string) string {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i]
	}
	return s
}

// prefix: what is sent shares with what was sent at least the image of what the client's two bodies share.
func (f *fuzzed) prefix(shown []unit.Unit, d selection.Decision) {
	n := 0
	for n < len(f.before) && n < len(f.talk) && cmp.Equal(f.before[n], f.talk[n]) {
		n++
	}
	both := 0
	for both < len(f.sent) && both < len(shown) && cmp.Equal(f.sent[both], shown[both]) {
		both++
	}
	image := f.image(n)
	if both < len(image) {
		f.t.Fatalf("%s: the clients' bodies share %d messages, whose image has %d, but what is sent shares %d only", d.Stage, n, len(image), both)
	}
}

// image are the first so many messages as the edits show them.
func (f *fuzzed) image(n int) []unit.Unit {
	whole, rest := f.shown(), 0
	a := f.edits.Apply(hashesOf(f.talk))
	for i := n; i < len(f.talk); i++ {
		if !a.Shown[i].Gone {
			rest++
		}
		rest += len(a.Shown[i].Behind)
	}
	if n > 0 { // what stands behind the last of them may be new
		rest += len(a.Shown[n-1].Behind)
	}
	return whole[:len(whole)-rest]
}

// TestLadderEnds refuses requests until nothing is decided any more: each pass makes the request smaller, there are few, and
// at the end everything that could be cut was.
//
//
// covers: N-06
// covers: X-01 part
func TestLadderEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClient(t, rapid.SampledFrom([]string{selection.Cut, selection.Full}).Draw(t, "policy"))
		c.model = sonnet(rapid.IntRange(0, 4_000).Draw(t, "window"))
		c.bank = pricing.Bank{}
		f := &fuzzed{client: c, t: t}
		f.user("Begin." + lines(1, rapid.IntRange(0, 100_000).Draw(t, "first")))
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			f.step()
		}
		f.policy, _ = selection.Named(rapid.SampledFrom([]string{selection.Cut, selection.Full}).Draw(t, "policy then"))
		passes := 0
		for ; ; passes++ {
			in := f.input()
			in.Overflow, in.Passes, in.Limit = true, passes, rapid.IntRange(0, 3_000).Draw(t, "limit")
			in.Sent = len(in.Messages)
			d := selection.Decide(in)
			if d.Stage == entry.StageNone || d.After >= d.Before {
				if d.After > d.Before+500*len(f.pins) && len(d.Lifts) == 0 {
					t.Fatalf("grew from %d to %d", d.Before, d.After)
				}
				if len(d.Uncut) == 0 && d.Stage == entry.StageNone {
					t.Fatalf("nothing is cut, and nobody says why: %s", d.Why)
				}
				break
			}
			f.take(d)
			if passes > 30 {
				t.Fatalf("no end after %d passes: %d to %d", passes, d.Before, d.After)
			}
		}
		if unit.Check(f.talk, wire) == nil {
			if err := unit.Check(f.shown(), wire); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// One result, or one text, that is larger than the window is cut as the last resort.
// covers: X-07 part
func TestOneItemLargerThanTheWindow(t *testing.T) {
	for name, larger := range map[string]func(c *client){
		"result": func(c *client) { c.use("bash", "seq 1 1000000", 400_000) },
		"text":   func(c *client) { c.user(lines(1, 400_000)) },
	} {
		c := newClient(t, selection.Full)
		c.model = sonnet(40_000)
		c.bank = pricing.Bank{}
		c.user("Do it.")
		larger(c)
		c.last = slices.Clone(c.talk)
		in := c.input()
		in.Overflow = true
		d := selection.Decide(in)
		if d.After > d.Usable || !d.Reactive || !d.Forced {
			t.Errorf("%s: %d of %d to %d: %s", name, d.Before, d.Usable, d.After, d.Why)
		}
	}
}
