package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// suffixed reports whether a ref is one as models are shown it, such as e12.k7q3abcd.
func suffixed(ref string) bool {
	short, _, marked := strings.Cut(ref, ".")
	return marked && entry.ParseRef(short) != 0
}

// sessionOf is the session of a ref with a suffix.
func (e *env) sessionOf(ctx context.Context, ref string) (string, error) {
	d, err := e.read(nil)
	if err != nil {
		return "", err
	}
	defer d.Close()
	key, err := e.cursorKey()
	if err != nil {
		return "", err
	}
	all, err := d.Sessions(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Backward(all) {
		if ambit.Names(key, name, ref) {
			return name, nil
		}
	}
	return "", &hintError{fmt.Errorf("no session here has the ref %q", ref), e.self() + " read SESSION REF takes one without its suffix"}
}

// factAt is what a session has at a ref, with its suffix or without; nil for nothing.
func factAt(ctx context.Context, d *journal.Dir, session, ref string) entry.Fact {
	short, _, _ := strings.Cut(ref, ".")
	seq := entry.ParseRef(short)
	if seq == 0 {
		return nil
	}
	for f, err := range d.Read(ctx, session, seq-1) {
		if err == nil {
			return f.Fact
		}
		break
	}
	return nil
}

// textless says what an entry is that has no text to be read, and what shows it; false where it is nothing of the kind.
func (e *env) textless(f entry.Fact, session, ref string) (what, hint string, is bool) {
	shown := e.self() + " log " + session + " --entries shows the entries"
	switch f := f.(type) {
	case *entry.Decision:
		what = fmt.Sprintf("%s is a decision about what is sent, %s, and no text", ref, f.Event)
		if f.Checkpoint != nil {
			shown = e.self() + " view " + session + " --checkpoint prints the newest checkpoint"
		}
	case *entry.Edit:
		what = fmt.Sprintf("%s is an edit, %s to what is sent, and no text", ref, plural(f.Changes, "change", "changes"))
		shown = e.self() + " view " + session + " shows what was sent, and with --checkpoint the newest checkpoint"
	case *entry.Sent:
		what = fmt.Sprintf("%s says what was sent for request %d, and is no text", ref, f.N)
		shown = fmt.Sprintf("%s request %s %d prints it", e.self(), session, f.N)
	case *entry.Pin:
		what = ref + " takes pin " + f.ID + " off, and has no text"
		shown = e.self() + " pin " + session + " shows those that hold"
	default:
		return "", "", false
	}
	return what, shown, true
}
