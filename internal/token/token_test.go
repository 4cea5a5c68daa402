package token_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/internal/token"
)

var families = []token.Family{token.Claude, token.ClaudeNew, token.OpenAI, token.Gemini, token.DeepSeek, token.Unknown}

func TestFamilyOf(t *testing.T) {
	for model, want := range map[string]token.Family{
		"claude-3-5-haiku-20241022": token.Claude, "claude-sonnet-4-20250514": token.Claude, "claude-opus-4-6": token.Claude, "claude-opus-4": token.Claude,
		"anthropic/claude-sonnet-4.5": token.Claude, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": token.Claude, "claude-2.1": token.Claude,
		"claude-opus-4-7": token.ClaudeNew, "claude-sonnet-5": token.ClaudeNew, "claude-sonnet-5-20260301": token.ClaudeNew, "Claude": token.ClaudeNew,
		"gpt-4o": token.OpenAI, "gpt-5.3-codex": token.OpenAI, "o3-mini": token.OpenAI, "openrouter/openai/gpt-oss-120b": token.OpenAI,
		"gpt-4": token.Unknown, "gpt-3.5-turbo": token.Unknown, "gemini-3-pro": token.Gemini, "deepseek-chat": token.DeepSeek, "kimi-k2": token.Unknown, "": token.Unknown,
	} {
		if got := token.FamilyOf(model); got != want {
			t.Errorf("%q is of %s, want %s", model, got, want)
		}
	}
}

// TestEstimates says what of an estimate is exact, how it is labelled and which bound it has.
// covers: B-04 part
func TestEstimates(t *testing.T) {
	m := token.Base()
	m.Weights = token.Weights{Message: 4, Call: 20, Result: 10}
	m.Weights.Text[token.Words] = 1
	m.New, m.Spoken, m.Whole = token.Bound{Factor: 1.5, Plus: 10}, token.Bound{Factor: 2, Plus: 20}, token.Bound{Factor: 3}
	asked := token.Content{Messages: 1, Results: 1, Counted: 7}
	asked.Say("six words that are one each")
	for name, tt := range map[string]struct{ got, want token.Estimate }{
		"anchored":       {m.Anchored(1000, asked), token.Estimate{EstTokens: 1027, Most: 1047, Anchored: true, By: token.Estimator}},
		"unanchored":     {m.Unanchored(asked), token.Estimate{EstTokens: 27, Most: 67, By: token.Estimator}},
		"nothing is new": {m.Anchored(1000, token.Content{}), token.Estimate{EstTokens: 1000, Most: 1000, Anchored: true, By: token.Estimator}},
		"all is counted": {m.Anchored(1000, m.Answer(50, token.Content{})), token.Estimate{EstTokens: 1050, Most: 1050, Anchored: true, By: token.Estimator}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	said := token.Content{Calls: 2}
	if diff := cmp.Diff(token.Content{Counted: 30}, m.Answer(30, said)); diff != "" {
		t.Errorf("an answer that was counted: %s", diff)
	}
	broken := m.Answer(3, said)
	if diff := cmp.Diff(token.Content{Calls: 2, Spoken: 1}, broken); diff != "" {
		t.Errorf("an answer that broke off: %s", diff)
	}
	if got := m.Anchored(0, broken); got.EstTokens != 40 || got.Most != 100 {
		t.Errorf("an answer that broke off is estimated as %+v", got)
	}
}

// TestEstimatesHold are the laws of every family: no estimate is above its bound or negative, and more content never
// takes less.
// covers: B-04 part
func TestEstimatesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := token.Default(rapid.SampledFrom(families).Draw(t, "family"))
		last := rapid.IntRange(0, 1e6).Draw(t, "last")
		c := token.Content{Results: rapid.IntRange(0, 5).Draw(t, "results"), Counted: rapid.IntRange(0, 5000).Draw(t, "counted")}
		c.Say(rapid.String().Draw(t, "text"))
		more := c
		more.Add(token.Content{Text: token.Of(rapid.String().Draw(t, "more")), Messages: 1})
		for _, e := range [][2]token.Estimate{{m.Anchored(last, c), m.Anchored(last, more)}, {m.Unanchored(c), m.Unanchored(more)}} {
			if e[0].EstTokens < c.Counted || e[0].Most < e[0].EstTokens || e[1].EstTokens < e[0].EstTokens || e[1].Most < e[0].Most {
				t.Errorf("%+v, and with more %+v", e[0], e[1])
			}
		}
	})
}

// TestNeverFourCharacters holds every family to what DESIGN says: text is never estimated at four characters a token.
func TestNeverFourCharacters(t *testing.T) {
	code := strings.Repeat("func (s *Store) Append(e Entry) error {\n\treturn s.file.Write(e.Bytes())\n}\n", 20)
	for _, f := range families {
		if n := token.Default(f).Text(code); float64(len(code))/float64(n) > 3.5 {
			t.Errorf("%s: %d characters in %d tokens", f, len(code), n)
		}
	}
	old, recent := token.Default(token.Claude).Text(code), token.Default(token.ClaudeNew).Text(code)
	if ratio := float64(recent) / float64(old); math.Abs(ratio-1.3) > 0.01 {
		t.Errorf("new Claude models take %.2f times as many", ratio)
	}
}
