package selection

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ambit/internal/excerpt"
	"ambit/internal/thread"
	"ambit/unit"
)

// record bounds what a checkpoint says, in bytes: all of it is read again with every request.
const (
	recordBytes = 3000
	recordPaths = 4500
	recordLines = 6000 // of these a third from the results of one message
)

// checkpoint has a record say what was done in the messages that a plan leaves out, behind the newest of them. The record is
// made of the whole conversation up to there, so that nothing decays however often it is made.
func (t *talk) checkpoint(p *plan) {
	c := excerpt.Extract(t.steps(p.last+1), excerpt.Options{MaxBytes: recordBytes, By: t.in.Recall})
	p.yaml = c.YAML()
	var verbatim []string
	for _, pin := range t.in.Pins {
		if pin.Text != "" && !t.holds(p.faces, pin.Text) {
			verbatim = append(verbatim, pin.Text)
		}
	}
	if paths := t.paths(p, recordPaths); len(paths) > 0 {
		verbatim = append(verbatim, "Files that were named:\n"+strings.Join(paths, " "))
	}
	if lines := t.outline(p, recordLines); len(lines) > 0 {
		verbatim = append(verbatim, "Lines of what was read and found, without their indentation:\n"+strings.Join(lines, "\n"))
	}
	p.faces[p.last].Behind = append(p.faces[p.last].Behind, thread.Placed{Text: excerpt.Render(c, verbatim, t.in.Recall)})
}

// isCheckpoint reports whether a placed text is a checkpoint.
func isCheckpoint(text string) bool { return strings.HasPrefix(text, recordBegins) }

// recordBegins is how excerpt.Render begins, whatever the record says.
const recordBegins = "[Ambit's record of earlier work"

// steps are the first so many messages as excerpts are made of them.
func (t *talk) steps(n int) []excerpt.Step {
	steps := make([]excerpt.Step, 0, n)
	for i := range n {
		u := t.unit(i)
		s := excerpt.Step{Ref: t.in.Messages[i].Ref, Role: excerpt.Role(u.Role)}
		for _, p := range u.Parts {
			switch p.Kind {
			case unit.Text:
				s.Texts = append(s.Texts, p.Text)
			case unit.Call:
				s.Calls = append(s.Calls, excerpt.Call{ID: p.ID, Tool: p.Name, Args: p.Args})
			case unit.Result:
				s.Results = append(s.Results, excerpt.Result{Call: p.ID, Text: p.Text, Failed: p.Failed})
			}
		}
		steps = append(steps, s)
	}
	return steps
}

// long are paths that nobody writes from memory.
var long = regexp.MustCompile(`[A-Za-z0-9_.@~-]*(?:/[A-Za-z0-9_.@+-]+){2,}`)

// A path is told again from so many bytes on, and up to so many.
const (
	leastPath = 24
	mostPath  = 200
)

// named is a path that stands in what a plan leaves out.
type named struct {
	path  string
	times int // in how many texts
	order int // the lower, the later it was named first
}

// paths are those of files that stand in what a plan leaves out, in so many bytes: those that most texts name, and of these
// the ones that were last named.
func (t *talk) paths(p *plan, most int) (list []string) {
	found := make(map[string]*named)
	for i := len(p.faces) - 1; i >= 0; i-- {
		if !p.faces[i].Gone && len(p.faces[i].Texts) == 0 {
			continue
		}
		for _, part := range t.unit(i).Parts {
			add(found, string(part.Args))
			if part.Kind == unit.Result {
				add(found, firstOf(part.Text, 20_000))
			}
		}
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b *named) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.order, b.order))
	})
	n := 0
	for _, f := range all {
		if n+len(f.path) < most {
			n += len(f.path) + 1
			list = append(list, f.path)
		}
	}
	slices.Sort(list)
	return list
}

// add adds the paths that a text names, each once.
func add(found map[string]*named, text string) {
	once := make(map[string]bool)
	for _, path := range long.FindAllString(text, 200) {
		if path = strings.TrimRight(path, "."); len(path) < leastPath || len(path) > mostPath || once[path] || strings.Contains(path, "/node_modules/") || strings.Contains(path, "/.git/") {
			continue
		}
		once[path] = true
		f := found[path]
		if f == nil {
			f = &named{path: path, order: len(found)}
			found[path] = f
		}
		f.times++
	}
}
