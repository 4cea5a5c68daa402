package conversation

import (
	"slices"
	"strings"

	"ambit/provider"
	"ambit/unit"
)

// Unit makes a unit of what a message says in public: its results, its texts and its calls, in the order in which the
// message has each kind. In an assistant's the results, of tools that the provider ran, stand behind the calls. The ref is
// that of the entry which has it.
func Unit(ref string, m provider.Message) unit.Unit {
	u := unit.Unit{Ref: ref, Role: roleOf(m)}
	results := make(map[string]int)
	for _, id := range m.Results {
		if _, ok := results[id]; !ok {
			results[id] = len(u.Parts)
			u.Parts = append(u.Parts, unit.Part{Kind: unit.Result, ID: id})
		}
	}
	for _, text := range m.Texts {
		i, ok := results[text.Call]
		switch {
		case text.Said == provider.SaidArgument:
		case text.Said == provider.SaidTool && text.Call != "" && ok:
			u.Parts[i].Text = joined(u.Parts[i].Text, text.Text)
		default:
			u.Parts = append(u.Parts, unit.Part{Kind: unit.Text, Text: text.Text})
		}
	}
	for _, c := range m.Calls {
		u.Parts = append(u.Parts, unit.Part{Kind: unit.Call, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	if n := len(results); u.Role == unit.Assistant && n > 0 {
		u.Parts = slices.Concat(u.Parts[n:], u.Parts[:n])
	}
	return u
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// roleOf is who says a message: a tool, where nobody else says anything in it.
func roleOf(m provider.Message) unit.Role {
	switch m.Role {
	case "assistant", "model":
		return unit.Assistant
	case "system", "developer":
		return unit.System
	}
	if len(m.Results) == 0 {
		return unit.User
	}
	for _, text := range m.Texts {
		if text.Said != provider.SaidTool {
			return unit.User
		}
	}
	return unit.Tool
}

// Text is all that a unit says in words, without the arguments of its calls.
func Text(u unit.Unit) string {
	var b strings.Builder
	for _, p := range u.Parts {
		if p.Kind == unit.Text || p.Kind == unit.Result {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
