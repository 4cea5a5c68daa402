package pricing

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// Cache is what the providers hold for one workspace. Requests are sent to it in the order of their times. It keeps no
// blocks, and drops entries that have expired, so it holds what a few lives' requests wrote. It is not safe for
// concurrent use.
type Cache struct {
	entries map[sum]entry // what can be read, by the whole prefix
	seen    map[sum]entry // prefixes that requests had, where only some of them can be read
	room    int           // how many entries there may be before expired ones are dropped

	sums   []sum // of the request at hand: of the prefix that ends with each block
	totals []int // and its tokens
}

// NewCache makes an empty one.
func NewCache() *Cache {
	return &Cache{entries: make(map[sum]entry), seen: make(map[sum]entry), room: minRoom}
}

// minRoom is how many entries are kept without a look at whether they have expired.
const minRoom = 4096

// entry is a cached prefix.
type entry struct {
	begins  time.Time     // from when on it can be read
	expires time.Time     // when it is gone, unless it is used
	life    time.Duration // what a use adds
}

// live says whether it can be read at a time.
func (e entry) live(at time.Time) bool { return !at.Before(e.begins) && at.Before(e.expires) }

// Send charges a request and changes the cache as it does. The charge adds up to the tokens of its blocks.
func (c *Cache) Send(r Request) Charge {
	c.drop(r.At)
	total := c.trail(&r)
	var ch Charge
	switch r.Model.Rules.Match {
	case ByMark:
		ch = c.byMark(&r)
	case ByPrefix:
		ch.Read = c.byPrefix(&r)
	case ByUnit:
		ch.Read = c.byUnit(&r)
	}
	ch.Fresh = total - ch.Total()
	return ch
}

// trail sums up the prefixes of the request and returns its tokens.
func (c *Cache) trail(r *Request) int {
	c.sums, c.totals = c.sums[:0], c.totals[:0]
	s, total := scopeOf(r), 0
	for i := range r.Blocks {
		b := &r.Blocks[i]
		s, total = s.link(b), total+b.Tokens
		c.sums, c.totals = append(c.sums, s), append(c.totals, total)
	}
	return total
}

// put writes an entry, or uses the one that is there. An entry lives as long as it was first asked to.
func (c *Cache) put(in map[sum]entry, key sum, r *Request, life time.Duration) {
	e := in[key]
	if begins := r.begins(); !r.At.Before(e.expires) {
		e = entry{begins: begins, life: life}
	} else if begins.Before(e.begins) {
		e.begins = begins
	}
	e.expires = r.At.Add(e.life)
	in[key] = e
}

// drop forgets what has expired, now and then.
func (c *Cache) drop(at time.Time) {
	if len(c.entries)+len(c.seen) < c.room {
		return
	}
	for _, in := range []map[sum]entry{c.entries, c.seen} {
		for key, e := range in {
			if !at.Before(e.expires) {
				delete(in, key)
			}
		}
	}
	c.room = max(minRoom, 2*(len(c.entries)+len(c.seen)))
}

// sum is the hash of a prefix: FNV-1a of 128 bits that takes half a block's hash at a time. It is as good as the
// blocks' own hashes are random, and costs a few nanoseconds.
type sum struct{ hi, lo uint64 }

// The offset and the prime of FNV with 128 bits, from the FNV specification.
const (
	offsetHi, offsetLo = 0x6c62272e07bb0142, 0x62b821756295c58d
	primeHi, primeLo   = 0x0000000001000000, 0x000000000000013b
)

// scopeOf is the sum of an empty prefix: entries are of one model, and of one key where the rules say so.
func scopeOf(r *Request) sum {
	s := sum{offsetHi, offsetLo}
	name := r.Model.Name + "\x00"
	if r.Model.Rules.Keyed {
		name += r.Key
	}
	for i := range len(name) {
		s = s.mix(0, uint64(name[i]))
	}
	return s
}

// link is the sum of the prefix that is a block longer.
func (s sum) link(b *Block) sum {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b.Hash[8*i:]) }
	return s.mix(word(0), word(1)).mix(word(2), word(3)).mix(0, uint64(b.Tier))
}

// mix is one step of FNV-1a.
func (s sum) mix(hi, lo uint64) sum {
	s.hi, s.lo = s.hi^hi, s.lo^lo
	h, l := bits.Mul64(s.lo, primeLo)
	return sum{hi: h + s.hi*primeLo + s.lo*primeHi, lo: l}
}
