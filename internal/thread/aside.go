package thread

import "strings"

// first is the place of a request without a parent.
func (x *Index) first(r Request) Place {
	p := Place{Parent: None, Relation: Root, Owner: None, About: None}
	switch {
	case r.Agent:
		p.Relation, p.Evidence = Agent, ByHeader
	case !r.Tools:
		p.Relation, p.About = Side, x.newestQuoted(r, None, func(at, _ int) bool { return x.nodes[at].Tools })
		if p.About == None {
			p.About = x.mentions(r)
		}
	default:
		p.About = x.mentioned(r)
	}
	return p
}

const (
	maxOpening = 4 << 10 // bytes of what a request says first that are kept
	maxAside   = 32      // roots, and side requests, among which one is sought that begins with the same words
)

// opening is what a root says first, or all that a side request says in its first messages.
func opening(r Request, of Relation) string {
	var all []string
	for i := range min(len(r.Elements), maxFirst) {
		said := strings.TrimSpace(r.Read(i).Said)
		if said = strings.Clone(said[:min(len(said), maxOpening)]); said != "" && of == Root {
			return said
		}
		all = append(all, said)
	}
	if of != Side {
		return ""
	}
	return strings.Join(all, "\n")
}

// mentions is the root whose first words stand in a side request, such as one for a title; or None. Of several it is the
// one most of whose newest answers do, too, and then the newest.
func (x *Index) mentions(r Request) int {
	said := opening(r, Side)
	best, most := None, -1
	x.openings(r, Root, func(at int, first string) bool {
		if !says(said, first) {
			return true
		}
		if answers := x.answersIn(r, at); answers > most {
			best, most = at, answers
		}
		return true
	})
	return best
}

// maxAnswers bounds the answers of a thread that are sought in a side request, the newest; minAnswer the shortest of them,
// in bytes.
const (
	maxAnswers = 16
	minAnswer  = 8
)

// answersIn counts the newest answers of a root's thread that stand in a request.
func (x *Index) answersIn(r Request, root int) int {
	count, looked := 0, 0
	for at := len(x.nodes) - 1; at >= root && looked < maxAnswers; at-- {
		text := strings.TrimSpace(x.nodes[at].text)
		if !x.together(at, root) || len(text) < minAnswer {
			continue
		}
		looked++
		for i := range min(len(r.Elements), maxFirst) {
			if strings.Contains(r.Read(i).Said, text) {
				count++
				break
			}
		}
	}
	return count
}

// mentioned is the newest side request in which the first words of a root stand; or None.
func (x *Index) mentioned(r Request) int {
	first, found := opening(r, Root), None
	x.openings(r, Side, func(at int, said string) bool {
		if says(said, first) {
			found = at
		}
		return found == None
	})
	return found
}

// says reports whether a text holds the first words of a conversation: a few of them are a line of their own.
func says(text, first string) bool {
	if len(first) >= minArgument {
		return strings.Contains(text, first)
	}
	return first != "" && strings.Contains("\n"+text+"\n", "\n"+first+"\n")
}

// openings calls visit with what the newest nodes of a relation say first, until that is enough.
func (x *Index) openings(r Request, relation Relation, visit func(at int, opening string) (more bool)) {
	looked := 0
	for at := len(x.nodes) - 1; at >= 0 && looked < maxAside; at-- {
		n := &x.nodes[at]
		if n.Relation != relation || Wire(n.Key) != Wire(r.Key) {
			continue
		}
		looked++
		x.reopen(at)
		if !visit(at, n.opening) {
			return
		}
	}
}

// open notes what a node's request says.
func (n *node) open(r Request) {
	n.opened, n.opening = true, opening(r, n.Relation)
	if last := len(r.Elements) - 1; last >= 0 {
		said := strings.ToLower(r.Read(last).Said)
		n.summary = strings.Contains(said, "summar") || strings.Contains(said, "compact")
	}
}

// reopen reads what a node's request says again, where it was placed before.
func (x *Index) reopen(at int) {
	if n := &x.nodes[at]; !n.opened && x.Request != nil {
		n.opened = true
		if was, ok := x.Request(at); ok {
			n.open(was)
		}
	}
}
