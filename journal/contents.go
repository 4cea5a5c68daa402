package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"math"

	"ambit/entry"
)

// content is what a body is, wherever its record stands.
type content struct {
	size uint64
	sum  [sha256.Size]byte
}

// contents finds records by what they hold. It is asked where a body does not stand where its name says, as after an
// import, and is made only then.
type contents struct {
	places map[content]int // in the records, of the first that holds it
	listed int             // so many records are in it
}

// find returns the place of a record that has a body, among records of which those that were seen before are unchanged.
func (c *contents) find(records []record, b entry.Body) (int, bool) {
	if c.places == nil {
		c.places = make(map[content]int, len(records))
	}
	for ; c.listed < len(records); c.listed++ {
		r := records[c.listed]
		key := content{r.size, r.sum}
		if _, ok := c.places[key]; !ok {
			c.places[key] = c.listed
		}
	}
	sum, err := hex.DecodeString(b.SHA256)
	if err != nil || len(sum) != sha256.Size || b.Size < 0 {
		return 0, false
	}
	i, ok := c.places[content{uint64(b.Size), [sha256.Size]byte(sum)}]
	if ok {
		b.At = records[i].at
		ok = records[i].is(b) // the name may be spelled otherwise
	}
	return i, ok
}

// offset returns where the record of a body stands in the log, -1 when it has none.
func (l *literals) offset(b entry.Body) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, err := l.find(b)
	if err != nil {
		return -1
	}
	return l.records[i].at
}

// place is where the record of a body stands in the log, beyond its end when it has none. The caller has mu.
func (l *literals) place(b entry.Body) int64 {
	i, err := l.find(b)
	if err != nil {
		return math.MaxInt64
	}
	return l.records[i].at
}
