package excerpt

import (
	"regexp"
	"slices"
	"strings"
)

// Artifact is a file that a conversation worked on, or a command that it ran.
type Artifact struct {
	Path    string // of a file as the calls spell it; empty for a command
	Command string // of a command, so that the same one run again is the same; empty for a file

	Reads, Edits, Creations, Deletions int // how often, of a file; refused calls do not count
	Runs                               int // how often, of a command
	Failures                           int // calls on it that failed or were refused

	Last    Act     // what was done with the file last; empty for a command
	Outcome Outcome // of the last call on it
	Note    string  // the line of the last result that says most of its outcome; may be empty
	Ref     string  // of the last step in which it was worked on
	Running bool    // the command was started in the background and was not seen to end

	session string // by which the client names the running command
	seq     int    // the call on it that came last, counted from 1
}

// Trail computes what a conversation worked on, from its steps alone: the files that it read, edited, created and deleted,
// and the commands that it ran, with how often, how the last call on each ended, and where. They come in the order in which
// they were first seen. It knows the tools of Claude Code, OpenCode, Crush, pi, Gemini CLI, Qwen Code, Copilot CLI, Cline,
// Roo Code and Codex; of commands of a shell it also tells the files that they plainly read, write or remove.
func Trail(steps []Step) []Artifact {
	t := newTrail(steps)
	all := make([]Artifact, len(t.all))
	for i, a := range t.all {
		all[i] = *a
	}
	return all
}

// trail follows the calls of a conversation.
type trail struct {
	all     []*Artifact
	byName  map[string]*Artifact
	waiting []waiting
	todos   []todo
	seq     int
}

// waiting is a call whose result has not come yet.
type waiting struct {
	id, ref string
	use     use
	seq     int
}

// maxWaiting bounds the calls that wait for a result, the newest; others are taken to have none.
const maxWaiting = 256

func newTrail(steps []Step) *trail {
	t := &trail{byName: make(map[string]*Artifact)}
	for _, s := range steps {
		for _, r := range s.Results {
			t.result(r, s.Ref)
		}
		t.said(s)
		for _, c := range s.Calls {
			t.call(c, s.Ref)
		}
	}
	for _, w := range t.waiting {
		t.apply(w, nil, w.ref)
	}
	t.waiting = nil
	return t
}

// said notes the calls and the results that stand in texts.
func (t *trail) said(s Step) {
	for i, text := range s.Texts {
		switch {
		case s.Role == User && answered(text):
			t.result(Result{Text: strings.Join(s.Texts[i:], "\n")}, s.Ref)
			return
		case s.Role == Assistant && len(s.Calls) == 0:
			for _, u := range tagged(text) {
				t.wait(waiting{ref: s.Ref, use: u})
			}
		}
	}
}

// call notes a call.
func (t *trail) call(c Call, ref string) {
	all := members(c.Args)
	u := useOf(c.Tool, all)
	if len(all) == 0 {
		text := freeText(c.Args)
		if u.files = append(u.files, patched(text)...); len(u.files) == 0 {
			u = taggedUse(c.Tool, text)
		}
	}
	if u.plans {
		t.todos = u.todos
	}
	t.wait(waiting{id: c.ID, ref: ref, use: u})
}

// wait puts a call among those that wait for their result.
func (t *trail) wait(w waiting) {
	t.seq++
	if w.seq = t.seq; len(w.use.files) == 0 && w.use.command == "" && w.use.session == "" {
		return
	}
	t.waiting = append(t.waiting, w)
	if len(t.waiting) > maxWaiting {
		t.apply(t.waiting[0], nil, t.waiting[0].ref)
		t.waiting = t.waiting[1:]
	}
}

// result finds the call that a result is of: the newest with its id, as clients that count ids use them again; one without
// an id is of the oldest call.
func (t *trail) result(r Result, ref string) {
	for i := len(t.waiting) - 1; i >= 0; i-- {
		at := i
		if r.Call == "" {
			at = 0
		}
		if w := t.waiting[at]; w.id == r.Call || r.Call == "" {
			t.waiting = slices.Delete(t.waiting, at, at+1)
			if ref == "" {
				ref = w.ref
			}
			t.apply(w, &r, ref)
			return
		}
	}
}

// apply counts a call, with its result where it has one.
func (t *trail) apply(w waiting, r *Result, ref string) {
	if w.use.session != "" {
		t.watch(w, r)
	}
	outcome := Outcome("")
	if w.use.command != "" {
		outcome = t.ran(w, r, ref)
	}
	for _, f := range w.use.files {
		t.touched(f, w, r, outcome, ref)
	}
}

// touched counts what was done with a file.
func (t *trail) touched(f touch, w waiting, r *Result, outcome Outcome, ref string) {
	if f.path = strings.TrimSpace(f.path); f.path == "" || w.use.command != "" && outcome == Failed {
		return
	}
	a := t.artifact("f"+f.path, w.seq)
	a.Path, a.Ref, a.Last, a.Outcome, a.Note = f.path, ref, f.act, "", ""
	if r != nil {
		a.Outcome = Passed
		if r.Failed || f.act != Read && w.use.command == "" && refused(*r) {
			a.Outcome, a.Note = Failed, telling(edges(r.Text), Failed)
			a.Failures++
			return
		}
	}
	known := a.Reads+a.Edits+a.Creations > 0 && a.Deletions == 0
	switch {
	case f.act == Read:
		a.Reads++
	case f.act == Deleted:
		a.Deletions++
	case f.act == Created && !known:
		a.Creations++
	default:
		a.Last = Edited
		a.Edits++
	}
}

// runningAs matches how clients name a command that goes on running; stillRunning how they say that one does without having
// been told to.
var (
	runningAs    = regexp.MustCompile(`(?i)(?:session|background|shell|task|command)[ _]?(?:with )?id:?\s*<?"?([\w.-]+)`)
	stillRunning = regexp.MustCompile(`(?im)^\W{0,2}(?:process running with session id|command (?:is )?(?:still )?running in (?:the )?background|command is still running|.{0,80}is still running)`)
)

// ran counts a run of a command.
func (t *trail) ran(w waiting, r *Result, ref string) Outcome {
	command := normalised(w.use.command)
	if command == "" {
		return ""
	}
	a := t.artifact("c"+command, w.seq)
	a.Command, a.Ref, a.Outcome, a.Note = command, ref, "", ""
	a.Runs++
	a.Running, a.session = w.use.background, ""
	if r == nil {
		return ""
	}
	text := edges(r.Text)
	a.Running = a.Running || stillRunning.MatchString(text[:min(len(text), outcomeHead)]) && !exitCode.MatchString(text)
	if m := runningAs.FindStringSubmatch(text); m != nil && a.Running {
		a.session = m[1]
	}
	t.killed(command)
	a.Outcome, a.Note = ended(command, *r)
	if a.Outcome == Failed {
		a.Failures++
		a.Running = false
	}
	if a.Running {
		a.Outcome, a.Note = "", ""
	}
	return a.Outcome
}

// over matches what clients say of a command that has ended.
var over = regexp.MustCompile(`(?i)<status>(?:completed|failed|killed|stopped)|process exited|exited with|"status":\s*"(?:completed|failed|killed|exited)|no longer running`)

// watch notes that a running command was ended, or was seen to have ended.
func (t *trail) watch(w waiting, r *Result) {
	for _, a := range t.all {
		if !a.Running || a.session != w.use.session {
			continue
		}
		if w.use.ends && (r == nil || !r.Failed) || r != nil && over.MatchString(edges(r.Text)) {
			a.Running = false
			if r != nil && !w.use.ends {
				a.Outcome, a.Note = ended(a.Command, *r)
			}
		}
	}
}

// killed notes the commands that another one ends by a part of their name.
func (t *trail) killed(command string) {
	list := strings.Fields(command)
	if len(list) < 2 || list[0] != "pkill" && list[0] != "killall" {
		return
	}
	name := strings.Trim(list[len(list)-1], `'"`)
	for _, a := range t.all {
		if a.Running && a.Command != command && strings.Contains(a.Command, name) {
			a.Running = false
		}
	}
}

// artifact is the one with a name, which is new where nothing has it.
func (t *trail) artifact(name string, seq int) *Artifact {
	a := t.byName[name]
	if a == nil {
		a = &Artifact{}
		t.byName[name] = a
		t.all = append(t.all, a)
	}
	a.seq = seq
	return a
}

// joinPaths makes one of two artifacts of the same file: one by its whole path, and one by the end of it that is the end of
// no other.
func (t *trail) joinPaths() {
	var all []*Artifact
	for _, a := range t.all {
		if whole := t.wholePath(a); whole != nil {
			whole.absorb(a)
			t.byName["f"+a.Path] = whole
			continue
		}
		all = append(all, a)
	}
	t.all = all
}

// wholePath is the only artifact whose absolute path ends in the relative one of another; nil where there is none.
func (t *trail) wholePath(a *Artifact) *Artifact {
	if a.Path == "" || strings.HasPrefix(a.Path, "/") {
		return nil
	}
	var found *Artifact
	for _, b := range t.all {
		if strings.HasPrefix(b.Path, "/") && strings.HasSuffix(b.Path, "/"+strings.TrimPrefix(a.Path, "./")) {
			if found != nil {
				return nil
			}
			found = b
		}
	}
	return found
}

// absorb counts what was done with a file under another name.
func (a *Artifact) absorb(b *Artifact) {
	a.Reads, a.Edits, a.Creations, a.Deletions, a.Failures = a.Reads+b.Reads, a.Edits+b.Edits, a.Creations+b.Creations, a.Deletions+b.Deletions, a.Failures+b.Failures
	if b.seq > a.seq {
		a.Last, a.Outcome, a.Note, a.Ref, a.seq = b.Last, b.Outcome, b.Note, b.Ref, b.seq
	}
}
