package conversation

import (
	"slices"
	"strings"
	"unicode"

	"ambit/internal/reading"
	"ambit/provider"
	"ambit/unit"
)

// said is what an answer says, without what clients spell otherwise when they send it again: how its text is divided, and
// the white space in it.
type said struct {
	text, tools string
	calls       []string
}

// answer takes in a decoded answer.
func (s *said) answer(a provider.Answer) {
	s.text += squeeze(a.Text)
	for _, text := range a.Results {
		s.tools += squeeze(text)
	}
	s.call(a.Calls)
}

// message takes in a message of an assistant, or a part of one.
func (s *said) message(m provider.Message) {
	for _, text := range m.Texts {
		switch text.Said {
		case provider.SaidArgument:
		case provider.SaidTool:
			s.tools += squeeze(text.Text)
		default:
			s.text += squeeze(text.Text)
		}
	}
	s.call(m.Calls)
}

// call takes in calls. What has no id is known by what it says.
func (s *said) call(calls []provider.Call) {
	for _, c := range calls {
		id := reading.ID(c.ID)
		if id == "" {
			id = c.Name + " " + squeeze(string(c.Args))
		}
		s.calls = append(s.calls, id)
	}
}

// is reports whether both say the same: they make the same calls, or without calls their texts are the same.
func (s *said) is(o *said) bool {
	return slices.Equal(s.calls, o.calls) && (len(s.calls) > 0 || s.text == o.text && s.tools == o.tools)
}

// empty reports whether nothing is said.
func (s *said) empty() bool { return s.text == "" && s.tools == "" && len(s.calls) == 0 }

// saying is all that a unit says as one text, by which it is known however it is spelled and divided.
func saying(u unit.Unit) string {
	texts, ids := "", ""
	for i := range u.Parts {
		p := &u.Parts[i]
		texts += squeeze(p.Text)
		if p.Kind != unit.Text {
			ids += " " + string(p.Kind) + " " + reading.ID(p.ID)
		}
	}
	return strings.Join([]string{string(u.Role), ids, texts}, "\n")
}

// squeeze leaves white space out of a text.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}
