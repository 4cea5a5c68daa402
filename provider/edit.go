package provider

import (
	"bytes"
	"slices"
	"strings"
)

// Editor is what one kind of conversation needs to be edited. The functions may be nil where the zero value's doing nothing
// serves; a zero Editor can leave out what is not fixed, and no more.
type Editor struct {
	// Message reads a message, whose JSON pointer is at.
	Message func(raw []byte, at string) Message

	// Texts changes the texts of a message, or says why it cannot.
	Texts func(t *Texts, message Place) (why string)

	// User appends a message in the user's place with one text, given as a JSON string.
	User func(dst, text []byte) []byte

	// Between says why no message may stand between two that follow each other, nil for none; empty where one may.
	Between func(before, after JSON) (why string)

	// Before and After make the only entry of a list of what stands in the list's place, such as a string.
	Before, After string
}

// Texts are the texts to be put into one message.
type Texts struct {
	*Splice
	of    map[string]string
	asked map[string]int // how often for each that there is
}

// Of returns the text for a call's result, or under "" for the message's own text, as a JSON string; nil where there is none.
// It is to be asked once for each that the message holds.
func (t *Texts) Of(call string) []byte {
	text, ok := t.of[call]
	if !ok {
		return nil
	}
	t.asked[call]++
	return quoted(text)
}

// quoted is a text as a JSON string; what is not UTF-8 is U+FFFD.
func quoted(text string) []byte { return AppendText(nil, strings.ToValidUTF8(text, "\uFFFD")) }

// edit is a body that is being edited.
type edit struct {
	Editor
	Splice
	e       Elements
	changes []Change
	kept    []int // for each change, the next message that is kept
}

// Edit does what Protocol.Edit says.
func (w Editor) Edit(body []byte, e Elements, changes []Change) ([]byte, error) {
	x := edit{w, Splice{body: body}, e, changes, make([]int, len(changes))}
	if err := x.check(); err != nil {
		return nil, err
	}
	before := -1 // the last message that is kept, of those up to the change
	for i, c := range changes {
		if before = x.before(i, before); !c.Gone {
			before = c.At
		}
		why := x.change(c)
		if why == "" && len(c.Behind) > 0 {
			why = x.behind(c, before, x.kept[i])
		}
		if why != "" {
			return nil, &EditError{At: c.At, Why: why}
		}
	}
	return x.Body(), nil
}

// check finds out whether the changes can be read at all, and which messages are kept.
func (x *edit) check() error {
	for i, c := range x.changes {
		if c.At < 0 || c.At >= len(x.e.Messages) {
			return &EditError{At: c.At, Why: "there is no such message"}
		}
		if i > 0 && c.At <= x.changes[i-1].At {
			return &EditError{At: c.At, Why: "the changes are not in order"}
		}
		if m := x.e.Messages[c.At]; m.Offset < 0 || m.Length <= 0 || m.Offset > len(x.body)-m.Length {
			return ErrNotUnderstood
		}
	}
	for i := len(x.changes) - 1; i >= 0; i-- {
		next := x.changes[i].At + 1
		if i+1 < len(x.changes) && x.changes[i+1].At == next && x.changes[i+1].Gone {
			next = x.kept[i+1]
		}
		x.kept[i] = next
	}
	return nil
}

// before returns the last message that is kept before change i, when last was it before the change before.
func (x *edit) before(i, last int) int {
	if at := x.changes[i].At; i == 0 || x.changes[i-1].At < at-1 {
		return at - 1
	}
	return last
}

// change makes one change, or says why it cannot.
func (x *edit) change(c Change) (why string) {
	el := x.e.Messages[c.At]
	here := x.place(el)
	if !c.Sure && (c.Gone || len(c.Texts) > 0) {
		if why := x.held(c, el); why != "" {
			return why
		}
	}
	alone := isAlone(el.At)
	switch behind := x.said(c.Behind); {
	case c.Gone && alone:
		x.Replace(here, slices.Concat([]byte("["), bytes.TrimPrefix(behind, []byte(",")), []byte("]")))
	case c.Gone && len(c.Behind) == 0:
		x.Drop(here)
	case c.Gone:
		x.Replace(here, behind[1:])
	case len(c.Behind) > 0 && alone:
		x.Insert(here.From, []byte("["+x.Before))
		why = x.texts(here, c.Texts)
		x.Insert(here.To(), slices.Concat([]byte(x.After), behind, []byte("]")))
	default:
		why = x.texts(here, c.Texts)
		if len(c.Behind) > 0 {
			x.Insert(here.To(), behind)
		}
	}
	return why
}

func (x *edit) place(el Element) Place {
	return Place{x.body[el.Offset : el.Offset+el.Length : el.Offset+el.Length], el.Offset}
}

// held says why a message cannot be changed as it is, or left out.
func (x *edit) held(c Change, el Element) (why string) {
	if c.Gone && x.e.Previous != "" {
		return "the provider holds what stands before it"
	}
	var fixed Fixed
	if x.Message != nil {
		fixed = x.Message(x.place(el).JSON, el.At).Fixed
	}
	switch {
	case fixed == "" || c.Gone && fixed == Reasoned:
		return ""
	case fixed == Reasoned:
		return "it holds reasoning"
	case fixed == Media:
		return "it holds an image, a document or a sound"
	case fixed == Sealed:
		return "it holds what only the provider can read, or what steers it"
	}
	return "it holds something that is not known"
}

// texts puts texts into a message, or says why it cannot.
func (x *edit) texts(message Place, texts map[string]string) (why string) {
	if len(texts) == 0 {
		return ""
	}
	if x.Texts == nil {
		return "its text cannot be changed"
	}
	if text, ok := texts[""]; ok && strings.TrimSpace(text) == "" {
		return "no text may be empty"
	}
	t := Texts{&x.Splice, texts, make(map[string]int, len(texts))}
	if why := x.Texts(&t, message); why != "" {
		return why
	}
	for call := range texts {
		if t.asked[call] != 1 {
			return "it does not hold each of these texts once"
		}
	}
	return ""
}

// said spells messages in the user's place, each behind a comma.
func (x *edit) said(texts []string) (dst []byte) {
	for _, text := range texts {
		if dst = append(dst, ','); x.User != nil {
			dst = x.User(dst, quoted(text))
		}
	}
	return dst
}

// behind says why no message may be put between these two.
func (x *edit) behind(c Change, before, after int) (why string) {
	switch {
	case x.User == nil:
		return "nothing can be put behind it"
	case x.e.Previous != "" && c.At != len(x.e.Messages)-1:
		return "the provider holds what stands before it"
	case slices.ContainsFunc(c.Behind, func(text string) bool { return strings.TrimSpace(text) == "" }):
		return "no text may be empty"
	case x.Between == nil:
		return ""
	}
	return x.Between(x.raw(before), x.raw(after))
}

// raw returns a message, and nil where there is none.
func (x *edit) raw(i int) JSON {
	if i < 0 || i >= len(x.e.Messages) {
		return nil
	}
	if el := x.e.Messages[i]; el.Offset >= 0 && el.Length > 0 && el.Offset <= len(x.body)-el.Length {
		return x.place(el).JSON
	}
	return nil
}

// isAlone reports whether a JSON pointer is to a value that stands in the place of a list.
func isAlone(at string) bool {
	return strings.Trim(at[strings.LastIndexByte(at, '/')+1:], "0123456789") != ""
}
