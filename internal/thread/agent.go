package thread

import (
	"strings"
	"time"
)

// minArgument is the shortest argument that shows whose a sub-agent is, in bytes; a shorter one stands in a request by
// chance.
const minArgument = 24

const (
	maxOpen   = 256 // calls that are looked at, the newest
	maxClosed = 64  // calls that are kept when they are not open any more
	maxFirst  = 4   // messages at a request's start in which an argument is sought

	maxTask = 64 << 10 // bytes of such a message in which it is
)

// maxWait is how long a sub-agent may begin after the request whose answer called for it, where several calls ask for
// the same.
const maxWait = time.Hour

// asked finds the open call one of whose whole arguments stands in the first messages of a request: the call that asks
// for most of it. Of several that ask for the same it is the first of the last hour that no sub-agent works for yet, as
// they start in the order of their calls; else the newest. Of a call that was open lately, and of an argument of one
// word, such as a path, the argument must be all that a message says.
func (x *Index) asked(r Request) (Place, bool) {
	var first []string
	for i := range min(len(r.Elements), maxFirst) {
		if said := strings.TrimSpace(r.Read(i).Said); len(said) >= minArgument {
			first = append(first, said[:min(len(said), maxTask)])
		}
	}
	var best *openCall
	most, looked := 0, 0
	for i := len(x.opened) - 1; i >= 0 && looked < maxOpen && len(first) > 0; i-- {
		open := x.open[x.opened[i]]
		if open == nil || Wire(x.opened[i].key) != Wire(r.Key) {
			continue
		}
		looked++
		x.fetch(int(open.node))
		length := open.asksFor(first)
		waits := !open.taken && r.At.Sub(x.nodes[open.node].At) <= maxWait
		if length > most || length == most && length > 0 && waits && (best.done || !open.done) {
			best, most = open, length
		}
	}
	if best == nil {
		return Place{}, false
	}
	return Place{Parent: None, Relation: Agent, Evidence: ByArgument, Owner: int(best.node), Call: best.call.ID, About: None}, true
}

// Wire is the part of a key that names the wire.
func Wire(key string) string {
	wire, _, _ := strings.Cut(key, "/")
	return wire
}

// asksFor is how much of one of the texts a call asks for: the length of the longest of its arguments that stands in one,
// 0 when none does.
func (c *openCall) asksFor(texts []string) int {
	most := 0
	for _, arg := range c.call.Args {
		arg = strings.TrimSpace(arg)
		if len(arg) < minArgument || len(arg) <= most {
			continue
		}
		part := !c.done && strings.ContainsAny(arg, " \n")
		for _, text := range texts {
			if text == arg || part && strings.Contains(text, arg) {
				most = len(arg)
				break
			}
		}
	}
	return most
}
