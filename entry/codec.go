package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// head is what every entry object starts with; the fact's own members follow it.
type head struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
}

// Encode writes an entry as one JSON object without line breaks: time, kind, and the members of the fact. The
// sequence number is the journal's to write.
func Encode(e Entry) ([]byte, error) {
	if e.Fact == nil {
		return nil, errors.New("encode entry: no fact")
	}
	h := head{Time: e.Time.UTC(), Kind: e.Fact.Kind()}
	var whole any
	switch f := e.Fact.(type) {
	case *Unknown:
		return bytes.Clone(f.Raw), nil
	case *Session:
		whole = struct {
			head
			*Session
		}{h, f}
	case *Request:
		whole = struct {
			head
			*Request
		}{h, f}
	case *Response:
		whole = struct {
			head
			*Response
		}{h, f}
	case *Relation:
		whole = struct {
			head
			*Relation
		}{h, f}
	case *Unit:
		whole = struct {
			head
			*Unit
		}{h, f}
	case *Gap:
		whole = struct {
			head
			*Gap
		}{h, f}
	case *Imported:
		whole = struct {
			head
			*Imported
		}{h, f}
	case *Purged:
		whole = struct {
			head
			*Purged
		}{h, f}
	case *Decision:
		whole = struct {
			head
			*Decision
		}{h, f}
	case *Edit:
		whole = struct {
			head
			*Edit
		}{h, f}
	case *Sent:
		whole = struct {
			head
			*Sent
		}{h, f}
	case *Pin:
		whole = struct {
			head
			*Pin
		}{h, f}
	case *Note:
		whole = struct {
			head
			*Note
		}{h, f}
	default:
		whole = own(h, f)
	}
	b := bytes.NewBuffer(make([]byte, 0, 1024))
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false) // the escapes would only make journals harder to read
	if err := enc.Encode(whole); err != nil {
		return nil, fmt.Errorf("encode %s entry: %w", h.Kind, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// own is the entry object of a fact that only sessions of Ambit's own have; nil for another.
func own(h head, f Fact) any {
	switch f := f.(type) {
	case *Input:
		return struct {
			head
			*Input
		}{h, f}
	case *Promoted:
		return struct {
			head
			*Promoted
		}{h, f}
	case *Works:
		return struct {
			head
			*Works
		}{h, f}
	case *Told:
		return struct {
			head
			*Told
		}{h, f}
	case *Call:
		return struct {
			head
			*Call
		}{h, f}
	case *Aside:
		return struct {
			head
			*Aside
		}{h, f}
	case *Result:
		return struct {
			head
			*Result
		}{h, f}
	case *Idle:
		return struct {
			head
			*Idle
		}{h, f}
	}
	return nil
}

// Decode reads what Encode wrote. A kind that this version does not know becomes an Unknown; unknown members of a
// known kind are passed over.
func Decode(seq Seq, data []byte) (Entry, error) {
	h, ok := headOf(data)
	if !ok {
		if err := json.Unmarshal(data, &h); err != nil {
			return Entry{}, fmt.Errorf("decode entry %d: %w", seq, err)
		}
	}
	if h.Kind == "" {
		return Entry{}, fmt.Errorf("decode entry %d: no kind", seq)
	}
	e := Entry{Seq: seq, Time: h.Time, Fact: blank(h.Kind)}
	if u, is := e.Fact.(*Unknown); is {
		if ok && !json.Valid(data) {
			return Entry{}, fmt.Errorf("decode entry %d: it is not valid JSON", seq)
		}
		u.Raw = bytes.Clone(data)
		return e, nil
	}
	if err := json.Unmarshal(data, e.Fact); err != nil {
		return Entry{}, fmt.Errorf("decode %s entry %d: %w", h.Kind, seq, err)
	}
	return e, nil
}

// headOf reads the head as Encode writes it, without looking at what follows, which is most of an entry and is read anyway;
// false where it is spelled otherwise.
func headOf(data []byte) (h head, ok bool) {
	rest, begins := bytes.CutPrefix(data, []byte(`{"time":"`))
	at, rest, timed := bytes.Cut(rest, []byte(`","kind":"`))
	kind, rest, ends := bytes.Cut(rest, []byte(`"`))
	if !begins || !timed || !ends || len(rest) == 0 || rest[0] != ',' && rest[0] != '}' || bytes.IndexByte(kind, '\\') >= 0 {
		return head{}, false
	}
	h.Kind = Kind(kind)
	return h, h.Time.UnmarshalText(at) == nil
}

func blank(k Kind) Fact {
	switch k {
	case KindSession:
		return new(Session)
	case KindRequest:
		return new(Request)
	case KindResponse:
		return new(Response)
	case KindRelation:
		return new(Relation)
	case KindUnit:
		return new(Unit)
	case KindGap:
		return new(Gap)
	case KindImported:
		return new(Imported)
	case KindPurged:
		return new(Purged)
	case KindDecision:
		return new(Decision)
	case KindEdit:
		return new(Edit)
	case KindSent:
		return new(Sent)
	case KindPin:
		return new(Pin)
	case KindNote:
		return new(Note)
	case KindInput:
		return new(Input)
	case KindPromoted:
		return new(Promoted)
	case KindWorks:
		return new(Works)
	case KindTold:
		return new(Told)
	case KindCall:
		return new(Call)
	case KindResult:
		return new(Result)
	case KindIdle:
		return new(Idle)
	case KindAside:
		return new(Aside)
	default:
		return &Unknown{Name: k}
	}
}
