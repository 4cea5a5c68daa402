package main

import (
	"context"
	"errors"
	"fmt"

	"ambit"
	"ambit/internal/index"
	"ambit/journal"
)

// everySession stands in place of a SESSION for all of them.
const everySession = "all"

// foundIn is the answer of one session in the answer of ambit search all.
type foundIn struct {
	Session string         `json:"session"`
	Title   string         `json:"title"`
	Answer  ambit.Recalled `json:"answer"`
}

// perSession is how many results of a session are printed where all are searched; each says how to see the rest.
const perSession = 3

// searchAll asks every session, the newest first, and prints what is found where. That a text is nowhere is said only
// when each session proves it.
func (e *env) searchAll(ctx context.Context, q ambit.Query, all, asJSON bool) error {
	if q.Cursor != "" {
		return misused("--cursor goes on in one session, which an answer for all of them names")
	}
	d, err := e.read(nil)
	if err != nil {
		return err
	}
	defer d.Close()
	key, err := e.cursorKey()
	if err != nil {
		return err
	}
	names, err := d.Sessions(ctx)
	if err != nil {
		return err
	}
	if !all && !asJSON && q.Limits.Results == 0 {
		q.Limits.Results = perSession
	}
	bar := e.progress("searching")
	defer bar.end()
	answers := []foundIn{}
	var unsure []string // of which not all could be looked at
	holding := 0
	for i := len(names) - 1; i >= 0; i-- {
		name := names[i]
		bar.at(0, "%s of %s sessions", count(len(names)-1-i), count(len(names)))
		rec, err := ambit.OpenRecording(ctx, d, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, journal.ErrNoSession) {
			continue // it was removed since they were listed
		}
		one := foundIn{Session: name}
		if rec == nil {
			one.Answer = index.Refusal(index.Unavailable, index.SourceUnavailable)
		} else {
			one.Title, one.Answer = rec.Title(ctx), rec.Search(ctx, key, q)
		}
		switch one.Answer.Status {
		case index.Found:
			holding++
			if !asJSON {
				e.printHolding(ctx, one, rec, key, q, all)
			}
		case index.CompleteMiss:
		default:
			if one.Answer.Status == index.Partial || one.Answer.Reason == index.SourceUnavailable {
				unsure = append(unsure, name)
				break
			}
			why, hint := e.refusal(question{session: name, text: q.Text, flags: &recallFlags{limits: q.Limits}}, one.Answer) // it is the question, alike for each session
			return &hintError{errors.New(why), hint}
		}
		answers = append(answers, one)
	}
	bar.end()
	if asJSON {
		return e.printJSON(map[string][]foundIn{"sessions": answers})
	}
	switch {
	case holding > 0:
		e.say("in %s of %s", count(holding), plural(len(answers), "session", "sessions"))
	case len(unsure) == 0:
		e.say("not there: all public text of the current branches of %s was searched", plural(len(answers), "session", "sessions"))
	}
	if len(unsure) > 0 {
		e.say("not all of %s could be searched; %s search %s %s says why", plural(len(unsure), "session", "sessions"), e.self(), unsure[0], shellQuote(q.Text))
	}
	return nil
}

// printHolding prints what one session holds, with a line above that names it.
func (e *env) printHolding(ctx context.Context, one foundIn, rec *ambit.Recording, key []byte, q ambit.Query, all bool) {
	fmt.Fprintf(e.out, "%s  %s\n", one.Session, printable(one.Title))
	a := one.Answer
	e.printFound(a)
	for all && a.Cursor != "" {
		q.Cursor = a.Cursor
		a = rec.Search(ctx, key, q)
		e.printFound(a)
	}
	if a.Cursor != "" {
		fmt.Fprintf(e.out, "… and more: %s search %s %s\n", e.self(), one.Session, shellQuote(q.Text))
	}
}
