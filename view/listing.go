package view

import (
	"fmt"
	"strings"

	"ambit/unit"
)

// maxShown is how much of a text a listing shows, in characters.
const maxShown = 48

// String lists the view for review, one line for each tool and each segment: its layer, role and ref, what it says,
// abbreviated, its estimated tokens and its marker. It ends with a newline unless it is empty.
func (v View) String() string {
	var b strings.Builder
	for i := range v.Tools {
		t := &v.Tools[i]
		line(&b, "[tool]", "", t.Name, shown(t.Description), 0, t.Mark)
	}
	for i := range v.Segments {
		s := &v.Segments[i]
		said := says(s.Unit)
		if s.Apart {
			said = "| " + said
		}
		line(&b, "["+string(s.Layer)+"]", string(s.Unit.Role), s.Unit.Ref, said, s.EstTokens, s.Mark)
	}
	return b.String()
}

func line(b *strings.Builder, layer, role, ref, said string, tokens int, mark Mark) {
	text := fmt.Sprintf("%-9s %-9s %-4s %s", layer, role, ref, said)
	if tokens > 0 {
		text += fmt.Sprintf("  ~%d", tokens)
	}
	if mark != NoMark {
		text += "  <" + string(mark) + ">"
	}
	b.WriteString(strings.TrimRight(text, " ") + "\n")
}

// says is what a unit says, on a part of a line.
func says(u unit.Unit) string {
	var said []string
	for i := range u.Parts {
		switch p := &u.Parts[i]; p.Kind {
		case unit.Text:
			said = append(said, shown(p.Text))
		case unit.Call:
			said = append(said, fmt.Sprintf("%s %s(%s)", p.ID, p.Name, shown(string(p.Args))))
		case unit.Result:
			failed := map[bool]string{true: " failed"}[p.Failed]
			said = append(said, fmt.Sprintf("%s%s -> %s", p.ID, failed, shown(p.Text)))
		default:
			said = append(said, shown(string(p.Raw)))
		}
	}
	return strings.Join(said, " · ")
}

// shown is the beginning of a text, in one line.
func shown(text string) string {
	n := 0
	for at := range text {
		if n == maxShown {
			text = text[:at] + "…"
			break
		}
		n++
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}
