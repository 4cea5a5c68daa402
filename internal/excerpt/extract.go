package excerpt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options bound a checkpoint. The zero value takes the defaults.
type Options struct {
	MaxBytes   int    // of its YAML; 0 for 8 KiB
	MaxEntries int    // of a list; 0 for 12
	MaxEntry   int    // of an entry of a list, in characters; 0 for 300
	By         string // the tool by which originals are recalled, as in Where

	files int // of the list of files: as of MaxEntries, but not tightened, as nothing else brings a path back
}

// The defaults: a checkpoint of 8 KiB is some 2,500 tokens, of which a list that is full takes 3.6 KB.
const (
	defaultBytes   = 8 << 10
	defaultEntries = 12
	defaultEntry   = 300
)

func (o Options) orDefault() Options {
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultBytes)
	o.MaxEntries = cmp.Or(o.MaxEntries, defaultEntries)
	o.MaxEntry = cmp.Or(o.MaxEntry, defaultEntry)
	o.files = o.MaxEntries
	return o
}

// Extract makes a checkpoint of a conversation without a model. It always reads the steps from the beginning, so that nothing
// decays however often it is made anew. The user's constraints stand in it verbatim, each once, whatever their length; of
// everything else the least important goes first until the bounds hold, and current_state says how much went. Where the
// constraints leave less than half of MaxBytes, the rest has half of it beside them.
func Extract(steps []Step, o Options) Checkpoint {
	o = o.orDefault()
	e := newExtraction(steps)
	var c Checkpoint
	bound := max(o.MaxBytes, e.mandatory()+o.MaxBytes/2)
	for level := range levels {
		c = e.checkpoint(o.tightened(level))
		if len(c.YAML()) <= bound {
			break
		}
	}
	return c
}

// mandatory is what the constraints take of a checkpoint at least, in bytes.
func (e *extraction) mandatory() int {
	n := 0
	for _, s := range e.constraints {
		n += len(s) + len("  - '"+byUser+"'\n")
	}
	return n
}

// levels is how often the bounds are tightened before a checkpoint stays as large as it is.
const levels = 7

// tightened are narrower bounds: each level takes a quarter off entries and off lists, with a floor.
func (o Options) tightened(level int) Options {
	for range level {
		o.MaxEntry, o.MaxEntries = min(o.MaxEntry, max(80, o.MaxEntry*3/4)), max(2, o.MaxEntries*3/4)
	}
	return o
}

// said is a text and where it was said.
type said struct{ ref, text string }

// extraction is what a checkpoint is made of.
type extraction struct {
	*trail
	users       []said   // requests of the user, without what clients put around them
	summary     said     // the newest that the client made itself of what was said before
	assistant   []said   // what the assistant said
	constraints []string // of all requests, each once
}

func newExtraction(steps []Step) *extraction {
	e := &extraction{trail: newTrail(steps)}
	e.joinPaths()
	for _, s := range steps {
		switch s.Role {
		case User:
			e.asked(s)
		case Assistant:
			if text := tidy(strings.Join(s.Texts, "\n\n")); text != "" {
				e.assistant = append(e.assistant, said{s.Ref, text})
			}
		}
	}
	e.constraints = distinct(e.constraints)
	return e
}

// asked takes a message of the user.
func (e *extraction) asked(s Step) {
	request := said{ref: s.Ref}
	for _, text := range s.Texts {
		if answered(text) {
			break // the rest is a tool's
		}
		if text = Own(text); strings.TrimSpace(text) == "" {
			continue
		}
		if Brought(text) {
			if summarized(bare(text)) {
				e.summary = said{s.Ref, tidy(text)}
			}
			continue
		}
		request.text += "\n\n" + text
		e.constraints = append(e.constraints, Constraints(text)...)
	}
	if request.text = tidy(request.text); request.text != "" {
		e.users = append(e.users, request)
	}
}

// tidy is a text without control characters and space around it, with plain line ends.
func tidy(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if control(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}

// checkpoint makes one within the bounds of its lists.
func (e *extraction) checkpoint(o Options) Checkpoint {
	var c Checkpoint
	var left leftOut
	c.Objective = e.objective(o)
	c.Completed = left.list(e.completed(), o, sectionCompleted)
	c.FailedAttempts = left.list(e.failed(), o, sectionFailed)
	c.RunningProcesses = left.list(e.running(), o, sectionRunning)
	c.NextSteps = left.list(e.next(), o, sectionNext)
	for _, s := range e.constraints { // what has several lines would be indented in the objective
		if strings.Contains(s, "\n") || !strings.Contains(c.Objective, s) {
			c.Decisions = append(c.Decisions, byUser+s)
		}
	}
	c.Decisions = append(c.Decisions, left.list(e.decisions(), o, sectionDecisions)...)
	files := e.files()
	if n := len(files) - o.files; n > 0 {
		left.say(n, sectionFiles)
		files = files[:o.files]
	}
	c.ImportantFiles = files
	c.CurrentState = e.state(o, left)
	return c
}

// byUser stands before what a user said, among decisions.
const byUser = "User: "

// leftOut are the entries that found no room, in words.
type leftOut []string

func (l *leftOut) say(n int, section string) { *l = append(*l, fmt.Sprintf("%d of %s", n, section)) }

// list is a list within bounds. Its last entries stay, as they are the newest.
func (l *leftOut) list(entries []said, o Options, section string) []string {
	if n := len(entries) - o.MaxEntries; n > 0 {
		l.say(n, section)
		entries = entries[n:]
	}
	var short []string
	for _, s := range entries {
		short = append(short, s.within(o.MaxEntry))
	}
	return short
}

// within is a text with its reference, of at most limit characters.
func (s said) within(limit int) string {
	ref := in(s.ref)
	return clipCharacters(s.text, limit-len(ref)) + ref
}

// clipCharacters is the beginning of a text, of at most limit characters; what is cut off is an ellipsis.
func clipCharacters(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-1 {
			return strings.TrimRight(s[:i], " \n\t") + "…"
		}
		n++
	}
	return s
}

// objective is what was asked first, and last where that is something else, each with its constraints.
func (e *extraction) objective(o Options) string {
	users := e.users
	if len(users) == 0 {
		text := "The user's request is not among the steps of this record."
		if e.summary.text != "" {
			text += " The client's own summary" + in(e.summary.ref) + " begins:\n" + clipCharacters(e.summary.text, o.MaxEntry)
		}
		return text
	}
	first, last := users[0], users[len(users)-1]
	for _, u := range users {
		if !clientCommand.MatchString(u.text) {
			first = u
			break
		}
	}
	text := UserText(first.text, 5*o.MaxEntry, Where{Ref: first.ref, By: o.By})
	if last.text != first.text {
		text = "First request" + in(first.ref) + ":\n" + text + "\n\nLatest request" + in(last.ref) + ":\n" + UserText(last.text, 4*o.MaxEntry, Where{Ref: last.ref, By: o.By})
	}
	return text
}

// clientCommand matches a command that is meant for the client alone.
var clientCommand = regexp.MustCompile(`^/\w*$`)

// in names the step that something stands in.
func in(ref string) string {
	if ref == "" {
		return ""
	}
	return " (" + oneLine(ref, maxRef) + ")"
}

// byLast are artifacts in the order in which they were last worked on.
func (e *extraction) byLast(keep func(*Artifact) bool) []*Artifact {
	var all []*Artifact
	for _, a := range e.all {
		if keep(a) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *Artifact) int { return cmp.Compare(a.seq, b.seq) })
	return all
}

// completed is what was made or changed and what ran well; what verifies comes last, as the last entries stay.
func (e *extraction) completed() []said {
	var done, ran, verified []said
	for _, a := range e.byLast(func(a *Artifact) bool { return a.Outcome != Failed && !a.Running }) {
		switch {
		case a.Command == "" && a.Edits+a.Creations+a.Deletions > 0:
			done = append(done, said{a.Ref, strings.ToUpper(work(a)[:1]) + work(a)[1:] + ": " + a.Path})
		case a.Command == "" || a.Outcome != Passed || looks(a.Command):
		case verifies(a.Command):
			verified = append(verified, said{a.Ref, "Passed: " + noted(a)})
		default:
			ran = append(ran, said{a.Ref, "Ran: " + noted(a)})
		}
	}
	return slices.Concat(ran, done, verified)
}

// work is what was done with a file, in words.
func work(a *Artifact) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what Act
	}{{a.Creations, Created}, {a.Edits, Edited}, {a.Deletions, Deleted}, {a.Reads, Read}} {
		switch {
		case p.n == 1:
			parts = append(parts, string(p.what))
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%s %d times", p.what, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

// noted is an artifact with what its last result said.
func noted(a *Artifact) string {
	if a.Note == "" {
		return a.Command + a.Path
	}
	return a.Command + a.Path + " — " + a.Note
}

// failed is what failed and was not followed by a success of the same.
func (e *extraction) failed() []said {
	var all []said
	for _, a := range e.byLast(func(a *Artifact) bool { return a.Outcome == Failed && (a.Command == "" || !looks(a.Command)) }) {
		what := "Failed"
		if a.Command == "" {
			what = "Not " + string(a.Last)
		}
		if a.Failures > 1 {
			what += fmt.Sprintf(" %d times", a.Failures)
		}
		all = append(all, said{a.Ref, what + ": " + noted(a)})
	}
	return all
}

// running is what was started in the background and was not seen to end.
func (e *extraction) running() []said {
	var all []said
	for _, a := range e.byLast(func(a *Artifact) bool { return a.Running }) {
		text := a.Command
		if a.session != "" {
			text += ", as " + oneLine(a.session, maxTool)
		}
		all = append(all, said{a.Ref, text + ", started and not seen to end"})
	}
	return all
}

// files are the files that were worked on, most important first: those that were changed, by how often and how lately, then
// those that were read.
func (e *extraction) files() []File {
	all := e.byLast(func(a *Artifact) bool { return a.Path != "" && a.Reads+a.Edits+a.Creations+a.Deletions > 0 })
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *Artifact) int { return cmp.Compare(weight(b), weight(a)) })
	var files []File
	for _, a := range all {
		reason := work(a)
		if a.Ref != "" {
			reason += ", last in " + oneLine(a.Ref, maxRef)
		}
		files = append(files, File{a.Path, reason})
	}
	return files
}

// weight is how important a file is: any change counts for more than all reads.
func weight(a *Artifact) int {
	changes := a.Edits + a.Creations + a.Deletions
	if changes > 0 {
		return 1000 + 3*changes + min(a.Reads, 100)
	}
	return min(a.Reads, 100)
}
