package ambit

import (
	"context"
	"fmt"
	"strings"

	"ambit/journal"
)

// Session is the name of the recording's session.
func (r *Recording) Session() string { return r.session }

// Whole is all public text of an entry, or of one of its fields, however long it is: without the limits that Read has, and so
// nothing for a model to ask for. Several texts have a line break between them. Of q its Ref, Revision, Field and Branches
// count.
//
// The error is ErrNoRef where there is no such text, journal.ErrPurged, or what is wrong with it otherwise.
func (r *Recording) Whole(ctx context.Context, key []byte, q Reading) (string, error) {
	s := r.source(ctx, r.pool, q.Branches)
	if s.only, s.name = r.named(key, q.Ref), q.Ref; s.only == 0 {
		return "", sayf(ErrNoRef, "session %s has no entry of the ref %q", r.session, q.Ref)
	}
	all := s.texts
	if t, is, err := r.beside(ctx, s.only); is {
		all = alone(t, err, q.Ref)
	}
	var texts []string
	for t, err := range all(0) {
		switch {
		case err != nil && (q.Field == "" || t.Field == "" || t.Field == q.Field):
			if s.r.purged {
				return "", sayf(journal.ErrPurged, "the text of %s was purged", q.Ref)
			}
			return "", fmt.Errorf("read %s: %w", q.Ref, err)
		case err != nil:
		case q.Revision != "" && t.Revision != q.Revision:
			return "", sayf(ErrNoRef, "%s is of revision %s", q.Ref, t.Revision)
		case q.Field == "" || t.Field == q.Field:
			texts = append(texts, t.Text)
		}
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, "\n"), nil
	case q.Field != "":
		return "", sayf(ErrNoRef, "%s has no public text in the field %q", q.Ref, q.Field)
	}
	return "", sayf(ErrNoRef, "session %s has no public text of the ref %q", r.session, q.Ref)
}
