package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ambit"
	"ambit/internal/pricing"
)

// seedListing is the seed's listing of its own figures.
const seedListing = ` context · section estimates (~4 chars/token)
 system:identity                 ~1,240 tokens
 system:tools                    ~2,610 tokens
 system:project-instructions     ~3,905 tokens
 tools                           ~1,878 tokens
 history                        ~38,412 tokens
 total (estimated)              ~48,045 tokens
 window 200,000 · usable 168,000 (output + compaction reserve held back)
 last real total 45,208 tokens · pressure 27%
`

// seedGauge is a gauge with the seed's figures; what can be computed of them is.
func seedGauge() *ambit.Gauge {
	g := &ambit.Gauge{
		Estimator: "~4 chars/token", State: ambit.GaugeKnown, Window: 200_000, LastRealTotal: 45_208,
		Sections: []ambit.Section{
			{Name: "system:identity", EstTokens: 1240},
			{Name: "system:tools", EstTokens: 2610},
			{Name: "system:project-instructions", EstTokens: 3905},
			{Name: "tools", EstTokens: 1878},
			{Name: "history", EstTokens: 38412},
		},
	}
	for _, s := range g.Sections {
		g.EstTotal += s.EstTokens
	}
	g.Usable = pricing.Model{Window: g.Window}.Usable()
	pressure := ambit.Pressure(g.LastRealTotal, g.Usable)
	g.Pressure = &pressure
	return g
}

// The seed's figures give the seed's listing, letter by letter; where the seed is at hand, it is read there.
//
func TestSeedListing(t *testing.T) {
	if got := strings.Join(gaugeLines(seedGauge()), "\n") + "\n"; got != seedListing {
		t.Errorf("printed:\n%swant:\n%s", got, seedListing)
	}
	root := os.Getenv("AMBIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	seeds, _ := filepath.Glob(filepath.Join(root, "seeds", "004*.txt"))
	if len(seeds) == 0 {
		t.Skip("no seed to compare with; set AMBIT_SHARED")
	}
	text, err := os.ReadFile(seeds[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), seedListing) {
		t.Errorf("%s does not have\n%s", filepath.Base(seeds[0]), seedListing)
	}
}

// A gauge that is unknown shows no figure of the generation before, and what is estimated is marked.
// covers: X-12 part
func TestUnknownGauge(t *testing.T) {
	g := seedGauge()
	g.State, g.LastRealTotal, g.Pressure = ambit.GaugeUnknown, 0, nil
	g.Next = &ambit.Next{EstTokens: 48_045, EstMost: 60_000}
	text := strings.Join(append(gaugeLines(g), pastLines(g)...), "\n")
	for _, want := range []string{
		" last real total unknown: no response of this generation is counted · pressure unknown",
		" next request ~48,045 tokens, most likely no more than ~60,000",
		" total (estimated)              ~48,045 tokens",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "%") || strings.Contains(text, "45,208") {
		t.Errorf("it shows a pressure:\n%s", text)
	}
}

// A window is a table's, and says so; a model that is in no table has none.
// covers: B-07 part
func TestWindowIsOfATable(t *testing.T) {
	g := seedGauge()
	g.WindowSource = "table a-docs, m"
	if text := strings.Join(pastLines(g), "\n"); text != " window by table a-docs, m: for display, not the provider's word" {
		t.Errorf("printed %q", text)
	}
	g.Window, g.Usable, g.Pressure = 0, 0, nil
	text := strings.Join(gaugeLines(g), "\n")
	if !strings.Contains(text, " window unknown: the model is in no table\n last real total 45,208 tokens · pressure unknown") {
		t.Errorf("without a window:\n%s", text)
	}
}
