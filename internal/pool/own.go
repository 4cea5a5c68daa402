package pool

import (
	"slices"

	"ambit/entry"
	"ambit/journal"
)

// Own is what is known of a session of Ambit's own, in which nobody but Ambit made the requests.
type Own struct {
	Works    entry.Works `json:"works"` // what it works with
	Since    entry.Seq   `json:"since"` // and the entry that says so
	Inputs   []Input     `json:"inputs"`
	Steps    []Step      `json:"steps"`    // what its conversation is made of, in order
	Baseline *Told       `json:"baseline"` // nil before the first
	For      entry.Works `json:"for"`      // what the session worked with when that was opened
	Told     *Told       `json:"told"`     // the newest with values, which are what the model knows

	Compacted entry.Seq `json:"compacted,omitempty"` // the newest decision on a checkpoint, while what stands in front is older; else 0

	Asides []Aside `json:"asides,omitempty"` // in order; of one that was asked again, each attempt

	Missing  []entry.Missing `json:"missing"`  // sources that could not be read, the last time
	Open     []Call          `json:"open"`     // calls that were begun and have no result
	Activity int             `json:"activity"` // number of the newest
	Turns    int             `json:"turns"`    // of that
	Idle     bool            `json:"idle"`     // it has ended
}

// Input is one that was admitted, and the entry that says so.
type Input struct {
	entry.Input
	Seq      entry.Seq `json:"seq"`
	Promoted entry.Seq `json:"promoted,omitempty"` // the entry from which on it is said; 0 while it waits
}

// Told is what the model was told of live facts, and the entry that says so.
type Told struct {
	entry.Told
	Seq entry.Seq `json:"seq"`
}

// Call is one that was begun, and the entry that says so.
type Call struct {
	entry.Call
	Seq entry.Seq `json:"seq"`
}

// Aside is a question beside the conversation, and the entry that says so.
type Aside struct {
	entry.Aside
	Seq      entry.Seq `json:"seq"`
	Answered entry.Seq `json:"answered,omitempty"` // the entry of its answer, if one came to its end
}

// Step is one element of the conversation: of the four, the one that is set.
type Step struct {
	Seq    entry.Seq     `json:"seq"`
	Inputs []entry.Seq   `json:"inputs,omitempty"` // said by whom the agent works for
	Told   *entry.Told   `json:"told,omitempty"`   // a message of the system
	Answer int           `json:"answer,omitempty"` // number of the exchange whose answer it is, if that can be read
	Result *entry.Result `json:"result,omitempty"`
}

// Waiting are the inputs that nobody has taken up, in order.
func (o *Own) Waiting() (list []Input) {
	for _, in := range o.Inputs {
		if in.Promoted == 0 {
			list = append(list, in)
		}
	}
	return list
}

// Input is the one of an entry; nil when it is none.
func (o *Own) Input(seq entry.Seq) *Input {
	for i := range o.Inputs {
		if o.Inputs[i].Seq == seq {
			return &o.Inputs[i]
		}
	}
	return nil
}

// Aside is the one of an exchange; nil when that is none.
func (o *Own) Aside(n int) *Aside {
	for i := range o.Asides {
		if o.Asides[i].N == n {
			return &o.Asides[i]
		}
	}
	return nil
}

// own takes in what sessions of Ambit's own have besides the others. It reports whether the fact is such a one.
func (p *Pool) own(f journal.Frame) bool {
	switch f.Fact.(type) {
	case *entry.Input, *entry.Promoted, *entry.Works, *entry.Told, *entry.Call, *entry.Result, *entry.Idle, *entry.Aside:
		if p.Own == nil {
			p.Own = &Own{Idle: true}
		}
		p.Own.Take(f.Fact, f.Seq)
		return true
	}
	return false
}

// Take takes in a fact and the number of the entry that says it.
func (o *Own) Take(f entry.Fact, seq entry.Seq) {
	switch fact := f.(type) {
	case *entry.Works:
		o.Works, o.Since = *fact, seq
	case *entry.Input:
		o.Inputs = append(o.Inputs, Input{Input: *fact, Seq: seq})
	case *entry.Promoted:
		for _, of := range fact.Inputs {
			if in := o.Input(of); in != nil {
				in.Promoted = seq
			}
		}
		if fact.Activity != o.Activity {
			o.Activity, o.Turns = fact.Activity, 0
		}
		o.Idle = false
		o.Steps = append(o.Steps, Step{Seq: seq, Inputs: fact.Inputs})
	case *entry.Told:
		o.Missing = fact.Missing
		if fact.Values != nil || fact.Baseline {
			o.Told = &Told{*fact, seq}
		}
		if fact.Baseline {
			o.Baseline, o.For, o.Compacted = o.Told, o.Works, 0
		} else if fact.Text != nil {
			o.Steps = append(o.Steps, Step{Seq: seq, Told: fact})
		}
	case *entry.Call:
		o.Open = append(o.Open, Call{*fact, seq})
	case *entry.Result:
		o.Open = slices.DeleteFunc(o.Open, func(c Call) bool { return c.N == fact.N && c.ID == fact.ID })
		o.Steps = append(o.Steps, Step{Seq: seq, Result: fact})
	case *entry.Response:
		whole := (fact.Status == 200 || fact.Status == 101) && fact.End == entry.EndComplete && fact.Body != nil // 101: over a WebSocket
		if a := o.Aside(fact.N); a != nil {
			if whole {
				a.Answered = seq
			}
		} else if whole {
			o.Turns++
			o.Steps = append(o.Steps, Step{Seq: seq, Answer: fact.N})
		}
	case *entry.Aside:
		o.Asides = append(o.Asides, Aside{Aside: *fact, Seq: seq})
	case *entry.Decision:
		n := len(o.Steps)
		if fact.Stage == entry.StageCompact && fact.Thread == ThreadName(1) && o.Baseline != nil && n > 0 && o.Steps[n-1].Seq > o.Baseline.Seq {
			o.Compacted = seq
		}
	case *entry.Idle:
		o.Idle = true
	}
}

// until is what it was when an entry was the last. What it worked with then, and what it had been told, is missing.
func (o *Own) until(seq entry.Seq) *Own {
	if o == nil || o.Since > seq {
		return nil
	}
	q := *o
	q.Inputs = slices.DeleteFunc(slices.Clone(o.Inputs), func(in Input) bool { return in.Seq > seq })
	for i := range q.Inputs {
		if q.Inputs[i].Promoted > seq {
			q.Inputs[i].Promoted = 0
		}
	}
	q.Steps = slices.DeleteFunc(slices.Clone(o.Steps), func(s Step) bool { return s.Seq > seq })
	q.Asides = slices.DeleteFunc(slices.Clone(o.Asides), func(a Aside) bool { return a.Seq > seq })
	for i := range q.Asides {
		if q.Asides[i].Answered > seq {
			q.Asides[i].Answered = 0
		}
	}
	q.Open = slices.DeleteFunc(slices.Clone(o.Open), func(c Call) bool { return c.Seq > seq })
	return &q
}
