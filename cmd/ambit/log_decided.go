package main

import (
	"fmt"
	"strings"

	"ambit/entry"
)

// decidedGist is an entry of what was decided or asked for in a few words; "" for others.
func decidedGist(f entry.Fact) string {
	switch f := f.(type) {
	case *entry.Decision:
		return decisionGist(f)
	case *entry.Edit:
		return strings.TrimSpace(before(f.N)+f.Thread) + ", " + plural(f.Changes, "change", "changes") + ", " + count(size(f.Body)) + " bytes"
	case *entry.Sent:
		s := fmt.Sprintf("#%d attempt %d, ~%s tokens of ~%s", f.N, f.Attempt, count(f.After), count(f.Whole))
		switch {
		case f.Body == nil && f.Why != "":
			s += ", as it came: " + f.Why
		case f.Body == nil:
			s += ", as it came"
		default:
			s += fmt.Sprintf(", %s edited, %s bytes", plural(f.Edited, "message", "messages"), count(size(f.Body)))
		}
		if n := len(f.Held) + len(f.Missing); n > 0 {
			s += fmt.Sprintf(", %d of %s held", len(f.Held), plural(n, "pin", "pins"))
		}
		if f.Refused != nil {
			s += fmt.Sprintf("; the attempt before was refused with %d", f.Status)
		}
		return s
	case *entry.Pin:
		s := f.ID + " by " + f.By
		switch {
		case f.Off:
			return s + ", taken off"
		case f.Of != 0:
			s += ", as " + f.Of.Ref() + " says"
		}
		return s + ", " + count(size(f.Body)) + " bytes"
	case *entry.Note:
		s := f.ID + " " + f.Class + " by " + f.By + ", unverified"
		if len(f.Refs) > 0 {
			s += ", rests on " + strings.Join(f.Refs, ", ")
		}
		return s + ", " + count(size(f.Body)) + " bytes"
	}
	return ownGist(f)
}

// ownGist is an entry of a session of Ambit's own in a few words; "" for others.
func ownGist(f entry.Fact) string {
	switch f := f.(type) {
	case *entry.Input:
		return f.ID + " by " + f.By + ", " + string(f.Delivery) + ", " + count(size(f.Body)) + " bytes"
	case *entry.Promoted:
		return fmt.Sprintf("activity %d: %s", f.Activity, refs(f.Inputs))
	case *entry.Works:
		s := strings.TrimSpace(f.Agent+" with "+f.Model+" over "+f.Type+" "+f.Travels) + in(f.Dir)
		if f.Plain {
			s += ", context.mode off"
		}
		return s
	case *entry.Told:
		s := "a message of " + count(size(f.Text)) + " bytes"
		if f.Baseline {
			s = "a baseline of " + count(size(f.Text)) + " bytes: " + f.Why
		}
		for _, m := range f.Missing {
			s += "; " + m.Key + ": " + m.Why
		}
		return s
	case *entry.Aside:
		return fmt.Sprintf("#%d %s, %s bytes", f.N, f.ID, count(size(f.Body)))
	case *entry.Call:
		return fmt.Sprintf("#%d %s %s", f.N, f.Name, f.ID)
	case *entry.Result:
		s := fmt.Sprintf("#%d %s, %s, %s bytes", f.N, f.ID, f.Ended, count(size(f.Body)))
		if f.Failed {
			s += ", failed"
		}
		return s
	case *entry.Idle:
		s := fmt.Sprintf("activity %d %s after %s", f.Activity, f.Ended, plural(f.Turns, "turn", "turns"))
		if f.Why != "" {
			s += ": " + f.Why
		}
		return s
	}
	return ""
}

// in says where an agent works.
func in(dir string) string {
	if dir == "" {
		return ""
	}
	return " in " + dir
}

// refs are entries by their refs.
func refs(list []entry.Seq) string {
	names := make([]string, len(list))
	for i, seq := range list {
		names[i] = seq.Ref()
	}
	return strings.Join(names, ", ")
}

func decisionGist(d *entry.Decision) string {
	s := strings.TrimSpace(before(d.N)+d.Thread) + " " + d.Event
	if d.Stage != entry.StageNone {
		s += fmt.Sprintf(", ~%s tokens to ~%s", count(d.Before), count(d.After))
	}
	for _, is := range []struct {
		so   bool
		text string
	}{{d.Reactive, "after a refusal"}, {d.Forced, "forced"}, {d.Cold, "on a cold cache"}} {
		if is.so {
			s += ", " + is.text
		}
	}
	if d.Price > 0 {
		s += fmt.Sprintf(", $%.4f", d.Price)
	}
	if d.Why != "" {
		s += ": " + d.Why
	}
	return s
}

// before says before which request something was decided.
func before(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("before #%d ", n)
}
