package selection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/pricing"
	"ambit/internal/selection"
	"ambit/unit"
)

// pruned are the messages whose results a decision replaces by placeholders, or leaves out.
func pruned(c *client, d selection.Decision) map[entry.Seq]bool {
	out := make(map[entry.Seq]bool)
	for _, x := range slices.Concat(d.Changes, d.Standing) {
		if x.How == entry.ChangePlaceholder || x.How == entry.ChangeGone {
			out[x.Of] = true
		}
	}
	return out
}

// What was read grows old by what is done behind it, slower while the agent only reads, and a cold cache, which would have to
// write it anew, keeps less of it than a warm one.
func TestWhatWasReadGrowsOld(t *testing.T) {
	for _, x := range []struct {
		then string
		n    int
		cold bool
		gone bool
	}{
		{"read", 20, true, false},
		{"bash", 20, true, true},
		{"read", 20, false, false},
		{"bash", 20, false, false},
		{"bash", 60, false, true},
	} {
		c := newClient(t, selection.Cut)
		c.user("Do it.")
		c.use("read", "first/of_all.go", 8_000)
		read := entry.Seq(len(c.talk))
		for i := range x.n {
			c.use(x.then, strings.Repeat("x", i+1)+".txt", 3_000)
		}
		c.last, c.cold = slices.Clone(c.talk), x.cold
		d, _ := c.send()
		if d.Stage != entry.StagePrune && x.gone {
			t.Errorf("%+v: %s: %s", x, d.Stage, d.Why)
		}
		if gone := pruned(c, d)[read]; gone != x.gone {
			t.Errorf("%+v: what was read is left out: %v", x, gone)
		}
	}
}

// Once a conversation is crowded, what was read gives way earlier; how large it may grow before depends on what a token that is
// kept costs, and on the window.
func TestCrowded(t *testing.T) {
	for _, x := range []struct {
		read   float64 // USD per million tokens
		window int
		gone   bool
	}{
		{0, 1_000_000, true},
		{0.5, 1_000_000, true},
		{1.5, 1_000_000, true},
		{0.2, 1_000_000, false},
		{0.2, 160_000, true},
	} {
		c := newClient(t, selection.Cut)
		c.model = pricing.Model{Window: x.window, Price: pricing.Price{Input: 10 * x.read, Read: x.read, Write: 10 * x.read}}
		c.user("Do it.")
		c.use("read", "first/of_all.go", 20_000)
		read := entry.Seq(len(c.talk))
		for i := range 14 {
			c.use("read", strings.Repeat("x", i+1)+".txt", 32_000)
		}
		c.last, c.cold = slices.Clone(c.talk), true
		d, _ := c.send()
		if gone := pruned(c, d)[read]; gone != x.gone || d.Forced {
			t.Errorf("%+v, with %d tokens: what was read first is left out: %v, %s: %s", x, d.Before, gone, d.Stage, d.Why)
		}
	}
}

// A boundary that is made anyway takes old messages along where that saves more than it costs.
func TestCompactionWithPruning(t *testing.T) {
	for _, x := range []struct {
		said  int
		stage entry.Stage
	}{{0, entry.StagePrune}, {4_000, entry.StageCompact}} {
		c := newClient(t, selection.Full)
		c.user("Do it.")
		for i := range 30 {
			if x.said > 0 {
				c.say(unit.Assistant, text(lines(i, x.said)))
			}
			c.work("bash", 1, 12_000)
		}
		c.last = slices.Clone(c.talk)
		if d, _ := c.send(); d.Stage != x.stage {
			t.Errorf("with %d bytes said each time: %s: %s", x.said, d.Stage, d.Why)
		}
	}
}

// Of what a checkpoint leaves out it says the lines again that tell most, without the numbers that a tool put before them,
// and no more from one result than a part of all.
func TestOutline(t *testing.T) {
	result := func(c *client, id, of string) {
		c.say(unit.Assistant, unit.Part{Kind: unit.Call, ID: id, Name: "read", Args: []byte(`{"path":"` + id + `.go"}`)})
		c.say(unit.Tool, unit.Part{Kind: unit.Result, ID: id, Text: of})
	}
	c := newClient(t, selection.Full)
	c.user("Do it.")
	filler := "    12\tsome words of no particular kind that fill a line of the file\n"
	var many strings.Builder
	for i := range 200 {
		many.WriteString("import { something, another } from \"./module/" + strings.Repeat("y", i%40) + "/" + strings.Repeat("z", i/40) + "\"\n")
	}
	result(c, "old", strings.Repeat(filler, 100)+"    13\timport { only, here } from \"./the/first/of/all/that/was/read\"\n"+strings.Repeat(filler, 100))
	result(c, "much", many.String())
	c.work("bash", 40, 400)
	d := c.asked()
	if d.Stage != entry.StageCompact {
		t.Fatalf("%s: %s", d.Stage, d.Why)
	}
	var record string
	for _, x := range d.Changes {
		record += x.Text
	}
	if !strings.Contains(record, "\nimport { only, here } from \"./the/first/of/all/that/was/read\"\n") {
		t.Errorf("the one import of the older file is not told again:\n%s", record)
	}
	if n := strings.Count(record, "another } from"); n < 10 || n > 60 {
		t.Errorf("%d lines of one file are told again", n)
	}
}

// However much a checkpoint has to say of what the user asked for, it takes the place of a pruning only where the request is
// smaller with it.
func TestCompactionIsNoWorseThanPruning(t *testing.T) {
	for _, size := range []int{500, 8_000, 20_000, 45_000} {
		for _, cold := range []bool{false, true} {
			after := make(map[string]int)
			for _, policy := range []string{selection.Cut, selection.Full} {
				c := newClient(t, policy)
				for i := range 4 {
					var asked strings.Builder
					for j := 0; asked.Len() < size; j++ {
						fmt.Fprintf(&asked, "Never change the file number %d of part %d without a test of its own. ", j, i)
					}
					c.user(asked.String())
					for range 8 {
						c.say(unit.Assistant, text(lines(i, 300)))
						c.work("bash", 1, 6_000)
					}
				}
				c.last, c.cold = slices.Clone(c.talk), cold
				d, _ := c.send()
				after[policy] = d.After
				if cold && d.Stage == entry.StageNone {
					t.Errorf("%d bytes under %s: nothing is done: %s", size, policy, d.Why)
				}
			}
			if after[selection.Full] > after[selection.Cut] {
				t.Errorf("%d bytes, cold %v: %d tokens, where pruning leaves %d", size, cold, after[selection.Full], after[selection.Cut])
			}
		}
	}
}

// Numbers of lines are not told again, other numbers are.
func TestOutlineKeepsTimes(t *testing.T) {
	c := newClient(t, selection.Full)
	c.user("Do it.")
	c.say(unit.Assistant, unit.Part{Kind: unit.Call, ID: "a", Name: "read", Args: []byte(`{"path":"a.log"}`)})
	c.say(unit.Tool, unit.Part{Kind: unit.Result, ID: "a", Text: strings.Repeat("short\n", 400) + "2024-05-01T12:00:00Z ERROR the store is closed\n   17\timport one from \"./two/three/four/five/six/seven\"\n"})
	c.work("bash", 40, 400)
	var record string
	for _, x := range c.asked().Changes {
		record += x.Text
	}
	for _, line := range []string{"2024-05-01T12:00:00Z ERROR the store is closed", "import one from \"./two/three/four/five/six/seven\""} {
		if !strings.Contains(record, "\n"+line+"\n") {
			t.Errorf("%q is not told again:\n%s", line, record)
		}
	}
}
