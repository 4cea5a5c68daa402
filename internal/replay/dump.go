package replay

import (
	"encoding/json"
	"fmt"
	"time"

	"ambit/internal/pricing"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/unit"
	"ambit/view"
)

// Dumped is one file of a dump, under the folder of its recording.
type Dumped struct {
	Name string // POLICY/NNNN.json or POLICY/turns.jsonl
	Data []byte
}

// Dump yields every request of every policy as a body, and beside them what is needed to count them again: how tokens are
// counted, by which rules the cache works, and for each turn when it was sent, what was charged, what was needed and what
// of it was visible. Bodies hold no tools and no system text, which most recordings do not have; head_tokens stands for
// them. The errors are those of yield.
func (r *Report) Dump(yield func(Dumped) error) error {
	for i, o := range r.Policies {
		var lines []byte
		n := 0
		for j, c := range r.courses[i] {
			for k := range c.steps {
				n++
				name := fmt.Sprintf("%04d.json", n)
				step := &c.steps[k]
				body, err := step.body(c.s)
				if err != nil {
					return fmt.Errorf("lower turn %d of %s: %w", step.N, o.Policy, err)
				}
				if err := yield(Dumped{o.Policy + "/" + name, body}); err != nil {
					return err
				}
				line, err := json.Marshal(step.line(c.s, name, k < r.spans[j]))
				if err != nil {
					return err
				}
				lines = append(append(lines, line...), '\n')
			}
		}
		if err := yield(Dumped{o.Policy + "/turns.jsonl", lines}); err != nil {
			return err
		}
	}
	return nil
}

// line is what turns.jsonl says of one request.
type line struct {
	File     string        `json:"file"`
	Thread   string        `json:"thread"`
	N        int           `json:"n"`
	Compared bool          `json:"compared"` // it is in the sums of the report
	At       time.Time     `json:"time"`
	Model    string        `json:"model"`
	Rules    rules         `json:"rules"`
	Price    pricing.Price `json:"usd_per_million_tokens"`
	Counting counting      `json:"counting"`
	HeadMark string        `json:"head_mark"` // how long the provider is asked to keep the head

	Tokens    int     `json:"input_tokens"`
	Fresh     int     `json:"fresh_tokens"`
	Read      int     `json:"cache_read_tokens"`
	Write     int     `json:"cache_write_tokens"`
	WriteHour int     `json:"cache_write_1h_tokens"`
	Output    int     `json:"output_tokens"`
	Cost      float64 `json:"input_cost_usd"`

	Answer  []part      `json:"answer"` // what was answered, which the next request holds
	Said    []string    `json:"said"`   // what the agent wrote in a summary, which no policy sends
	Quotes  Evidence    `json:"quotes"`
	Names   Evidence    `json:"names"`
	Recalls []recallRow `json:"recalls"`
	Pins    int         `json:"pins"` // that were planted up to here
	Held    int         `json:"pins_held"`
}

type part struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type recallRow struct {
	Ref     string  `json:"ref"`
	Found   bool    `json:"found"`
	Context int     `json:"context_tokens"`
	Written int     `json:"excerpt_tokens"`
	Output  int     `json:"output_tokens"`
	Cost    float64 `json:"cost_usd"`
}

// counting is how tokens are counted: those of a text are the sum of weights times pieces, rounded; those of a block the
// sum of its texts and what stands around it, times scale, rounded.
type counting struct {
	Weights []float64 `json:"weights"`
	Message int       `json:"message"`
	Call    int       `json:"call"`
	Result  int       `json:"result"`
	Scale   float64   `json:"scale"`
	Head    int       `json:"head_tokens"`
}

// rules are those by which the cache was simulated.
type rules struct {
	Family      string `json:"family"`
	Min         int    `json:"min_tokens"`
	Granularity int    `json:"granularity"`
	LifeS       int    `json:"life_seconds"`
	HourS       int    `json:"life_1h_seconds"`
	LookBack    int    `json:"look_back"`
	Collapse    bool   `json:"collapse_runs"`
}

func countingOf(s *Sizes) counting {
	w := s.Model.Weights
	c := counting{Message: int(w.Message), Call: int(w.Call), Result: int(w.Result), Scale: s.Scale, Head: s.Head}
	c.Weights = append(c.Weights, w.Text[:]...)
	return c
}

func (step *Step) line(s *sizing, file string, compared bool) line {
	c := step.Charge
	r := step.rules
	l := line{
		File: file, Thread: s.c.Thread, N: step.N, Compared: compared, At: step.At, Model: step.Model, Price: step.Price, Counting: countingOf(&s.sizes),
		Rules:    rules{r.Family, r.Min, r.Granularity, int(r.Life.Seconds()), int(r.LifeHour.Seconds()), r.LookBack, r.Collapse},
		HeadMark: string(markOf(s.life())),
		Tokens:   c.Total(), Fresh: c.Fresh, Read: c.Read, Write: c.Write, WriteHour: c.WriteHour, Output: step.Output, Cost: step.Price.Of(c),
		Answer: []part{}, Said: []string{}, Quotes: step.Needs[0], Names: step.Needs[1], Recalls: []recallRow{}, Pins: step.Pins, Held: step.Held,
	}
	for _, m := range step.left {
		for _, p := range s.units[m].Parts {
			l.Said = append(l.Said, words(p)...)
		}
	}
	if step.answer >= 0 {
		for _, p := range s.c.Messages[step.answer].Parts {
			switch p.Kind {
			case unit.Text:
				l.Answer = append(l.Answer, part{Type: "text", Text: p.Text})
			case unit.Call:
				l.Answer = append(l.Answer, part{Type: "tool_use", Name: p.Name, Input: p.Args})
			}
		}
	}
	for _, x := range step.Recalls {
		l.Recalls = append(l.Recalls, recallRow{x.Ref, x.Found, x.Context, x.Written, recallOutput, x.Cost})
	}
	return l
}

// body is the request as a body of the Messages API.
func (step *Step) body(s *sizing) ([]byte, error) {
	segments := make([]view.Segment, len(step.shapes))
	for i, sh := range step.shapes {
		segments[i] = view.Segment{Layer: view.Working, Unit: sh.unit, EstTokens: sh.tokens}
	}
	for _, i := range step.marks {
		segments[i].Mark = markOf(s.life())
	}
	return anthropic.Protocol{}.Lower(view.View{Segments: segments}, provider.LowerParams{Model: step.Model, MaxTokens: 32_000, Stream: true})
}

func markOf(life time.Duration) view.Mark {
	if life == time.Hour {
		return view.OneHour
	}
	return view.FiveMinute
}
