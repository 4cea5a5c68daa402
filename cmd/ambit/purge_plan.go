package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// sharing is a session that has bodies in common with one that is to be purged.
type sharing struct {
	Session string `json:"session"`
	How     string `json:"how"`
	Bodies  int    `json:"bodies"`
}

// How sessions share bodies.
const (
	sharesFork   = "fork"      // it goes on from the session and has the bodies from there only
	sharesParent = "parent"    // the session goes on from it; it keeps what both share
	sharesText   = "fork-text" // it goes on from the session, behind the entry whose text is purged
	sharesSame   = "same-body" // it holds bodies of the same content itself, and keeps them
)

// purgePlan is what a purge of a session would do.
type purgePlan struct {
	session  string
	requests int
	bodies   int
	bytes    int64
	shared   []sharing
	unread   []string // sessions that could not be read to their end: they may share more

	text *ambit.TextPurge // when it is of one entry only
}

func (p purgePlan) size() string {
	if p.text != nil {
		return fmt.Sprintf("%s of text, and so %s", plural(int(p.text.Bytes), "byte", "bytes"), plural(p.text.Bodies, "body that has some of it", "bodies that have some of it"))
	}
	return fmt.Sprintf("%s, %s, %s bytes", plural(p.requests, "request", "requests"), plural(p.bodies, "body", "bodies"), count(p.bytes))
}

// lines name for people what shares bodies with the session, of each kind so many as are shown.
func (p purgePlan) lines() []string {
	var lines []string
	if p.text != nil && p.text.Stays > 0 {
		var others []string
		for _, seq := range p.text.Others {
			others = append(others, seq.Ref())
		}
		if more := len(others) - shown; more > 0 {
			others = append(others[:shown], count(more)+" more")
		}
		lines = append(lines, fmt.Sprintf("%s stay, which are said by %s, too", plural(int(p.text.Stays), "byte", "bytes"), strings.Join(others, ", ")))
	}
	told := make(map[string]int)
	for _, s := range p.shared {
		if told[s.How]++; told[s.How] <= shown {
			lines = append(lines, s.String())
		}
	}
	for _, how := range []string{sharesFork, sharesSame} {
		if n := told[how] - shown; n > 0 {
			lines = append(lines, fmt.Sprintf("and %s more (%s); --json names all", plural(n, "session", "sessions"), how))
		}
	}
	for _, name := range p.unread {
		lines = append(lines, fmt.Sprintf("session %s cannot be read to its end: it may share more", name))
	}
	return lines
}

// needed names the forks that lose bodies; empty when there are none.
func (p purgePlan) needed() string {
	var forks []string
	for _, s := range p.shared {
		if s.How == sharesFork || s.How == sharesText {
			forks = append(forks, s.Session)
		}
	}
	if more := len(forks) - shown; more > 0 {
		forks = append(forks[:shown], fmt.Sprintf("%s more", count(more)))
	}
	if len(forks) == 0 {
		return ""
	}
	return "forks that need it: " + strings.Join(forks, ", ")
}

func (s sharing) String() string {
	bodies := plural(s.Bodies, "body", "bodies")
	switch s.How {
	case sharesText:
		return fmt.Sprintf("fork %s loses the entry that it has from there, and keeps what its own requests say again", s.Session)
	case sharesFork:
		return fmt.Sprintf("fork %s loses %s that it has from there, and keeps what its own requests say again", s.Session, bodies)
	case sharesParent:
		return fmt.Sprintf("it goes on from %s, which keeps %s that both have", s.Session, bodies)
	default:
		return fmt.Sprintf("session %s keeps %s of the same content", s.Session, bodies)
	}
}

// own is a body that a session stores itself, and the entry that relies on it.
type own struct {
	seq entry.Seq
	sum string
}

// planPurge reads the session, and all others for what they have in common with it. What cannot be read of others is
// said; damage of the session itself ends the count.
func (e *env) planPurge(ctx context.Context, d *journal.Dir, name string) (purgePlan, error) {
	p := purgePlan{session: name, shared: []sharing{}}
	var bodies []own
	inherited := 0
	gone := make(map[string]bool) // of the sessions that it goes on from, those that were purged
	for f, err := range d.Read(ctx, name, 0) {
		if errors.Is(err, journal.ErrCorrupt) {
			p.unread = append(p.unread, name)
			break
		}
		if err != nil {
			return p, err
		}
		if f.In != name {
			if _, known := gone[f.In]; !known {
				was, err := d.Purged(f.In)
				if err != nil {
					return p, err
				}
				gone[f.In] = was != nil
			}
			if !gone[f.In] {
				inherited += len(entry.Bodies(f.Fact))
			}
			continue
		}
		if _, ok := f.Fact.(*entry.Request); ok {
			p.requests++
		}
		for _, b := range entry.Bodies(f.Fact) {
			p.bodies++
			p.bytes += b.Size
			bodies = append(bodies, own{f.Seq, b.SHA256})
		}
	}
	names, err := d.Sessions(ctx)
	if err != nil {
		return p, err
	}
	origins := e.origins(ctx, d, names)
	p.addForks(origins, bodies)
	if from := origins[name]; from != nil && inherited > 0 {
		p.shared = append(p.shared, sharing{from.Session, sharesParent, inherited})
	}
	return p, e.addSame(ctx, d, &p, names, bodies)
}

// origins says of each session from where it goes on, as far as that can be read.
func (e *env) origins(ctx context.Context, d *journal.Dir, names []string) map[string]*entry.Fork {
	origins := make(map[string]*entry.Fork)
	for _, name := range names {
		f, err := d.First(ctx, name)
		if first, ok := f.Fact.(*entry.Session); err == nil && ok && first.From != nil {
			origins[name] = first.From
		}
	}
	return origins
}

// addForks adds the sessions that go on from the session, and from those.
func (p *purgePlan) addForks(origins map[string]*entry.Fork, bodies []own) {
	until := make(map[string]entry.Seq) // the last entry of the session that is a fork's, too
	until[p.session] = ^entry.Seq(0)
	for grown := true; grown; {
		grown = false
		for name, from := range origins {
			if last, ok := until[from.Session]; ok && until[name] == 0 {
				until[name], grown = min(last, from.Seq), true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(until)) {
		n := 0
		for _, b := range bodies {
			if b.seq <= until[name] {
				n++
			}
		}
		if name != p.session && n > 0 {
			p.shared = append(p.shared, sharing{name, sharesFork, n})
		}
	}
}

// addSame adds the sessions that hold bodies of the same content themselves. For that the entries of all are read.
func (e *env) addSame(ctx context.Context, d *journal.Dir, p *purgePlan, names []string, bodies []own) error {
	wanted := make(map[string]bool)
	for _, b := range bodies {
		wanted[b.sum] = true
	}
	bar := e.progress("looking for what shares its bodies")
	defer bar.end()
	for i, name := range names {
		bar.at(0, "%s of %s sessions", count(i), count(len(names)))
		if name == p.session || len(wanted) == 0 {
			continue
		}
		if was, err := d.Purged(name); was != nil && err == nil {
			continue
		}
		n := 0
		f, err := d.First(ctx, name)
		if err == nil {
			n, err = same(ctx, d, name, f.Seq-1, wanted)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, journal.ErrNoSession) { // which was removed since they were listed
			p.unread = append(p.unread, name)
		}
		if n > 0 {
			p.shared = append(p.shared, sharing{name, sharesSame, n})
		}
	}
	return nil
}

// same counts the bodies with one of these hashes that a session stores itself, behind an entry.
func same(ctx context.Context, d *journal.Dir, name string, after entry.Seq, wanted map[string]bool) (n int, err error) {
	for f, err := range d.Read(ctx, name, after) {
		if err != nil {
			return n, err
		}
		for _, b := range entry.Bodies(f.Fact) {
			if wanted[b.SHA256] {
				n++
			}
		}
	}
	return n, nil
}
