// Package index searches and reads the retained public text of one capture: literally, exhaustively, within limits.
//
// A capture is a sequence of texts that its caller yields; nothing else can be reached through it, whatever is asked
// for. There is no stored index yet: a search passes over all texts, some gigabytes a second. The package is pure and
// keeps nothing between two answers: what a search needs to go on stands in its cursor, which works in another process
// that has the same key. A Capture may be used from several goroutines if its Texts may.
//
// It does not know what is public. Who yields the texts leaves out what is not.
package index

import (
	"errors"
	"iter"
)

// Text is one retained public text.
type Text struct {
	Ref      string // of its entry, such as e412
	Revision string // of that entry
	Field    string // a JSON pointer to the text in what passed
	N        int    // number of the exchange that it passed in
	Text     string // decoded, valid UTF-8
	Said     string // who said it, as provider.Text has it; empty where that is not known
}

// Texts yields a capture's texts in source order, from the text of a number on; the first has number 0. An error says
// that one text cannot be read; as much as is known of it is yielded with it, and the next text follows.
//
// It may be called while an earlier sequence is still being ranged over.
type Texts func(from int) iter.Seq2[Text, error]

// ErrUnsupported is yielded for a text, or for all those of an entry, whose shape is not understood. Any other error
// says that the text is not available.
var ErrUnsupported = errors.New("unsupported shape of public text")

// Capture is what may be searched and read: the public texts of one branch up to some entry.
type Capture struct {
	ID    string // names exactly these texts, across processes; a cursor continues only in its own capture
	Key   []byte // secret, and never empty: cursors are authenticated with it
	Texts Texts
}

// The limits of one answer, which a caller can only lower, and other bounds.
const (
	MaxOutputBytes = 64 << 10
	MaxResults     = 16
	MaxScanBytes   = 1 << 34
	MaxQuery       = 8192 // characters of a query
	MaxRef         = 512  // characters of a ref
	LongLine       = 1024 // bytes; a search shows of longer lines only the match and its surroundings
	Surroundings   = 128  // bytes on each side of such a match, at most
)

// Limits bound one answer. Zero means the maximum.
type Limits struct {
	OutputBytes int   // of the answer's JSON; a refusal is not shortened
	Results     int   // in the answer
	ScanBytes   int64 // of text that a search passes over before it pauses; a read does not count them
}

// settle fills in the maxima; a limit that is none of the caller's is not ok.
func (l Limits) settle() (Limits, bool) {
	if l.OutputBytes == 0 {
		l.OutputBytes = MaxOutputBytes
	}
	if l.Results == 0 {
		l.Results = MaxResults
	}
	if l.ScanBytes == 0 {
		l.ScanBytes = MaxScanBytes
	}
	within := l.OutputBytes <= MaxOutputBytes && l.Results <= MaxResults && l.ScanBytes <= MaxScanBytes
	return l, within && l.OutputBytes > 0 && l.Results > 0 && l.ScanBytes > 0
}

// begin is what a search and a read have in common: limits, the place to begin at, and the room for results. If it
// gives a reason, the answer is a refusal.
func (c Capture) begin(limits *Limits, cursor string, asked mark) (at place, space int, s Status, r Reason) {
	if len(c.Key) == 0 {
		panic("index: a capture without a key")
	}
	l, ok := limits.settle()
	if !ok {
		return at, 0, BudgetRefused, OperationBudget
	}
	*limits = l
	if at, r = c.resume(cursor, asked); r != "" {
		return at, 0, Unavailable, r
	}
	if space = room(l.OutputBytes, c.longest()); space < 0 {
		return at, 0, BudgetRefused, OperationBudget
	}
	return at, space, "", ""
}
