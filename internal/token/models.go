package token

import (
	"slices"
	"strconv"
	"strings"
)

// Family is a family of tokenizers: its models count alike.
type Family string

// The families that are told apart.
const (
	Claude    Family = "claude"     // up to 4.6
	ClaudeNew Family = "claude-new" // Opus 4.7 and Sonnet 5, and what comes after
	OpenAI    Family = "openai"     // GPT-4o and later, which share o200k
	Gemini    Family = "gemini"
	DeepSeek  Family = "deepseek"
	Unknown   Family = "unknown"
)

// FamilyOf is the family of a model by its name, as a request or a provider has it, with or without the name of who
// serves it before a slash or a dot. A Claude without a version that is known counts as a new one, which is dearer.
func FamilyOf(model string) Family {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, after, ok := strings.Cut(name, "claude"); ok {
		if major, minor := version(after); major > 0 && major*100+minor < 407 {
			return Claude
		}
		return ClaudeNew
	}
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch {
	case name == "gpt-4" || begins("gpt-3", "gpt-4-"): // cl100k
		return Unknown
	case begins("gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"):
		return OpenAI
	case begins("gemini-", "gemma-"):
		return Gemini
	case begins("deepseek"):
		return DeepSeek
	}
	return Unknown
}

// version reads the numbers of a Claude's name behind that word: -opus-4-5-20251101 is 4 and 5. What is longer than two
// digits is a date.
func version(name string) (major, minor int) {
	numbers := strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	var v [2]int
	for i := range min(len(v), len(numbers)) {
		if len(numbers[i]) > 2 {
			break
		}
		v[i], _ = strconv.Atoi(numbers[i])
	}
	return v[0], v[1]
}

// Default is the model of a family as the recordings of this project calibrated it. ClaudeNew, Gemini and Unknown were
// not calibrated. ClaudeNew counts about 1.3 times what Claude counts, says Anthropic, up to 1.35; of the other two
// nothing is known, so they have for each kind of piece what the dearest of the families has, and a wider bound.
//
// The weights and bounds of the others are printed, and compared with what stands here, by
//
//	go test ./internal/transcript -run TestTokens/defaults -v
func Default(f Family) Model {
	switch f {
	case Claude:
		return claude()
	case ClaudeNew:
		m := claude().times(1.3)
		m.Name = string(f)
		m.New.Factor, m.Spoken.Factor, m.Whole.Factor = m.New.Factor*1.1, m.Spoken.Factor*1.1, m.Whole.Factor*1.1
		return m
	case OpenAI:
		return openAI()
	case DeepSeek:
		return deepSeek()
	}
	return dearest(f)
}

// Base is what calibrations begin with: what tokenizers of this kind have in common, on the high side where samples are
// rare, as of scripts other than Latin.
func Base() Model {
	return Model{
		Name: string(Unknown),
		Weights: Weights{Text: [width]float64{
			Words: 1, Long: 0.2, Inner: 0.2, Capital: 0.15, Digits: 1.4, Runs: 0.5, Marks: 0.4, Lines: 0.9, Empty: 0.8,
			Blanks: 0.9, Spaces: 0.05, Tabs: 0.4, Latin: 0.7, Symbols: 0.9, Letters: 1.3, Wide: 3,
		}, Message: 6, Call: 30, Result: 12},
		New: Bound{1.5, 60}, Spoken: Bound{2.2, 100}, Whole: Bound{1.6, 200},
	}
}

// dearest has the most of each that a family has, and is half as wide again.
func dearest(f Family) Model {
	var w [size]float64
	m := Model{Name: string(f)}
	for _, other := range []Model{claude(), openAI(), deepSeek()} {
		for i, x := range other.Weights.vector() {
			w[i] = max(w[i], x)
		}
		m.New, m.Spoken, m.Whole = m.New.or(other.New), m.Spoken.or(other.Spoken), m.Whole.or(other.Whole)
	}
	m.Weights = weightsOf(w)
	m.New.Factor, m.Whole.Factor = 1.5*m.New.Factor, 1.5*m.Whole.Factor
	return m
}

// or is the wider of each.
func (b Bound) or(other Bound) Bound {
	return Bound{max(b.Factor, other.Factor), max(b.Plus, other.Plus)}
}

// times multiplies the weights.
func (m Model) times(x float64) Model {
	w := m.Weights.vector()
	for i := range w {
		w[i] *= x
	}
	m.Weights = weightsOf(w)
	return m
}
