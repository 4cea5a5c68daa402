package provider

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"ambit/unit"
	"ambit/view"
)

// Layout is what is sent of a view, in order: the system of the wire, and the conversation. Its segments are the view's, but for
// those that were wrapped. One that holds nothing that is sent is there only if it has a cache marker.
type Layout struct {
	System   []*view.Segment
	Messages []*view.Segment
}

// Lay parts a view into what is the system and what the conversation under a contract, and wraps the system units that may
// not stand where they are. The error is a *view.OrderError or a *unit.ContractError; a system unit between a call and its
// result breaks every contract. The view is not changed.
func Lay(v view.View, c unit.Contract, p LowerParams) (Layout, error) {
	if err := v.Check(); err != nil {
		return Layout{}, err
	}
	var l Layout
	for i := range v.Segments {
		s := &v.Segments[i]
		based := s.Layer == view.Role || s.Layer == view.Stable
		switch {
		case s.Unit.Raw == nil && !slices.ContainsFunc(s.Unit.Parts, Sent) && s.Mark == view.NoMark:
		case s.Unit.Role == unit.System && (based || len(l.Messages) == 0 && s.Unit.Raw == nil):
			l.System = append(l.System, s)
		default:
			l.Messages = append(l.Messages, s)
		}
	}
	between := betweenCalls(l.Messages)
	if err := l.wrap(c, p.Wrap); err != nil {
		return Layout{}, err
	}
	units := make([]unit.Unit, len(l.Messages))
	for i, s := range l.Messages {
		units[i] = s.Unit
	}
	if err := unit.Check(units, c); err != nil {
		return Layout{}, err
	}
	if between != nil {
		return Layout{}, between
	}
	return l, nil
}

// betweenCalls returns what is wrong with the first system unit that stands between a call and its result; nil if none does.
func betweenCalls(segments []*view.Segment) error {
	open := map[string]string{} // the ref of the unit that makes each call
	for i, s := range segments {
		for j := range s.Unit.Parts {
			switch p := &s.Unit.Parts[j]; p.Kind {
			case unit.Call:
				open[p.ID] = s.Unit.Ref
			case unit.Result:
				delete(open, p.ID)
			}
		}
		if s.Unit.Role != unit.System || len(open) == 0 {
			continue
		}
		e := &unit.ContractError{Rule: unit.SystemAt, At: i}
		for id, ref := range open {
			if e.Refs == nil || id < e.Call {
				e.Call, e.Refs = id, []string{s.Unit.Ref, ref}
			}
		}
		return e
	}
	return nil
}

// wrap puts the user's text in place of the system units that may not stand where they are. One that is spelled as a whole stays.
func (l *Layout) wrap(c unit.Contract, all bool) error {
	for i, s := range l.Messages {
		if s.Unit.Role != unit.System || s.Unit.Raw != nil || !all && l.native(i, c.System) {
			continue
		}
		wrapped := *s
		wrapped.Unit.Role, wrapped.Unit.Parts = unit.User, nil
		for _, p := range s.Unit.Parts {
			if p.Kind != unit.Text {
				return &unit.ContractError{Rule: unit.SystemAt, At: i, Refs: []string{s.Unit.Ref}}
			}
			if Sent(p) {
				wrapped.Unit.Parts = append(wrapped.Unit.Parts, unit.Part{Kind: unit.Text, Text: Update(p.Text)})
			}
		}
		l.Messages[i] = &wrapped
	}
	return nil
}

// native reports whether the system unit at i may stand there. Behind a user's that is before the model's answer, or at
// the end: Anthropic refuses one that the user goes on behind.
func (l *Layout) native(i int, place unit.SystemPlace) bool {
	switch place {
	case unit.Leading:
		return false
	case unit.AfterUser:
		before, after := i-1, i+1
		for before >= 0 && l.Messages[before].Unit.Role == unit.System {
			before--
		}
		for after < len(l.Messages) && l.Messages[after].Unit.Role == unit.System {
			after++
		}
		return before >= 0 && l.Messages[before].Unit.Role != unit.Assistant &&
			(after == len(l.Messages) || l.Messages[after].Unit.Role == unit.Assistant)
	}
	return true
}

// Update is the text by which a system message is told in the user's place: between <system-update> and </system-update>, each
// on a line of its own, with &, < and > as &amp;, &lt; and &gt;, so that no text can end it early.
func Update(text string) string {
	return "<system-update>\n" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text) + "\n</system-update>"
}

// Sent reports whether a part is written: all but a text that is blank, which providers refuse.
func Sent(p unit.Part) bool { return p.Kind != unit.Text || p.Raw != nil || !Blank(p.Text) }

// Blank reports whether a text is empty or has nothing but white space.
func Blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }) == ""
}

// Says is the text of a result as it is sent.
func Says(p unit.Part) string {
	if p.Failed && Blank(p.Text) {
		return FailedSilently
	}
	return p.Text
}

// SystemTexts are the texts of the system's segments, in order, without those that are blank. The system says texts and nothing
// else: the error names the ref of a segment that holds more.
func SystemTexts(segments []*view.Segment) (texts []string, ref string, err error) {
	for _, s := range segments {
		for _, p := range s.Unit.Parts {
			if p.Kind != unit.Text || p.Raw != nil || s.Unit.Raw != nil {
				return nil, s.Unit.Ref, errNoText
			}
			if Sent(p) {
				texts = append(texts, p.Text)
			}
		}
	}
	return texts, "", nil
}

var errNoText = errors.New("the system says texts and nothing else")

// Public returns a unit as any wire can take it: its texts, calls and results, without what is opaque and without any wire's
// own spelling. It is for units that go to another provider or model than the one that made them; what is opaque, thoughts and
// signatures among it, is dropped. The unit that was given is not changed.
func Public(u unit.Unit) unit.Unit {
	parts := make([]unit.Part, 0, len(u.Parts))
	for _, p := range u.Parts {
		if p.Kind != unit.Opaque {
			p.Raw = nil
			parts = append(parts, p)
		}
	}
	u.Parts, u.Raw = parts, nil
	return u
}
