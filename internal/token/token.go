// Package token estimates how many tokens a model's provider will count, and says how far the estimate may be off.
//
// What a provider has counted is exact, so an estimate begins with its last count of the same conversation wherever
// there is one, and only what is new is estimated: Model.Anchored. Model.Unanchored estimates all of it and has a bound
// of its own, which is wider. Text is estimated from Features by weights, images from their size in pixels; the base64
// of an image is never text. Weights and bounds are learned from differences between the provider's own counts, by
// Calibrate; Default has those that the recordings of this project gave.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package token

// Content is what a request holds and nobody has counted as a part of it. The zero value is nothing.
type Content struct {
	Text     Features // of all public text, of calls' names, and of their arguments as JSON
	Messages int      // that a person or the client wrote
	Calls    int      // calls in answers whose tokens are not Counted
	Results  int      // results of calls
	Spoken   int      // answers that are not Counted: how much they reasoned is not known
	Counted  int      // tokens that are known: answers as the provider counted them, images by their size
}

// Say adds a text.
func (c *Content) Say(text string) { c.Text.Add(Of(text)) }

// Add adds other content.
func (c *Content) Add(other Content) {
	c.Text.Add(other.Text)
	c.Messages += other.Messages
	c.Calls += other.Calls
	c.Results += other.Results
	c.Spoken += other.Spoken
	c.Counted += other.Counted
}

// Estimate is a number of tokens that nobody gave.
type Estimate struct {
	EstTokens int    // the likeliest
	Most      int    // the bound: of what was calibrated on, at most one count in a hundred was above it
	Anchored  bool   // it begins with the provider's own count of the same conversation
	By        string // the estimator: Features for the learned one
}

// Estimator is the name of the estimator of this version, as an Estimate has it. Other features would be another.
const Estimator = "features-1"

// Bound is how far a count was above its estimate, at most: Factor times it and Plus tokens. What was Counted has none.
type Bound struct {
	Factor float64
	Plus   float64 // tokens
}

// most is the bound of an estimate, and never below it.
func (b Bound) most(estimate float64) float64 {
	if estimate == 0 {
		return 0
	}
	return max(estimate, b.Factor*estimate+b.Plus)
}

// Model estimates for one family of tokenizers. Its values are copied freely and not changed.
type Model struct {
	Name    string  // of its family, or of who calibrated it
	Weights Weights // tokens
	New     Bound   // of what is new in one request, behind the provider's count, when the answer in it is Counted
	Spoken  Bound   // and when it is not
	Whole   Bound   // of a request of which the provider has counted nothing
}

// Weights are tokens a piece, by the constants of Features, and tokens around each message, call and result.
type Weights struct {
	Text                  [width]float64
	Message, Call, Result float64
}

// Text estimates the tokens of a text by itself.
func (m Model) Text(text string) int {
	c := Content{Text: Of(text)}
	return round(m.uncounted(c))
}

// Answer is the content of an answer in the request that sends it back: the provider's count of it, which has its
// reasoning too, and what it says in place of that if the count is well below what is said, because it broke off or
// the count was taken while it streamed. Reasoning that the provider leaves out of later requests makes it too much,
// never too little.
func (m Model) Answer(outputTokens int, said Content) Content {
	if float64(outputTokens) < m.uncounted(said)/maxBelow {
		said.Spoken = 1
		return said
	}
	return Content{Counted: outputTokens}
}

// maxBelow is how many times more than the provider counted an answer may seem to say, before the count is not believed.
// Of pi's answers one in forty seemed to say more, some of which broke off; of Codex's and of DeepSeek's none did.
const maxBelow = 1.5

// Anchored estimates a request that adds content to what the provider has counted: last is its count of the input of
// the request before, cached parts included, and added is the answer to that and what was said since.
func (m Model) Anchored(last int, added Content) Estimate {
	b := m.New
	if added.Spoken > 0 {
		b = m.Spoken
	}
	e := m.estimate(added, b)
	e.EstTokens, e.Most, e.Anchored = e.EstTokens+last, e.Most+last, true
	return e
}

// Unanchored estimates a request, or a part of one, of which the provider has counted nothing but what is Counted.
func (m Model) Unanchored(all Content) Estimate { return m.estimate(all, m.Whole) }

func (m Model) estimate(c Content, b Bound) Estimate {
	n := m.uncounted(c)
	return Estimate{EstTokens: c.Counted + round(n), Most: c.Counted + ceil(b.most(n)), By: Estimator}
}

// uncounted estimates what of a content is not Counted.
func (m Model) uncounted(c Content) float64 {
	w := m.Weights
	sum := w.Message*float64(c.Messages) + w.Call*float64(c.Calls) + w.Result*float64(c.Results)
	for i, n := range c.Text {
		sum += float64(w.Text[i] * float64(n)) // rounded each, so that every machine counts alike
	}
	return sum
}

func round(x float64) int { return int(x + 0.5) }

// ceil forgives what sums of fractions are off by.
func ceil(x float64) int {
	n := int(x)
	if x-float64(n) > 1e-6 {
		n++
	}
	return n
}
