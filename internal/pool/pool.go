// Package pool folds a session's entries into what is known of it: its exchanges, their usage, its end.
//
// Folding is pure and incremental: folding a saved pool and the entries after it gives the pool of all entries. A pool
// is derived state; what is saved of it may be deleted at any time. A Pool is not safe for concurrent use.
package pool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"time"

	"ambit/entry"
	"ambit/journal"

	json "github.com/go-json-experiment/json/v1"
)

// Version is the version of a saved pool. Another one is not read: the pool is folded again.
const Version = 12

// Pool is the state of one session.
type Pool struct {
	Version   int           `json:"version"`
	Seq       entry.Seq     `json:"seq"` // of the last entry folded
	Sum       string        `json:"sum"` // of its frame
	Session   entry.Session `json:"session"`
	Created   time.Time     `json:"created"`
	Updated   time.Time     `json:"updated"`
	Exchanges []Exchange    `json:"exchanges"`           // in order of their number
	Units     []Unit        `json:"units"`               // in order of their entries
	Decisions []Decision    `json:"decisions,omitempty"` // in order
	Edits     []Edit        `json:"edits,omitempty"`     // that hold, in order
	Pins      []Pin         `json:"pins,omitempty"`      // that hold, in order
	LastPin   int           `json:"last_pin,omitempty"`  // number of the newest that ever was
	Notes     []Note        `json:"notes,omitempty"`     // in order
	Own       *Own          `json:"own,omitempty"`       // nil for a session that a client leads
	Aliases   []string      `json:"aliases,omitempty"`   // by which requests name a sub-agent of the session as their parent
	Inside    bool          `json:"inside,omitempty"`    // the last entry folded is not the last of its append
	Cut       bool          `json:"cut,omitempty"`       // a fork that goes on from such an entry
	Missing   int           `json:"missing"`             // requests and responses that passed and were not recorded

	// Imported is the newest fact that the session was recorded elsewhere, so that it has no authority here and nothing of
	// it may be played again. It is nil in a fork of such a session, which is one of its own, behind what both share.
	Imported *entry.Imported `json:"imported,omitempty"`

	// Evidence is the last entry of a fork that it shares with a session that was imported: up to there it is as that is.
	Evidence entry.Seq `json:"evidence,omitempty"`

	// Recordings are those that units and exchanges point into.
	Recordings []Recording `json:"recordings,omitempty"`

	// Purged says that the session's own bodies are gone, and that it takes nothing more; nil while they are there. What it
	// goes on from may be purged all the same.
	Purged   *entry.Purged `json:"purged,omitempty"`
	PurgedAt time.Time     `json:"purged_at,omitzero"`

	// Gone are the entries whose text was purged by itself, in ascending order.
	Gone []entry.Seq `json:"gone,omitempty"`
}

// IsGone reports whether the text of an entry was purged by itself.
func (p *Pool) IsGone(seq entry.Seq) bool {
	_, gone := slices.BinarySearch(p.Gone, seq)
	return gone
}

// purge takes in that a session was purged, or the text of one of its entries.
func (p *Pool) purge(f *entry.Purged, at time.Time) {
	if f.Of == 0 {
		p.Purged, p.PurgedAt = f, at
		return
	}
	if i, known := slices.BinarySearch(p.Gone, f.Of); !known {
		p.Gone = slices.Insert(p.Gone, i, f.Of)
	}
}

// IsEvidence reports whether an entry was recorded elsewhere: nothing that it says has authority, and nothing of it may be
// played again.
func (p *Pool) IsEvidence(seq entry.Seq) bool { return p.Imported != nil || seq <= p.Evidence }

// Recording is another agent's recording that was imported.
type Recording struct {
	entry.Imported
	Seq entry.Seq `json:"seq"`
}

// Recording is the one that an entry has, nil when it has none.
func (p *Pool) Recording(seq entry.Seq) *Recording {
	for i := range p.Recordings {
		if r := &p.Recordings[i]; r.Seq == seq && r.Body != nil {
			return r
		}
	}
	return nil
}

// Exchange is one request with its response.
type Exchange struct {
	Request  entry.Request   `json:"request"` // of its headers, those that say how to read the body
	Relation *entry.Relation `json:"relation,omitempty"`
	Response *entry.Response `json:"response,omitempty"` // of its headers, those that say how to read the body
	Seq      entry.Seq       `json:"seq"`                // of the request's entry
	Revision string          `json:"revision"`
	Answered entry.Seq       `json:"answered,omitempty"` // of the response's entry

	AnswerRevision string `json:"answer_revision,omitempty"`

	Sent []entry.Sent `json:"sent,omitempty"` // attempts, in order; none where the client's bytes went and nobody would have edited them
}

// Decision is one that was made, and the entry that says so.
type Decision struct {
	entry.Decision
	Seq entry.Seq `json:"seq"`
}

// Edit is one that was made, and the entry that says so.
type Edit struct {
	entry.Edit
	Seq entry.Seq `json:"seq"`
}

// Pin is one that holds, and the entry that says so.
type Pin struct {
	entry.Pin
	Seq entry.Seq `json:"seq"`
}

// Note is one that was taken, and the entry that says so.
type Note struct {
	entry.Note
	Seq entry.Seq `json:"seq"`
}

// Unit is one message or answer, where it first passed.
type Unit struct {
	entry.Unit
	Seq      entry.Seq `json:"seq"`
	Revision string    `json:"revision"`
}

// New returns the pool of no entries.
func New() *Pool { return &Pool{Version: Version} }

// Fold takes one frame in. Frames come in order, without gaps.
func (p *Pool) Fold(f journal.Frame) error {
	if f.Seq != p.Seq+1 || p.Sum != "" && f.Prev != p.Sum {
		return fmt.Errorf("fold entry %d: it does not follow entry %d", f.Seq, p.Seq)
	}
	if first, ok := f.Fact.(*entry.Session); ok && first.From != nil {
		p.Cut = p.Cut || p.Inside
		if first.From.Imported || p.Imported != nil {
			p.Evidence = p.Seq
		}
	}
	p.Seq, p.Sum, p.Updated, p.Inside = f.Seq, f.Sum, f.Time, f.More
	switch fact := f.Fact.(type) {
	case *entry.Session:
		p.Session, p.Created, p.Imported, p.Purged, p.PurgedAt = *fact, f.Time, nil, nil, time.Time{}
	case *entry.Request:
		x := Exchange{Request: *fact, Seq: f.Seq, Revision: f.Revision()}
		x.Request.Headers = reading(fact.Headers)
		i := p.place(fact.N)
		p.Exchanges = append(p.Exchanges, Exchange{})
		copy(p.Exchanges[i+1:], p.Exchanges[i:])
		p.Exchanges[i] = x
	case *entry.Response:
		if x := p.Exchange(fact.N); x != nil {
			answer := *fact
			answer.Headers = reading(fact.Headers)
			x.Response, x.Answered, x.AnswerRevision = &answer, f.Seq, f.Revision()
		}
		if p.Own != nil {
			p.Own.Take(fact, f.Seq)
		}
	case *entry.Relation:
		if x := p.Exchange(fact.N); x != nil {
			x.Relation = fact
		}
		if fact.Alias != "" && !slices.Contains(p.Aliases, fact.Alias) {
			p.Aliases = append(p.Aliases, fact.Alias)
		}
	case *entry.Unit:
		p.Units = append(p.Units, Unit{*fact, f.Seq, f.Revision()})
	case *entry.Gap:
		p.Missing += fact.Exchanges
	case *entry.Imported:
		p.Imported = fact
		if fact.Body != nil {
			p.Recordings = append(p.Recordings, Recording{*fact, f.Seq})
		}
	case *entry.Purged:
		p.purge(fact, f.Time)
	default:
		if !p.own(f) {
			p.decided(f)
		}
	}
	return nil
}

// decided takes in what was decided and asked for.
func (p *Pool) decided(f journal.Frame) {
	switch fact := f.Fact.(type) {
	case *entry.Decision:
		p.Decisions = append(p.Decisions, Decision{*fact, f.Seq})
		if p.Own != nil {
			p.Own.Take(fact, f.Seq)
		}
		p.Edits = slices.DeleteFunc(p.Edits, func(e Edit) bool { return e.Thread == fact.Thread && slices.Contains(fact.Lifts, e.Seq) })
	case *entry.Edit:
		p.Edits = append(p.Edits, Edit{*fact, f.Seq})
	case *entry.Sent:
		if x := p.Exchange(fact.N); x != nil {
			x.Sent = append(x.Sent, *fact)
		}
	case *entry.Pin:
		p.Pins = slices.DeleteFunc(p.Pins, func(old Pin) bool { return old.ID == fact.ID })
		if !fact.Off {
			p.Pins, p.LastPin = append(p.Pins, Pin{*fact, f.Seq}), p.LastPin+1
		}
	case *entry.Note:
		p.Notes = append(p.Notes, Note{*fact, f.Seq})
	}
}

// reading picks the headers that say how to read a body.
func reading(headers map[string]string) map[string]string {
	var picked map[string]string
	for _, name := range []string{"content-encoding", "content-type"} {
		if v := headers[name]; v != "" {
			if picked == nil {
				picked = make(map[string]string, 2)
			}
			picked[name] = v
		}
	}
	return picked
}

// place is where the exchange of a number stands, or would.
func (p *Pool) place(n int) int {
	return sort.Search(len(p.Exchanges), func(i int) bool { return p.Exchanges[i].Request.N >= n })
}

// Exchange returns the exchange of a number, nil when there is none.
func (p *Pool) Exchange(n int) *Exchange {
	if i := p.place(n); i < len(p.Exchanges) && p.Exchanges[i].Request.N == n {
		return &p.Exchanges[i]
	}
	return nil
}

// Last is the highest number of a request, 0 when there is none.
func (p *Pool) Last() int {
	if n := len(p.Exchanges); n > 0 {
		return p.Exchanges[n-1].Request.N
	}
	return 0
}

// Newest is when the newest request arrived; zero when there is none.
func (p *Pool) Newest() (at time.Time) {
	for i := range p.Exchanges {
		if t := p.Exchanges[i].Request.Arrived; t.After(at) {
			at = t
		}
	}
	return at
}

// Until returns the pool as it was when the entry of a sequence number was the last, as far as exchanges, units and decisions
// go. Edits and pins that were taken back since are missing.
func (p *Pool) Until(seq entry.Seq) *Pool {
	q := *p
	q.Seq, q.Exchanges, q.Units = seq, nil, nil
	for _, x := range p.Exchanges {
		if x.Answered > seq {
			x.Response, x.Answered, x.AnswerRevision = nil, 0, ""
		}
		if x.Seq <= seq {
			q.Exchanges = append(q.Exchanges, x)
		}
	}
	for _, u := range p.Units {
		if u.Seq <= seq {
			q.Units = append(q.Units, u)
		}
	}
	q.Decisions = slices.DeleteFunc(slices.Clone(p.Decisions), func(d Decision) bool { return d.Seq > seq })
	q.Edits = slices.DeleteFunc(slices.Clone(p.Edits), func(e Edit) bool { return e.Seq > seq })
	q.Pins = slices.DeleteFunc(slices.Clone(p.Pins), func(e Pin) bool { return e.Seq > seq })
	q.Notes = slices.DeleteFunc(slices.Clone(p.Notes), func(e Note) bool { return e.Seq > seq })
	q.Own = p.Own.until(seq)
	return &q
}

// Save writes the pool as it is kept between processes: JSON, and behind it the SHA-256 of that in hexadecimal.
func (p *Pool) Save() ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return hex.AppendEncode(data, sum[:]), nil
}

// Restore reads what Save wrote. What it cannot read, what is damaged, or what another version wrote, gives nil.
func Restore(saved []byte) *Pool {
	end := len(saved) - 2*sha256.Size
	if end < 0 {
		return nil
	}
	sum := sha256.Sum256(saved[:end])
	p := new(Pool)
	if hex.EncodeToString(sum[:]) != string(saved[end:]) || json.Unmarshal(saved[:end], p) != nil || p.Version != Version || p.Seq == 0 {
		return nil
	}
	return p
}
