package ambit

import (
	"bytes"
	"context"
	"reflect"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/transcript"
)

// aligned is what a session has of an earlier version of a recording.
type aligned struct {
	told       []entry.Fact // requests and units, in order
	relations  map[int]*entry.Relation
	responses  map[int]*entry.Response
	unread     map[span]bool // that is not outgrown
	n, threads int           // of the session: the last request, and how many threads there are

	// body reads the version of the recording that an entry has.
	body func(in entry.Seq) ([]byte, error)
}

// span is a part of a recording.
type span struct{ offset, length int64 }

// old reads what a session has of the recording of a key.
func (m *Importer) old(ctx context.Context, name, key string, p *pool.Pool) (aligned, error) {
	a := aligned{
		relations: make(map[int]*entry.Relation), responses: make(map[int]*entry.Response), unread: make(map[span]bool),
		n: p.Last(), threads: len(p.Threads()),
	}
	var last entry.Seq
	var data []byte
	a.body = func(in entry.Seq) (_ []byte, err error) {
		if rec := p.Recording(in); in != last && rec != nil {
			last = in
			data, err = m.store.Body(ctx, name, *rec.Body)
		}
		return data, err
	}
	ours, requests := make(map[entry.Seq]bool), make(map[int]bool)
	for _, r := range p.Recordings {
		ours[r.Seq] = r.Key == key
	}
	at := make(map[string]int) // where the parts of a recording that is one object stand
	for f, err := range m.store.Read(ctx, name, 0) {
		if err != nil {
			return a, err
		}
		switch f := f.Fact.(type) {
		case *entry.Request:
			if f.Recorded != nil && ours[f.Recorded.In] {
				requests[f.N] = true
				a.told = append(a.told, f)
			}
		case *entry.Relation:
			if requests[f.N] {
				a.relations[f.N] = f
			}
		case *entry.Response:
			if requests[f.N] {
				a.responses[f.N] = f
			}
		case *entry.Unit:
			if rec := p.Recording(f.In); f.N == 0 && ours[f.In] && !transcript.OneValue(rec.Format) && f.Offset+f.Length < rec.Body.Size {
				a.unread[span{f.Offset, f.Length}] = true
			}
			if !requests[f.N] {
				continue
			}
			if transcript.OneValue(p.Recordings[0].Format) && f.At != "" { // what it said later counts
				if i, again := at[f.At]; again {
					a.told[i] = f
					continue
				}
				at[f.At] = len(a.told)
			}
			a.told = append(a.told, f)
		}
	}
	return a, nil
}

// renumbered are a recording's facts as a session takes them.
type renumbered struct {
	fresh []entry.Fact // that the session does not have
	same  bool         // all that the session has of the recording is there, in the same order
}

// renumbered gives the facts the numbers that they have in a session: of requests, threads and the imported entry. What a
// recording tells up to some place stays as it is when it goes on; only what came of it may be known better then.
func (t *Transcript) renumbered(in entry.Seq, old aligned) (r renumbered, err error) {
	numbers, threads := map[int]int{0: 0}, map[string]string{"": ""}
	next := 0
	for _, f := range t.Facts {
		switch f := f.(type) {
		case *entry.Request:
			var was *entry.Request
			if next < len(old.told) {
				was, _ = old.told[next].(*entry.Request)
				if was == nil || !t.sameRequest(f, was) {
					return r, nil
				}
				if same, err := t.sameBytes(f.Recorded, was.Recorded, old); !same || err != nil {
					return r, err
				}
				numbers[f.N] = was.N
			} else {
				old.n++
				numbers[f.N] = old.n
				r.fresh = append(r.fresh, placed(f, in, numbers, threads))
			}
			next++
		case *entry.Relation:
			was := old.relations[numbers[f.N]]
			if _, known := threads[f.Thread]; !known {
				if was != nil {
					threads[f.Thread] = was.Thread
				} else {
					old.threads++
					threads[f.Thread] = pool.ThreadName(old.threads)
				}
			}
			g := placed(f, in, numbers, threads).(*entry.Relation)
			if was != nil && was.How == entry.Agent && g.Parent == 0 && g.Call == "" {
				g.How, g.Owner, g.Call = was.How, was.Owner, was.Call // as the parent's recording says
			}
			if was == nil || !reflect.DeepEqual(g, was) {
				r.fresh = append(r.fresh, g)
			}
		case *entry.Response:
			g := placed(f, in, numbers, threads).(*entry.Response)
			was := old.responses[g.N]
			if was == nil || !t.sameResponse(g, was) {
				r.fresh = append(r.fresh, g)
			} else if same, err := t.sameBytes(g.Recorded, was.Recorded, old); !same || err != nil {
				return r, err
			}
		case *entry.Unit:
			g := placed(f, in, numbers, threads).(*entry.Unit)
			switch {
			case f.N == 0 && old.unread[span{f.Offset, f.Length}]:
			case f.N == 0 || next >= len(old.told):
				r.fresh = append(r.fresh, g)
			default:
				was, ok := old.told[next].(*entry.Unit)
				if !ok || was.N != g.N {
					return r, nil
				}
				same, err := t.sameUnit(g, was, old)
				if err != nil {
					return r, err
				}
				if !same && (!transcript.OneValue(t.Format) || g.At != was.At) {
					return r, nil
				}
				if !same { // the part is further now
					r.fresh = append(r.fresh, g)
				}
			}
			if f.N != 0 {
				next++
			}
		}
	}
	r.same = next >= len(old.told)
	return r, nil
}

// placed is a copy of a fact with the numbers that it has in a session.
func placed(f entry.Fact, in entry.Seq, numbers map[int]int, threads map[string]string) entry.Fact {
	at := func(p *entry.Place) *entry.Place {
		if p == nil {
			return nil
		}
		q := *p
		q.In = in
		return &q
	}
	switch f := f.(type) {
	case *entry.Request:
		g := *f
		g.N, g.Recorded = numbers[f.N], at(f.Recorded)
		return &g
	case *entry.Relation:
		g := *f
		g.N, g.Parent, g.Owner, g.About, g.Thread = numbers[f.N], numbers[f.Parent], numbers[f.Owner], numbers[f.About], threads[f.Thread]
		return &g
	case *entry.Response:
		g := *f
		g.N, g.Recorded = numbers[f.N], at(f.Recorded)
		return &g
	case *entry.Unit:
		g := *f
		g.N, g.Thread, g.In = numbers[f.N], threads[f.Thread], in
		return &g
	}
	return f
}

// sameRequest reports whether two requests of one recording are the same, whichever version of it they point into. Which
// provider it is for, the answer may have said meanwhile.
func (t *Transcript) sameRequest(a, b *entry.Request) bool {
	x, y := *a, *b
	x.N, x.Provider, x.Type, x.Recorded = y.N, y.Provider, y.Type, t.still(a.Recorded)
	y.Recorded = t.still(b.Recorded)
	return x.Arrived.Equal(y.Arrived) && reflect.DeepEqual(withoutTime(x), withoutTime(y))
}

func withoutTime(r entry.Request) entry.Request {
	r.Arrived = time.Time{}
	return r
}

func (t *Transcript) sameResponse(a, b *entry.Response) bool {
	x, y := *a, *b
	x.Recorded, y.Recorded = t.still(a.Recorded), t.still(b.Recorded)
	return reflect.DeepEqual(x, y)
}

// still is a place as far as it is the same in each version of a recording. What is one object is written anew each time.
func (t *Transcript) still(p *entry.Place) *entry.Place {
	if p == nil {
		return nil
	}
	if transcript.OneValue(t.Format) {
		return &entry.Place{}
	}
	return &entry.Place{Line: p.Line, Offset: p.Offset, Length: p.Length}
}

func (t *Transcript) sameUnit(a, b *entry.Unit, old aligned) (bool, error) {
	x, y := *a, *b
	x.In, y.In = 0, 0
	moves := transcript.OneValue(t.Format) && a.At != ""
	if moves {
		x.Line, x.Offset, x.Length = y.Line, y.Offset, y.Length
	}
	if !reflect.DeepEqual(x, y) {
		return false, nil
	}
	if a.Of != entry.PartRecord && a.Of != entry.PartMessage {
		return true, nil // it has no text, or that of the response
	}
	was, err := old.part(b.In, b.Offset, b.Length)
	now := t.data[a.Offset : a.Offset+a.Length]
	if err != nil || bytes.Equal(now, was) || !moves {
		return bytes.Equal(now, was), err
	}
	return reflect.DeepEqual(transcript.Message(t.Format, *a, now).Texts, transcript.Message(t.Format, *b, was).Texts), nil
}

// sameBytes reports whether the same bytes stand at a place in two versions of a recording.
func (t *Transcript) sameBytes(a, b *entry.Place, old aligned) (bool, error) {
	if a == nil || b == nil || a.Length != b.Length {
		return false, nil
	}
	was, err := old.part(b.In, b.Offset, b.Length)
	return bytes.Equal(was, t.data[a.Offset:a.Offset+a.Length]), err
}

// part reads a part of the version of a recording that an entry has.
func (old aligned) part(in entry.Seq, offset, length int64) ([]byte, error) {
	if length == 0 {
		return nil, nil
	}
	data, err := old.body(in)
	if err != nil || offset < 0 || length < 0 || offset > int64(len(data))-length {
		return nil, err
	}
	return data[offset : offset+length], nil
}
