package pricing_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ambit/internal/pricing"
)

// shared reads a file beside the module; a test that needs it is skipped without.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(append([]string{dir}, path...)...))
	if err != nil {
		t.Skipf("no shared file: %v; set AMBIT_SHARED", err)
	}
	return string(text)
}

// start is when the sessions of these tests begin: after all rows of the table.
var start = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

// model finds a model as it was when the sessions of these tests begin.
func model(t testing.TB, name string) pricing.Model { return modelAt(t, name, start) }

func modelAt(t testing.TB, name string, at time.Time) pricing.Model {
	t.Helper()
	m, ok := pricing.Lookup(name, at)
	if !ok {
		t.Fatalf("%s is unknown", name)
	}
	return m
}

// piece is a block of the messages that stands for a text.
func piece(text string, tokens int) pricing.Block {
	return pricing.Block{Hash: sha256.Sum256([]byte(text)), Tokens: tokens, Tier: pricing.Messages, Said: pricing.User}
}

// pieces are n blocks of so many tokens each, which differ from those of another name.
func pieces(name string, n, tokens int) []pricing.Block {
	var out []pricing.Block
	for i := range n {
		out = append(out, piece(fmt.Sprint(name, i), tokens))
	}
	return out
}

// marked are the blocks with a mark at the last one.
func marked(life time.Duration, blocks ...pricing.Block) []pricing.Block {
	out := append([]pricing.Block(nil), blocks...)
	out[len(out)-1].Mark = life
	return out
}

// join puts blocks one behind the other.
func join(parts ...[]pricing.Block) []pricing.Block {
	var out []pricing.Block
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// of are the blocks in another tier.
func of(tier pricing.Tier, blocks ...pricing.Block) []pricing.Block {
	for i := range blocks {
		blocks[i].Tier, blocks[i].Said = tier, pricing.Nobody
	}
	return blocks
}

// send is a request of these blocks so long after the start.
func send(c *pricing.Cache, m pricing.Model, at time.Duration, blocks ...pricing.Block) pricing.Charge {
	return c.Send(pricing.Request{Model: m, At: after(at), Blocks: blocks})
}

// want compares a charge with fresh, read, write and hour.
func want(t *testing.T, got pricing.Charge, fresh, read, write, hour int) {
	t.Helper()
	if w := (pricing.Charge{Fresh: fresh, Read: read, Write: write, WriteHour: hour}); got != w {
		t.Errorf("charge %+v, want %+v", got, w)
	}
}

// near compares two prices or shares.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := got - want; d > 1e-9 || d < -1e-9 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

const (
	five = 5 * time.Minute
	hour = time.Hour
)

// row is a row, a paragraph or a numbered rule of the reference, by words that stand at its beginning, with the test
// of it.
type row struct {
	title string
	test  func(*testing.T)
}

// runRows runs the rows of a section and sees to it that the reference still has them.
func runRows(t *testing.T, rows []row) {
	for _, r := range rows {
		t.Run(strings.Trim(strings.ReplaceAll(r.title, "/", "-"), "|* "), r.test)
	}
	t.Run("titles", func(t *testing.T) {
		text := shared(t, "reference", "caching-rules.md")
		for _, r := range rows {
			if !strings.Contains(text, "\n"+r.title) {
				t.Errorf("the reference has no line that begins with %q", r.title)
			}
		}
	})
}
