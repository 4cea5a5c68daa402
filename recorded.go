package ambit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/transcript"
	"ambit/provider"
)

// Imported reports whether the session was recorded elsewhere: then it is evidence, and nothing of it has authority.
func (r *Recording) Imported() bool { return r.pool.Imported != nil }

// Title is what people may call the session: what it was given, what the recording that was imported says, or how what was said
// first to Ambit's own agent begins. It is empty where there is none, or where it cannot be read.
func (r *Recording) Title(ctx context.Context) string {
	if o := r.pool.Own; o != nil && r.pool.Session.Title == "" && len(o.Inputs) > 0 {
		text, err := r.store.Body(ctx, r.session, *o.Inputs[0].Body)
		if err != nil {
			return ""
		}
		return titleOf(string(text))
	}
	if r.pool.Session.Title != "" || len(r.pool.Recordings) == 0 {
		return r.pool.Session.Title
	}
	at := r.title()
	if at == nil {
		return ""
	}
	raw, err := r.part(ctx, at.In, at.Offset, at.Length)
	if err != nil {
		return ""
	}
	return titleOf(provider.JSON(raw).Text())
}

// title is where the newest version of the session's recording has its title, or the first of its sub-agents'.
func (r *Recording) title() (at *entry.Place) {
	for i := range r.pool.Recordings {
		rec := &r.pool.Recordings[i]
		if rec.Title != nil && (at == nil || rec.Key == r.pool.Session.Key) {
			at = rec.Title
		}
	}
	return at
}

// maxTitle is the longest title that is made of what somebody said, in characters.
const maxTitle = 80

// titleOf is the beginning of a text, in one line.
func titleOf(text string) string {
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > maxTitle {
		return string(words[:maxTitle-1]) + "…"
	}
	return string(words)
}

// part reads some bytes of an imported recording.
func (r *Recording) part(ctx context.Context, in entry.Seq, offset, length int64) ([]byte, error) {
	rec := r.pool.Recording(in)
	if rec == nil {
		return nil, fmt.Errorf("%w: the recording of %s", ErrNotRecorded, in.Ref())
	}
	raw, err := r.store.Part(ctx, r.session, *rec.Body, offset, length)
	if err == nil && int64(len(raw)) < length {
		err = errShort
	}
	return raw, err
}

// Recorded is the body of request n, or of its response, as the recording has it that was imported. It is
// ErrNotRecorded where that does not have it, as recordings of sessions do not, and where nothing was imported.
func (r *Recording) Recorded(ctx context.Context, n int, response bool) ([]byte, error) {
	x := r.pool.Exchange(n)
	if x == nil {
		return nil, ErrNotRecorded
	}
	at := x.Request.Recorded
	if response && x.Response != nil {
		at = x.Response.Recorded
	}
	if at == nil {
		return nil, ErrNotRecorded
	}
	return r.recorded(ctx, at)
}

// recorded is a body as an imported recording has it: a JSON value, or one that stands in a JSON string. Recordings of
// sessions tell that there was one, and have none.
func (r *Recording) recorded(ctx context.Context, at *entry.Place) ([]byte, error) {
	if at.Length == 0 {
		return nil, fmt.Errorf("%w: the recording that was imported does not have it", ErrNotRecorded)
	}
	raw, err := r.part(ctx, at.In, at.Offset, at.Length)
	if v := provider.JSON(raw); err == nil && v.Kind() == '"' {
		return []byte(v.Text()), nil
	}
	return raw, err
}

// recorded reads a message that stands in an imported recording.
func (s *retained) recorded(u *pool.Unit) (provider.Message, error) {
	if len(u.Element) == 0 && u.Unknown && u.N == 0 {
		return provider.Message{}, nil // a part of the recording that is no record
	}
	raw, err := s.r.part(s.ctx, u.In, u.Offset, u.Length)
	if err != nil || s.without(raw) {
		return provider.Message{}, err
	}
	if u.Of == entry.PartRecord {
		return transcript.Message(s.r.pool.Recording(u.In).Format, u.Unit, raw), nil
	}
	x := s.pool.Exchange(u.N)
	if x == nil {
		return provider.Message{}, ErrNotRecorded
	}
	family := Family(x.Request.Provider, x.Request.Method, x.Request.Path)
	return family.Message(provider.Request{Type: x.Request.Type, Model: x.Request.Model}, raw, u.At), nil
}

// outgrown reports whether a unit is a part that could not be read because a recording ended in it, and a newer version of
// that is there, which says itself what cannot be read. What is one object is written anew each time.
func (s *retained) outgrown(u *pool.Unit) bool {
	if u.N != 0 || u.In == 0 {
		return false
	}
	of := s.pool.Recording(u.In)
	if of == nil || !transcript.OneValue(of.Format) && u.Offset+u.Length < of.Body.Size {
		return false
	}
	return slices.ContainsFunc(s.pool.Recordings, func(r pool.Recording) bool {
		return r.Key == of.Key && r.Seq > of.Seq && r.Seq <= s.pool.Seq
	})
}

// Turns is how many of the session's requests were answered, at least in part.
func (r *Recording) Turns() int {
	n := 0
	for i := range r.pool.Exchanges {
		if a := r.pool.Exchanges[i].Response; a != nil && a.End != entry.EndNone {
			n++
		}
	}
	return n
}

// FormatAmbit is the format of what ambit export wrote.
const FormatAmbit = entry.FormatAmbit
