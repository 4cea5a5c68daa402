package provider

import (
	"errors"
	"fmt"
	"strconv"

	"ambit/view"
)

// LowerParams is what a request says beside its view.
type LowerParams struct {
	Type      string // what is asked for, one of the Type constants; empty for the family's own: messages, responses, generate
	Model     string // empty to name none
	MaxTokens int    // the most that the answer may have, in tokens; 0 to say nothing
	Stream    bool   // the answer is to come in pieces

	// Wrap says that the model takes no system message inside the conversation, though its wire has a place for one: system
	// units there are sent as the user's text, see Update. A wire without such a place does it always.
	Wrap bool

	// Rest is what else the body has at its top, in order. What a family would add by itself, such as store or
	// stream_options, it leaves to Rest where that has it.
	Rest []Member
}

// Has reports whether a member of the name is among the rest.
func (p LowerParams) Has(name string) bool {
	for _, m := range p.Rest {
		if m.Name == name {
			return true
		}
	}
	return false
}

// Header is one header of a request.
type Header struct{ Name, Value string }

// ContentType is the header that every request of a family has.
func ContentType() Header { return Header{"content-type", "application/json"} }

// ErrForeign says that a part of a view is spelled as another wire spells it, and so can never be sent on this one: a thought
// or a signature, say. Public makes such a unit one that any wire can take.
var ErrForeign = errors.New("it is spelled as another wire spells it")

// ErrSpelled says that a part has a spelling that does not say what the part is.
var ErrSpelled = errors.New("it is spelled as something else than it is")

// FailedSilently stands in place of the text of a result that failed and says nothing: Anthropic refuses an empty one.
const FailedSilently = "The tool failed and said nothing."

// Lowering is a body that is being written. The first error sticks. The zero value is ready.
type Lowering struct {
	Out []byte // what was written

	named map[string]bool // the body's members so far
	err   error
}

// Byte writes one byte.
func (l *Lowering) Byte(c byte) { l.Out = append(l.Out, c) }

// String writes s as it is.
func (l *Lowering) String(s string) { l.Out = append(l.Out, s...) }

// Text writes a text as a JSON string, as AppendText does.
func (l *Lowering) Text(s string) { l.Out = AppendText(l.Out, s) }

// JSON writes a JSON value in canonical form. The ref is of the unit, or the name of the member, that it is of.
func (l *Lowering) JSON(ref string, v []byte) {
	out, err := AppendMinimal(l.Out, v)
	if err != nil {
		l.Fail(ref, err)
		return
	}
	l.Out = out
}

// Fail notes what is wrong with a unit or a member, unless something was before.
func (l *Lowering) Fail(ref string, err error) {
	if l.err == nil {
		l.err = fmt.Errorf("lower %q: %w", ref, err)
	}
}

// Comma stands before everything but the first of a list.
func (l *Lowering) Comma() {
	if last := l.Out[len(l.Out)-1]; last != '{' && last != '[' {
		l.Byte(',')
	}
}

// Member begins a member of the body. One that it has already is an error.
func (l *Lowering) Member(name string) {
	if l.named == nil {
		l.named = map[string]bool{}
	}
	if l.named[name] {
		l.Fail(name, errors.New("the body would have it twice"))
	}
	l.named[name] = true
	l.Comma()
	l.Text(name)
	l.Byte(':')
}

// Named reports whether the body has a member of the name already.
func (l *Lowering) Named(name string) bool { return l.named[name] }

// Params writes the model, how long the answer may be, under the name that the wire has for it, and whether it is streamed.
func (l *Lowering) Params(p LowerParams, maxTokens string) {
	if p.Model != "" {
		l.Member("model")
		l.Text(p.Model)
	}
	if p.MaxTokens > 0 {
		l.Member(maxTokens)
		l.Out = strconv.AppendInt(l.Out, int64(p.MaxTokens), 10)
	}
	if p.Stream {
		l.Member("stream")
		l.String("true")
	}
}

// Default writes a member that Rest may have instead.
func (l *Lowering) Default(p LowerParams, name, value string) {
	if !p.Has(name) {
		l.Member(name)
		l.String(value)
	}
}

// Rest writes what else the body has.
func (l *Lowering) Rest(rest []Member) {
	for _, m := range rest {
		l.Member(m.Name)
		l.JSON(m.Name, m.Value)
	}
}

// Body returns what was written, or the first error.
func (l *Lowering) Body() ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	return l.Out, nil
}

// NotLowered says that a family makes no requests of a type.
func NotLowered(kind string) error {
	return fmt.Errorf("lower: no view is made a request of type %q", kind)
}

// LoweredSize is about how long the body of a view will be, in bytes.
func LoweredSize(v view.View) int {
	n := 256
	for i := range v.Tools {
		n += 64 + len(v.Tools[i].Description) + len(v.Tools[i].Schema) + len(v.Tools[i].Raw)
	}
	for i := range v.Segments {
		n += 64 + v.Segments[i].Unit.Bytes()*9/8 + 128*len(v.Segments[i].Unit.Parts)
	}
	return n
}
