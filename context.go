package ambit

import (
	"context"
	"errors"
	"math"
	"slices"

	"ambit/internal/pricing"
	"ambit/journal"
	"ambit/view"
)

// Gauge is what one request of a session held and how full it made the model's window. Members in Est are estimates;
// LastRealTotal is what the provider counted.
type Gauge struct {
	Session    string     `json:"session"`
	Thread     string     `json:"thread,omitempty"`
	Generation int        `json:"generation"`
	Boundaries []Boundary `json:"boundaries"` // where each generation behind the first began
	Turn       int        `json:"turn"`       // the request's number
	Phase      string     `json:"phase"`      // empty where Ambit did not choose what was sent
	Strategy   string     `json:"strategy"`   // the policy by which it was edited; recorded where what the client sent went as it came
	Model      string     `json:"model,omitempty"`
	Purged     bool       `json:"purged,omitempty"` // what was said is gone, so nothing of it can be estimated

	Estimator string    `json:"estimator"`
	Sections  []Section `json:"sections"`
	EstTotal  int       `json:"est_total_tokens"` // the sections, together
	Next      *Next     `json:"next,omitempty"`   // the request that would follow, as far as it is known; nil where nothing is

	Window       int    `json:"window_tokens,omitempty"` // 0 where the model is in no table
	Usable       int    `json:"usable_tokens,omitempty"` // of the window, without what is held back for an answer and a compaction
	WindowSource string `json:"window_source,omitempty"` // the table that has the window, which is for display and binds nothing, or who said it

	State         string   `json:"gauge"`                    // known, or unknown until a response of the generation was counted
	LastRealTotal int      `json:"last_real_total_tokens"`   // input and output of the newest counted request of the generation; 0 while unknown
	LastRealTurn  int      `json:"last_real_turn,omitempty"` // that request
	Pressure      *float64 `json:"pressure,omitempty"`       // LastRealTotal's share of Usable; nil where one of them is unknown

	ByClass  []ClassShare `json:"by_class"`
	ByLayer  []LayerShare `json:"by_layer"`
	Included []Included   `json:"included"`
	Excluded []Excluded   `json:"excluded"`

	Sent     *SentAs  `json:"sent,omitempty"`     // nil where what the client sent went as it came
	Decision *Decided `json:"decision,omitempty"` // the newest about the thread; nil where there is none
	Pins     PinProof `json:"pins"`
}

// Section is a part of a request by what people call it.
type Section struct {
	Name      string `json:"name"`
	EstTokens int    `json:"est_tokens"`
}

// Next is an estimate of the request after the one that is shown.
type Next struct {
	EstTokens int  `json:"est_tokens"`
	EstMost   int  `json:"est_most_tokens"` // the bound of the estimate
	Anchored  bool `json:"anchored"`        // it begins with the provider's own count of the conversation
}

// ClassShare is what the segments of a class take.
type ClassShare struct {
	Class     Class `json:"class"`
	Segments  int   `json:"segments"`
	EstTokens int   `json:"est_tokens"`
}

// LayerShare is what the segments of a layer take.
type LayerShare struct {
	Layer     view.Layer `json:"layer"`
	Segments  int        `json:"segments"`
	EstTokens int        `json:"est_tokens"`
}

// Included is a segment of the request. What it is of is Retained where an entry of the session has it and it was not purged,
// and Visible where the request says it, at least a part of it.
type Included struct {
	Ref      string             `json:"ref"`
	Class    Class              `json:"class"`
	Source   string             `json:"source"`         // request where its body was recorded, recording where another agent's recording tells of it, edit where Ambit put it there
	At       string             `json:"at,omitempty"`   // JSON pointer into the body that went; empty where that is not recorded
	Edit     string             `json:"edit,omitempty"` // as of a Segment
	Score    float64            `json:"score"`          // 0 where nobody scored
	Parts    map[string]float64 `json:"parts"`          // of the score
	Retained bool               `json:"retained"`
	Visible  bool               `json:"visible"`
}

// Excluded is an entry of the thread that the request does not hold; where it is Visible all the same, a part of it.
type Excluded struct {
	Ref      string `json:"ref"`
	Reason   Reason `json:"reason"`
	Edit     string `json:"edit,omitempty"` // the edit by which it is left out; empty where the client left it out
	Retained bool   `json:"retained"`
	Visible  bool   `json:"visible"`
}

// The states of a gauge.
const (
	GaugeKnown   = "known"
	GaugeUnknown = "unknown"
)

// strategyRecorded is the strategy of what Ambit only recorded.
const strategyRecorded = "recorded"

// Gauge is what request n held and how full it made the window; the request is chosen as by View. Of a purged session
// there is what the provider counted, and no section.
//
// The errors are those of View, without journal.ErrPurged.
func (r *Recording) Gauge(ctx context.Context, thread string, n int) (*Gauge, error) {
	s, err := r.sight(thread, n)
	if err != nil {
		return nil, err
	}
	g := &Gauge{
		Session: r.session, Thread: s.thread, Generation: 1 + len(s.bounds), Boundaries: s.bounds, Turn: s.x.Request.N, Strategy: strategyRecorded, Model: s.named,
		Estimator: s.estimator(), Sections: []Section{}, ByClass: []ClassShare{}, ByLayer: []LayerShare{}, Included: []Included{}, Excluded: []Excluded{},
	}
	err = s.look(ctx)
	switch {
	case errors.Is(err, journal.ErrPurged):
		g.Purged = true
	case err != nil:
		return nil, err
	}
	last := s.real()
	if !g.Purged {
		s.shares(g)
		s.choices(g)
		g.Next = s.next(last)
	}
	s.decide(ctx, g)
	window, source := s.window()
	g.measure(window, source, last)
	return g, nil
}

// measure sets the window, the last real total and the pressure.
func (g *Gauge) measure(m pricing.Model, source string, last *counted) {
	g.State = GaugeUnknown
	if m.Window > 0 {
		g.Window, g.Usable, g.WindowSource = m.Window, m.Usable(), source
	}
	if last == nil {
		return
	}
	g.State, g.LastRealTurn, g.LastRealTotal = GaugeKnown, last.n, last.input+last.output
	if g.Usable > 0 {
		p := Pressure(g.LastRealTotal, g.Usable)
		g.Pressure = &p
	}
}

// Pressure is the share that a real total has of the usable window, to four decimals; 0 of a window of which nothing is
// usable.
func Pressure(lastRealTotal, usable int) float64 {
	if usable <= 0 {
		return 0
	}
	return math.Round(float64(lastRealTotal)/float64(usable)*1e4) / 1e4
}

// shares adds up the segments by section, class and layer, each in the order in which its first segment stands. Without a
// body, what is missing is a section of its own.
func (s *sight) shares(g *Gauge) {
	for i := range s.items {
		it := &s.items[i]
		g.section(sectionOf(it.Class), it.EstTokens)
		at := slices.IndexFunc(g.ByClass, func(c ClassShare) bool { return c.Class == it.Class })
		if at < 0 {
			at, g.ByClass = len(g.ByClass), append(g.ByClass, ClassShare{Class: it.Class})
		}
		g.ByClass[at].Segments++
		g.ByClass[at].EstTokens += it.EstTokens
		at = slices.IndexFunc(g.ByLayer, func(l LayerShare) bool { return l.Layer == it.Layer })
		if at < 0 {
			at, g.ByLayer = len(g.ByLayer), append(g.ByLayer, LayerShare{Layer: it.Layer})
		}
		g.ByLayer[at].Segments++
		g.ByLayer[at].EstTokens += it.EstTokens
	}
	if s.head > 0 {
		g.section(SectionUnrecorded, s.head)
	}
}

func (g *Gauge) section(name string, tokens int) {
	g.EstTotal += tokens
	at := slices.IndexFunc(g.Sections, func(s Section) bool { return s.Name == name })
	if at < 0 {
		at, g.Sections = len(g.Sections), append(g.Sections, Section{Name: name})
	}
	g.Sections[at].EstTokens += tokens
}

// SectionUnrecorded is the section of what the provider counted and nobody recorded.
const SectionUnrecorded = "not-recorded"

// sectionOf is the section of a class: all that was said is the history.
func sectionOf(c Class) string {
	switch c {
	case ClassTools, ClassSystem, ClassInstructions, ClassSummary, ClassCheckpoint, ClassPin:
		return string(c)
	}
	return "history"
}
