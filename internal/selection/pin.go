package selection

import (
	"strings"

	"ambit/entry"
	"ambit/internal/thread"
	"ambit/unit"
)

// pins sees to it that every pinned text stands in the request: in what a user says, in a message that was placed for it, or
// in a checkpoint. One that stands nowhere is placed behind the newest message that allows it.
func (t *talk) pins(d *Decision) {
	for _, pin := range t.in.Pins {
		if pin.Text == "" || t.holds(t.shown, pin.Text) {
			continue
		}
		p := t.placed(pin)
		if p == nil {
			d.Uncut = append(d.Uncut, "pin "+pin.ID+": no message may stand anywhere in the request")
			continue
		}
		c := t.change(p.from, entry.ChangeBehind)
		c.Of, c.Text, c.Pin = 0, pin.Text, pin.ID
		d.Standing = append(d.Standing, c)
		why := "a pinned text stood nowhere in the request"
		if d.Stage == entry.StageNone {
			d.Stage, d.Why = entry.StageCut, why
		}
		if d.Stage == entry.StageCut && p.from < t.in.Sent-1 { // it could be placed only among what was sent before
			d.Stage, d.Why = entry.StagePrune, why
		}
		t.take(d, p)
	}
}

// holds reports whether a text stands in what a request shows of the user, or of Ambit.
func (t *talk) holds(faces []thread.Shown, text string) bool {
	for i := range faces {
		for _, b := range faces[i].Behind {
			if strings.Contains(b.Text, text) {
				return true
			}
		}
	}
	for i := range faces {
		m := &t.in.Messages[i]
		if faces[i].Gone || m.Role != unit.User {
			continue
		}
		if own, is := faces[i].Texts[""]; is {
			if strings.Contains(own, text) {
				return true
			}
			continue
		}
		for _, p := range t.unit(i).Parts {
			if p.Kind == unit.Text && strings.Contains(p.Text, text) {
				return true
			}
		}
	}
	return false
}

// placed is the request with a pin's text behind the newest message that allows it; nil where none does.
func (t *talk) placed(pin Pin) *plan {
	whole := t.legal(t.shown) // else the client's own conversation is none, and only calls are kept with their results
	open := t.open()
	for i := len(t.shown) - 1; i >= 0; i-- {
		if open[i] || !t.alone(i) || i == len(t.shown)-1 && i > 0 && t.in.Messages[i].Role == unit.Assistant { // which the model is to go on from
			continue
		}
		p := &plan{faces: clone(t.shown), last: -1}
		p.faces[i].Behind = append(p.faces[i].Behind, thread.Placed{Text: pin.Text, Pin: pin.ID})
		if !whole || t.legal(p.faces) {
			return p.count(t)
		}
	}
	return nil
}

// open are the messages behind which a result of a call before them stands.
func (t *talk) open() []bool {
	list := make([]bool, len(t.shown))
	wanted := make(map[string]bool)
	for i := len(t.shown) - 1; i >= 0; i-- {
		list[i] = len(wanted) > 0
		if t.shown[i].Gone {
			continue
		}
		for _, id := range t.in.Messages[i].Results {
			wanted[id] = true
		}
		for _, id := range t.in.Messages[i].Calls {
			delete(wanted, id)
		}
	}
	return list
}

// alone reports whether no other message is the same as this one.
func (t *talk) alone(i int) bool {
	n := 0
	for _, h := range t.hashes {
		if h == t.hashes[i] {
			n++
		}
	}
	return n == 1
}
