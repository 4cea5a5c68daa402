package sim

import "ambit/provider"

// Known are the scenarios that are known to break a law, and are played only when asked for. Whoever mends one takes its
// line, and what keeps it from being played, away.
func Known() []string {
	return []string{
		"what is told stands natively at the end of a request that nobody answers, and the user goes on behind it: it is spelled otherwise",
	}
}

// respelled is how many elements at the end of the request before may be spelled otherwise in this one: what was told there
// natively, and the user's message before it, where nobody answered.
func (m *model) respelled() int {
	if m.w.known {
		return 0
	}
	return m.native
}

// native is how many messages at the end of a request are of what is told, and one before them; 0 for none.
func native(wire string, atoms []atom) (n int) {
	for i := len(atoms) - 1; i > 0 && wire == provider.TypeMessages && atoms[i].kind == "told"; i-- {
		n++
	}
	if n > 0 {
		n++
	}
	return n
}
