package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"ambit"
	"ambit/internal/index"

	"golang.org/x/term"
)

// printAnswer prints an answer for people, unless it is a refusal.
func (e *env) printAnswer(q question, a ambit.Recalled) {
	if q.reading != nil {
		e.printRead(a)
	} else {
		e.printFound(a)
	}
	switch {
	case a.Status == index.CompleteMiss && q.flags.branches == "current":
		e.say("not there: all public text of the current branch was searched")
	case a.Status == index.CompleteMiss:
		e.say("not there: all public text was searched")
	case a.Cursor != "" && q.reading == nil:
		e.say("this is not all")
		e.hint("--all goes on to the end, and --cursor %s for one answer more", a.Cursor)
	case a.Cursor != "":
		e.say("this is not all")
		e.hint("--cursor %s goes on", a.Cursor)
	case a.Reason == index.EndBeyondSource && len(a.Results) > 0:
		e.say("the text ends at line %d", a.Results[len(a.Results)-1].EndLine)
	case a.Coverage == index.CoveragePartial:
		lead := "this is not all"
		if len(a.Results) == 0 {
			lead = "not in what could be looked at"
		}
		e.say("%s: %s", lead, lacking(a.Reason, q.purged))
	}
}

// lacking says why an answer that does not go on is not all.
func lacking(r index.Reason, purged bool) string {
	switch {
	case r == index.SourceUnavailable && purged:
		return "some of the session was purged"
	case r == index.SourceUnavailable:
		return "some of the session cannot be read, or passed unrecorded"
	case r == index.UnsupportedShape:
		return "some of the session is of a kind that is not known"
	}
	return string(r)
}

func (e *env) printFound(a ambit.Recalled) {
	for _, r := range a.Results {
		text := r.Text
		if r.PrefixOmitted {
			text = "…" + text
		}
		if r.SuffixOmitted {
			text += "…"
		}
		for i, line := range strings.Split(text, "\n") {
			fmt.Fprintf(e.out, "%s #%d %s:%d: %s\n", r.Ref, r.N, printable(r.Field), r.StartLine+i, printable(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
}

// onTerminal reports whether standard output is a terminal.
func (e *env) onTerminal() bool {
	to := e.out
	if o, ok := to.(*output); ok {
		to = o.to
	}
	f, ok := to.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (e *env) printRead(a ambit.Recalled) {
	for _, r := range a.Results {
		if len(a.Results) > 1 {
			e.say("%s %s, from line %d:", r.Ref, r.Field, r.StartLine)
		}
		text := strings.TrimSuffix(r.Text, "\n")
		if e.onTerminal() { // where what is recorded may not move the cursor; anywhere else it is exact
			lines := strings.Split(text, "\n")
			for i := range lines {
				lines[i] = printable(lines[i])
			}
			text = strings.Join(lines, "\n")
		}
		fmt.Fprintln(e.out, text)
	}
}

// refusal says why there is no answer, and what to do.
func (e *env) refusal(q question, a ambit.Recalled) (why, hint string) {
	switch a.Reason {
	case index.OperationBudget:
		return limited(q.flags.limits)
	case index.OutputLimit:
		why = fmt.Sprintf("one line alone takes more than the %s bytes that an answer may have", count(q.flags.limits.OutputBytes))
		if q.flags.limits.OutputBytes == 0 {
			return fmt.Sprintf("one line alone takes more than the %s bytes that an answer may have", count(index.MaxOutputBytes)),
				e.self() + " log " + shellQuote(q.session) + " --full prints it"
		}
		return why, "a higher --max-bytes, or none, allows more"
	case index.ExpiredCursor:
		return "the cursor is damaged, or of another question, session or data directory", "ask again without it"
	case index.SourceUnavailable:
		if q.purged {
			what := "what was looked for"
			if q.reading != nil {
				what = "the text of " + q.reading.Ref
			}
			return what + " was purged", e.self() + " log " + shellQuote(q.session) + " --entries shows what is left"
		}
		return "it cannot be read", e.self() + " check says what is damaged"
	}
	if q.reading != nil {
		return e.unread(q, a.Reason)
	}
	switch {
	case a.Reason == index.Conflicting:
		return "the cursor is of another question", "ask again without it"
	case q.text == "":
		why = "the TEXT is empty"
	case !utf8.ValidString(q.text):
		why = "the TEXT is not UTF-8"
	default:
		why = fmt.Sprintf("the TEXT has %s characters, and a search takes %s", count(utf8.RuneCountInString(q.text)), count(index.MaxQuery))
	}
	return why, e.self() + " search --help"
}

// unread says why there is nothing to read.
func (e *env) unread(q question, r index.Reason) (why, hint string) {
	session := shellQuote(q.session)
	ref, read := q.reading.Ref, e.self()+" read "+session+" "+q.reading.Ref
	entries := e.self() + " log " + session + " shows the entries"
	lines := q.reading.StartLine != 0 || q.reading.EndLine != 0
	switch r {
	case index.InvalidRequest:
		return fmt.Sprintf("%q is not an entry such as e12", ref), entries
	case index.RequiresRef:
		return "the REF is empty: name an entry, such as e12", entries
	case index.NotInCapture:
		if what, hint, is := e.textless(q.other, session, ref); is {
			return what, hint
		}
		if q.reading.Branches == ambit.CurrentBranch {
			entries += "; --branches all reads what was left behind by going back, too"
			return fmt.Sprintf("no text of the current branch of session %q has the ref %q", q.session, ref), entries
		}
		return fmt.Sprintf("no text of session %q has the ref %q", q.session, ref), entries
	case index.RevisionMismatch:
		return fmt.Sprintf("%s is not of revision %q", ref, q.reading.Revision), read + " --json says of which it is"
	case index.UnsupportedField:
		return fmt.Sprintf("%s has no public text in the field %q", ref, q.reading.Field), read + " --json shows its fields"
	case index.UnsupportedShape:
		return ref + " holds something of a kind that is not known", e.self() + " request " + session + " N prints all of a request as it passed"
	case index.EndBeyondSource:
		return fmt.Sprintf("the text of %s ends before line %d", ref, q.reading.StartLine), read + " prints all of it"
	case index.Conflicting:
		switch {
		case lines && (q.reading.StartLine < 1 || q.reading.EndLine < q.reading.StartLine):
			return "--lines names no lines: they count from 1, and the last is not before the first", read + " prints all"
		case q.flags.cursor != "":
			return "the cursor is of another question", "ask again without it"
		}
		return ref + " has several texts: --lines goes with one", read + " --json shows their fields; --field takes one"
	}
	return string(r), entries
}

// limited says which limit is none that can be set.
func limited(l ambit.Limits) (why, hint string) {
	for _, f := range []struct {
		name        string
		given, most int64
	}{
		{"--max-bytes", int64(l.OutputBytes), index.MaxOutputBytes}, {"--max-results", int64(l.Results), index.MaxResults}, {"--max-scan", l.ScanBytes, index.MaxScanBytes},
	} {
		if f.given < 0 || f.given > f.most {
			return fmt.Sprintf("%s is 1 to %s, not %d", f.name, count(f.most), f.given), "without it the limit is the highest that there is"
		}
	}
	return fmt.Sprintf("--max-bytes %d is too few for any answer", l.OutputBytes), "without it the limit is the highest that there is"
}
