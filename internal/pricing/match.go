package pricing

import (
	"slices"
	"time"
)

// mark is a place at which a request writes an entry.
type mark struct {
	at   int // the block that it follows
	life time.Duration
	hour bool // charged as the longer life
}

// byMark charges a request of rules by which prefixes end at marks. It reads up to the longest entry that one of the
// marks finds, and writes from there to its last mark; what is behind that is fresh.
func (c *Cache) byMark(r *Request) Charge {
	marks := c.marks(r)
	if len(marks) == 0 {
		return Charge{}
	}
	read := -1
	for _, m := range slices.Backward(marks) {
		if m.at > read {
			read = max(read, c.lookBack(r, m.at))
		}
	}
	var ch Charge
	end := 0 // of what is charged so far, in tokens
	life := time.Duration(0)
	if read >= 0 {
		end = c.totals[read]
		ch.Read, life = end, c.entries[c.sums[read]].life
		c.put(c.entries, c.sums[read], r, life)
	}
	for _, m := range marks {
		if m.at <= read { // of what is cached already: no charge, and no longer life than that has
			c.put(c.entries, c.sums[m.at], r, min(m.life, life))
			continue
		}
		c.put(c.entries, c.sums[m.at], r, m.life)
		if m.hour { // also what shorter marks before it wrote
			ch.Write, ch.WriteHour = 0, c.totals[m.at]-ch.Read
		} else {
			ch.Write += c.totals[m.at] - end
		}
		end = c.totals[m.at]
	}
	return ch
}

// marks are where the request writes, in order, and only behind the shortest prefix that is cached. Of too many marks
// the first count where a provider refuses the others; else the last.
func (c *Cache) marks(r *Request) []mark {
	rules := &r.Model.Rules
	auto, implicit := r.automatic(), -1
	if rules.Implicit && !r.Explicit {
		implicit = c.latest(r)
	}
	var all []mark
	for i := range r.Blocks {
		asked := time.Duration(0)
		if r.Blocks[i].marked() {
			asked = r.Blocks[i].Mark
		} else if i == auto {
			asked = r.Auto
		} else if i == implicit {
			asked = rules.Life
		}
		if asked > 0 {
			all = append(all, mark{i, r.lasts(asked), rules.LifeHour > 0 && asked > rules.Life})
		}
	}
	switch extra := len(all) - rules.Marks; {
	case extra > 0 && rules.Refuses:
		all = all[:rules.Marks]
	case extra > 0:
		all = all[extra:]
	}
	return slices.DeleteFunc(all, func(m mark) bool { return c.totals[m.at] < rules.Min })
}

// latest is the last block of the latest message of the user or of a tool, or -1.
func (c *Cache) latest(r *Request) int {
	for i := len(r.Blocks) - 1; i >= 0; i-- {
		if r.Blocks[i].awaited() {
			return i
		}
	}
	return -1
}

// lookBack is the nearest block at or before a mark up to which something is cached, or -1. The mark's own block is
// the first position. Where a provider sets breakpoints itself, only places where one could be are positions.
func (c *Cache) lookBack(r *Request, from int) int {
	rules := &r.Model.Rules
	left, run := rules.LookBack, None
	for i := from; i >= 0; i-- {
		b := &r.Blocks[i]
		if b.Tokens == 0 || rules.Implicit && !b.marked() && (r.Explicit || !b.awaited()) {
			continue
		}
		if !rules.Collapse || b.Run == None || b.Run != run {
			if left--; left < 0 {
				return -1
			}
		}
		run = b.Run
		if c.entries[c.sums[i]].live(r.At) {
			return i
		}
	}
	return -1
}

// byPrefix charges a request of rules by which the longest common prefix is found, and returns what was read. Every
// prefix becomes an entry, and where answers are kept, the request with its answer.
func (c *Cache) byPrefix(r *Request) int {
	read := 0
	if n := c.common(c.entries, r.At); n > 0 {
		read = r.Model.Rules.floor(c.totals[n-1])
	}
	for _, s := range c.sums {
		c.put(c.entries, s, r, r.lasts(0))
	}
	if n := len(c.sums); r.Model.Rules.Answers && n > 0 {
		s := c.sums[n-1]
		for i := range r.Output {
			s = s.link(&r.Output[i])
			c.put(c.entries, s, r, r.lasts(0))
		}
	}
	return read
}

// common is of how many blocks the longest prefix is that the request has in common with one of the entries. A prefix
// is there only as long as all shorter ones are.
func (c *Cache) common(in map[sum]entry, at time.Time) int {
	for i, s := range c.sums {
		if !in[s].live(at) {
			return i
		}
	}
	return len(c.sums)
}

// byUnit charges a request of rules by which whole units are found, and returns what was read. Units end where the
// request and its answer end, where the request parts from an earlier one, and at fixed intervals where they are
// known. The middle of a block is not known to be in common.
func (c *Cache) byUnit(r *Request) int {
	rules, n := &r.Model.Rules, len(c.sums)
	if n == 0 {
		return 0
	}
	shared, read := c.common(c.seen, r.At), 0
	for i := n - 1; i >= 0 && read == 0; i-- {
		if c.entries[c.sums[i]].live(r.At) {
			read = c.totals[i]
			c.put(c.entries, c.sums[i], r, r.lasts(0))
		}
	}
	if shared > 0 {
		if rules.Interval > 0 {
			read = max(read, c.totals[shared-1]-c.totals[shared-1]%rules.Interval)
		}
		c.put(c.entries, c.sums[shared-1], r, r.lasts(0))
	}
	c.put(c.entries, c.sums[n-1], r, r.lasts(0))
	s := c.sums[n-1]
	for i := range r.Output {
		s = s.link(&r.Output[i])
	}
	c.put(c.entries, s, r, r.lasts(0))
	for _, s := range c.sums {
		c.put(c.seen, s, r, r.lasts(0))
	}
	return rules.floor(read)
}
