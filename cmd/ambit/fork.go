package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// forked is the answer of ambit fork.
type forked struct {
	Session string    `json:"session"`
	From    string    `json:"from"`
	Seq     entry.Seq `json:"seq"`
	Ref     string    `json:"ref"`
}

func newFork(e *env) *cobra.Command {
	var title, tag string
	var asJSON bool
	c := &cobra.Command{
		Use:   "fork SESSION [REF]",
		Short: "Begin a session that goes on from an entry of another",
		Long: "Begin a session that goes on from an entry of another: it holds everything up to there, and the other stays as it is.\n" +
			"A REF is an entry, such as e12, or a request with its answer, such as #3; without one the fork begins at the end.\n" +
			"With --tag, an agent goes on in the fork whose base URL has /s/TAG behind the provider's name; without, none does.\n\n" + sessionHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misused("fork: name a SESSION, or last")
			}
			if len(args) > 2 {
				return misused("fork: takes a SESSION and perhaps a REF, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			ref, tagged := "", c.Flags().Changed("tag")
			if len(args) == 2 {
				if ref = args[1]; entry.ParseRef(ref) == 0 && numberOf(ref) == 0 {
					return misused("%q is not an entry such as e12 or a request such as #3", ref)
				}
			}
			if tagged && strings.Trim(tag, ".") == "" || len(tag) > 64 || strings.Trim(tag, plainTag) != "" {
				return misused("a tag is 1 to 64 letters, digits and -._~, as they stand in a URL, and not only dots; %q is none", tag)
			}
			f, err := e.fork(c.Context(), args[0], ref, title, tag)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(f)
			}
			fmt.Fprintln(e.out, f.Session)
			e.say("goes on from %s of %s", f.Ref, f.From)
			return nil
		},
	}
	c.Flags().StringVar(&title, "title", "", "a title for the new session")
	c.Flags().StringVar(&tag, "tag", "", "the name by which a base URL reaches the new session")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// plainTag are the characters that mean themselves in a URL's path.
const plainTag = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// numberOf reads #3; 0 when it is something else.
func numberOf(ref string) int {
	digits, ok := strings.CutPrefix(ref, "#")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return 0
	}
	return n
}

func (e *env) fork(ctx context.Context, arg, ref, title, tag string) (forked, error) {
	r, name, err := e.one(ctx, arg) // which makes nothing where there is nothing
	if err != nil {
		return forked{}, err
	}
	r.Close()
	d, _, err := e.record(journal.Holder{Command: "fork"})
	if err != nil {
		return forked{}, err
	}
	defer d.Close()
	at, err := e.place(ctx, d, name, ref)
	if err != nil {
		return forked{}, err
	}
	first := entry.Session{Title: title}
	if tag != "" {
		if first.Key = ambit.TagKey(tag); first.Title == "" {
			first.Title = tag
		}
		if err := e.unclaimed(ctx, d, first.Key, tag); err != nil {
			return forked{}, err
		}
	}
	if first.ID, err = ambit.SessionName(e.now(), rand.Reader); err != nil {
		return forked{}, err
	}
	if err := ambit.Fork(ctx, d, name, at, first); err != nil {
		if errors.Is(err, ambit.ErrNoEntry) {
			return forked{}, &hintError{fmt.Errorf("session %s has no entry %s", name, at.Ref()), e.self() + " log " + name + " --entries shows them"}
		}
		return forked{}, e.damaged(err)
	}
	return forked{Session: first.ID, From: name, Seq: at, Ref: at.Ref()}, nil
}

// place is the entry that a ref names: one by its name, the last that belongs to a request, or the session's last.
func (e *env) place(ctx context.Context, d *journal.Dir, name, ref string) (entry.Seq, error) {
	if seq := entry.ParseRef(ref); seq != 0 {
		return seq, nil
	}
	p, err := pool.Load(ctx, d, name)
	if err != nil {
		return 0, e.damaged(err)
	}
	if ref == "" {
		return p.Seq, nil
	}
	x := p.Exchange(numberOf(ref))
	if x == nil {
		return 0, &hintError{fmt.Errorf("session %s has no request %s", name, ref), e.self() + " request " + name + " --list shows them"}
	}
	last := max(x.Seq, x.Answered)
	for _, u := range p.Units {
		if u.N == x.Request.N {
			last = max(last, u.Seq)
		}
	}
	return last, nil
}

// unclaimed refuses a tag that already leads to a session.
func (e *env) unclaimed(ctx context.Context, d *journal.Dir, key, tag string) error {
	names, err := d.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := d.First(ctx, name)
		if s, ok := f.Fact.(*entry.Session); err == nil && ok && s.Key == key {
			if purged, err := d.Purged(name); purged != nil && err == nil {
				continue // nobody goes on in it
			}
			return &hintError{fmt.Errorf("the tag %q leads to session %s already", tag, name), "take another"}
		}
	}
	return nil
}
