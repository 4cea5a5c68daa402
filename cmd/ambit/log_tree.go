package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
)

// treeWidth is how wide the tree is, in characters; leastText is how much of a text there is, however deep it hangs.
const (
	treeWidth = 100
	leastText = 24
)

// printTree prints a session as the tree of its threads: a line from one prompt to the next, and what hangs on it.
func (e *env) printTree(ctx context.Context, d *journal.Dir, name, thread string) error {
	t, damage, err := e.openTalk(ctx, d, name, false)
	if err != nil {
		return err
	}
	g := t.grow(ctx)
	if thread == "" {
		t.printSession(ctx)
		t.line("")
		t.draw(g.threads(g.roots), "", true)
		t.draw(t.rest(), "", true)
		return t.lacks(name, damage)
	}
	i := slices.IndexFunc(g.all, func(of pool.Thread) bool { return of.Name == thread })
	if i >= 0 {
		t.draw(g.threads(g.all[i:i+1]), "", true)
	} else if damage == nil {
		return e.noThread(name, thread)
	}
	return t.lacks(name, damage)
}

// twig is a line of the tree, with what hangs on it.
type twig struct {
	n     int    // the request by which it has its place among others
	label string // its requests
	text  string
	right string // what stands at the line's end
	on    []twig
}

// draw prints twigs one below the other, behind what stands before them; those at the bottom hang on nothing.
func (t *talk) draw(twigs []twig, before string, bottom bool) {
	wide, right := 0, 0
	for _, w := range twigs {
		wide, right = max(wide, utf8.RuneCountInString(w.label)), max(right, utf8.RuneCountInString(w.right))
	}
	for i, w := range twigs {
		line, below := before, before
		switch {
		case bottom:
		case i < len(twigs)-1:
			line, below = before+"├─ ", before+"│  "
		default:
			line, below = before+"└─ ", before+"   "
		}
		if w.label != "" {
			line += fmt.Sprintf("%-*s  ", wide, w.label)
		}
		most := treeWidth
		if w.right != "" {
			most -= right + 2
		}
		line += shortened(w.text, max(leastText, most-utf8.RuneCountInString(line)))
		if w.right != "" {
			line = fmt.Sprintf("%-*s  %*s", most, line, right, w.right)
		}
		t.line("%s", line)
		t.draw(w.on, below, false)
	}
}

// shortened is a text in one line, of so many characters at most.
func shortened(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}

// growth is what hangs on what in a session.
type growth struct {
	*talk
	all, roots []pool.Thread
	on         map[int][]pool.Thread // by request
	prompts    map[int]string        // by the request in which they first passed
	openings   map[int]string        // likewise, what the client put into a frame of its own
	repeated   map[int]int           // by request, the one that tried it again
}

// grow finds on which request each thread hangs: a sub-agent's on the one whose answer called for it, a side request on
// the newest that it is about. Both came before, so nothing hangs on itself.
func (t *talk) grow(ctx context.Context) *growth {
	g := &growth{
		talk: t, all: t.pool.Threads(), on: make(map[int][]pool.Thread),
		prompts: make(map[int]string), openings: make(map[int]string), repeated: make(map[int]int),
	}
	for _, of := range g.all {
		first := g.relation(of.Requests[0])
		at := of.Owner
		if of.How == entry.Side {
			at = first.About
		}
		if owner := g.relation(at); owner == nil || owner.Thread == "" || owner.How == entry.Count || at >= first.N {
			g.roots = append(g.roots, of)
		} else {
			g.on[at] = append(g.on[at], of)
		}
		met := make(map[string]bool)
		for _, n := range of.Requests {
			r := g.relation(n)
			if r.How == entry.Again && g.repeated[r.Parent] == 0 {
				g.repeated[r.Parent] = n
			}
			prompt, opening := t.prompt(ctx, n)
			if r.How != entry.ClientEdit || !met[prompt] { // a client that changes what was said says it again
				g.prompts[n], g.openings[n] = prompt, opening
			}
			met[prompt] = true
		}
	}
	return g
}

// relation is a request's, nil when there is none.
func (g *growth) relation(n int) *entry.Relation {
	if x := g.pool.Exchange(n); x != nil {
		return x.Relation
	}
	return nil
}

// prompt is what a person said first in a request: the last text of the user. What begins with an angle bracket is a
// client's own, and comes apart.
func (t *talk) prompt(ctx context.Context, n int) (prompt, framed string) {
	for _, u := range t.units[n] {
		if u.Role != "user" || u.Answers() {
			continue
		}
		said, err := t.said(ctx, u)
		if errors.Is(err, journal.ErrPurged) {
			prompt = "(purged)"
		} else if err != nil {
			prompt = "(cannot be read)"
		}
		for _, text := range said.Texts {
			switch begin := strings.TrimSpace(text.Text); {
			case text.Said != provider.SaidUser || begin == "":
			case begin[0] == '<':
				framed = begin
			default:
				prompt = begin
			}
		}
	}
	return prompt, framed
}

// threads are the twigs of threads, with their stretches.
func (g *growth) threads(threads []pool.Thread) []twig {
	var twigs []twig
	for _, of := range threads {
		w := twig{n: of.Requests[0], text: heading(of)}
		about := ""
		if n := g.relation(w.n).About; of.How == entry.Side && n != 0 {
			about = fmt.Sprintf(", about #%d", n)
			w.text += about
		}
		counts := 0
		for _, n := range of.Requests {
			if g.relation(n).How == entry.Count {
				counts++
			}
		}
		if counts > 0 {
			w.text += fmt.Sprintf(", %s of them only to count tokens", count(counts))
		}
		for _, r := range g.stretches(of) {
			w.on = append(w.on, g.stretch(r))
		}
		for _, d := range g.own[0] {
			if d.Thread == of.Name {
				w.on = append(w.on, twig{n: of.Requests[len(of.Requests)-1], text: "from the next request on: " + boundaryText(d)})
			}
		}
		if of.How == entry.Side && len(of.Requests) == 1 && len(w.on) == 1 && len(w.on[0].on) == 0 { // clients have many: a line each
			w = w.on[0]
			w.text = of.Name + ", a side request" + about + ": " + w.text
		}
		twigs = append(twigs, w)
	}
	return twigs
}

// stretch is requests of a thread that simply go on from one another.
type stretch struct {
	requests []int
	before   int // the request before them in the thread, 0 for none
}

// stretches divides a thread where a person said something, where the conversation was changed, and where a part begins or
// ends that was left behind. What only counts tokens is in none.
func (g *growth) stretches(of pool.Thread) []stretch {
	var runs []stretch
	last := 0
	for _, n := range of.Requests {
		if g.relation(n).How == entry.Count {
			continue
		}
		if last == 0 || g.prompts[n] != "" || g.turn(n, last) != "" || g.requests[n] != g.requests[last] {
			runs = append(runs, stretch{before: last})
		}
		r := &runs[len(runs)-1]
		r.requests = append(r.requests, n)
		last = n
	}
	return runs
}

// turn says how a request stands to others of its thread, where it does not simply go on from the one before it.
func (g *growth) turn(n, before int) string {
	r := g.relation(n)
	switch {
	case r.How == entry.Rewind:
		return fmt.Sprintf("went back to #%d", r.Parent)
	case r.How == entry.ClientCompaction:
		if from, to := g.tokens(r.Parent), g.tokens(n); from != 0 && to != 0 {
			return fmt.Sprintf("compacted, %s tokens to %s", count(from), count(to))
		}
		return "compacted"
	case r.Parent == 0 || g.repeats(before, r.Parent):
		return ""
	case r.How == entry.Again:
		return fmt.Sprintf("#%d again", r.Parent)
	}
	return fmt.Sprintf("goes on from #%d", r.Parent)
}

// repeats reports whether a request is another, or tries that again.
func (g *growth) repeats(n, other int) bool {
	for n > other {
		r := g.relation(n)
		if r == nil || r.How != entry.Again || r.Parent >= n {
			return false
		}
		n = r.Parent
	}
	return n == other
}

// tokens is how many a request took, 0 where that is not known.
func (g *growth) tokens(n int) int64 {
	if x := g.pool.Exchange(n); x != nil && x.Response != nil && x.Response.Usage != nil {
		return x.Response.Usage.Input
	}
	return 0
}

// stretch is the twig of a stretch.
func (g *growth) stretch(r stretch) twig {
	first := r.requests[0]
	w := twig{n: first, label: span(r.requests), text: g.prompts[first]}
	turn := g.turn(first, r.before)
	switch {
	case turn != "" && w.text != "":
		w.text = turn + ": " + w.text
	case w.text != "":
	case turn != "":
		w.text = turn
	case r.before == 0 && g.openings[first] != "":
		w.text = g.openings[first]
	case r.before == 0:
		w.text = "(no prompt)"
	default:
		w.text = fmt.Sprintf("goes on from #%d", r.before)
	}
	if g.requests[first] {
		w.text = "(left behind) " + w.text
	}
	for _, n := range slices.Backward(r.requests) {
		if tokens := g.tokens(n); tokens != 0 {
			w.right = count(tokens) + " tokens"
			break
		}
	}
	w.on = g.notes(r.requests)
	for _, n := range r.requests {
		w.on = append(w.on, g.threads(g.on[n])...)
	}
	slices.SortStableFunc(w.on, func(a, b twig) int { return a.n - b.n })
	return w
}

// notes are twigs of what else is to be said of requests; of those behind one another with the same note, one.
func (g *growth) notes(requests []int) []twig {
	var twigs []twig
	for len(requests) > 0 {
		text, same := g.note(requests[0]), 1
		for same < len(requests) && g.note(requests[same]) == text {
			same++
		}
		last := requests[same-1]
		if again := g.repeated[last]; text != "" && again != 0 {
			text += fmt.Sprintf(", tried again as #%d", again)
		}
		if text != "" {
			twigs = append(twigs, twig{n: requests[0], label: span(requests[:same]), text: text})
		}
		requests = requests[same:]
	}
	return twigs
}

// note is what is to be said of a request besides what it asks.
func (g *growth) note(n int) string {
	var all []string
	for _, d := range g.own[n] {
		all = append(all, boundaryText(d))
	}
	if left := len(g.pruned[n]); left > 0 {
		all = append(all, plural(left, "result", "results")+" left out from here on")
	} else if g.relation(n).How == entry.ClientEdit {
		all = append(all, "earlier messages changed by the client")
	}
	switch a := g.pool.Exchange(n).Response; {
	case a == nil:
		all = append(all, "no response is recorded")
	case a.End != entry.EndComplete:
		all = append(all, strings.TrimSpace(string(a.End)+" "+a.Error))
	case a.Status >= 400:
		all = append(all, "answered with "+status(a.Status))
	}
	if g.answers[n] && !g.requests[n] {
		all = append(all, "the answer was left behind")
	}
	return strings.Join(all, "; ")
}

// span is requests of a thread by their numbers, the first and the last.
func span(requests []int) string {
	first, last := requests[0], requests[len(requests)-1]
	if first == last {
		return fmt.Sprintf("#%d", first)
	}
	return fmt.Sprintf("#%d–%d", first, last)
}

// rest is the twig of what is in no thread, by what was asked for.
func (t *talk) rest() []twig {
	var kinds []twig
	total := 0
	for i := range t.pool.Exchanges {
		x := &t.pool.Exchanges[i]
		if x.Relation != nil && x.Relation.Thread != "" {
			continue
		}
		total++
		what := x.Request.Type
		if what == "" {
			path, _, _ := strings.Cut(x.Request.Path, "?")
			what = x.Request.Method + " " + path
		}
		at := slices.IndexFunc(kinds, func(w twig) bool { return w.text == what })
		if at < 0 {
			at, kinds = len(kinds), append(kinds, twig{text: what})
		}
		kinds[at].n++
		kinds[at].label = count(kinds[at].n) + "×"
	}
	if total == 0 {
		return nil
	}
	return []twig{{text: "in no thread, " + plural(total, "request", "requests"), on: kinds}}
}
