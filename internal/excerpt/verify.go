package excerpt

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Findings are what was wrong with a checkpoint. What was lost has been put back into the one that Verify returns.
type Findings struct {
	Constraints []string // of the user, that were lost
	Pins        []string // pinned texts that were lost
	Paths       []string // files that were changed and were not mentioned
	Commands    []string // checks that were run and were not mentioned
	Invented    []string // paths that occur in no step
}

// Clean reports whether nothing was wrong.
func (f Findings) Clean() bool {
	return len(f.Constraints)+len(f.Pins)+len(f.Paths)+len(f.Commands)+len(f.Invented) == 0
}

// Bounds of what Verify puts back: the most important files that were changed, and the last checks.
const (
	maxLostPaths    = defaultEntries
	maxLostCommands = 3
)

// byPin stands before a pinned text, among decisions.
const byPin = "Pinned: "

// Verify compares a checkpoint that a model wrote with the steps that it stands for. Constraints and pins that it does not
// hold verbatim, the files that were changed and the last checks with their outcome are put back; paths that occur nowhere
// in the steps are told, and stay. The constraints are those that Constraints finds in what the user said, or more.
func Verify(c Checkpoint, steps []Step, constraints, pins []string) (mended Checkpoint, found Findings) {
	mended = c
	for _, section := range sections {
		if list := mended.list(section); list != nil {
			*list = slices.Clone(*list)
		}
	}
	mended.ImportantFiles = slices.Clone(c.ImportantFiles)
	found.Invented = invented(&c, steps, slices.Concat(constraints, pins))
	e := &extraction{trail: newTrail(steps)}
	e.joinPaths()
	mended.putFiles(e, &found)
	mended.putChecks(e, &found)
	for _, s := range distinct(constraints) {
		if s != "" && !mended.holds(s) {
			found.Constraints = append(found.Constraints, s)
			mended.Decisions = append(mended.Decisions, byUser+s)
		}
	}
	for _, s := range distinct(pins) {
		if s != "" && !mended.holds(s) {
			found.Pins = append(found.Pins, s)
			mended.Decisions = append(mended.Decisions, byPin+s)
		}
	}
	return mended, found
}

// holds reports whether a text stands in a checkpoint verbatim.
func (c *Checkpoint) holds(text string) bool {
	return slices.ContainsFunc(c.texts(), func(s string) bool { return strings.Contains(s, text) })
}

// putFiles puts files back that were changed.
func (c *Checkpoint) putFiles(e *extraction, found *Findings) {
	all := e.files()
	for i, f := range all {
		a := e.byName["f"+f.Path]
		if i >= maxLostPaths || a == nil || a.Edits+a.Creations+a.Deletions == 0 {
			break
		}
		if c.mentions(f.Path) {
			continue
		}
		found.Paths = append(found.Paths, f.Path)
		c.ImportantFiles = append(c.ImportantFiles, f)
	}
}

// mentions reports whether a checkpoint names a file: by its path, or in its list of files by the end of it.
func (c *Checkpoint) mentions(path string) bool {
	return c.holds(path) || slices.ContainsFunc(c.ImportantFiles, func(f File) bool {
		return strings.HasSuffix(path, "/"+strings.TrimPrefix(f.Path, "./")) || strings.HasSuffix(f.Path, "/"+path)
	})
}

// putChecks puts the last checks back.
func (c *Checkpoint) putChecks(e *extraction, found *Findings) {
	ran := e.byLast(func(a *Artifact) bool { return a.Command != "" && verifies(a.Command) && a.Outcome != "" })
	for _, a := range ran[max(0, len(ran)-maxLostCommands):] {
		if c.holds(a.Command) {
			continue
		}
		found.Commands = append(found.Commands, a.Command)
		if a.Outcome == Failed {
			c.FailedAttempts = append(c.FailedAttempts, "Failed: "+noted(a)+in(a.Ref))
		} else {
			c.Completed = append(c.Completed, "Passed: "+noted(a)+in(a.Ref))
		}
	}
}

// pathWord matches what looks like the path of a file in a text: with a slash and an ending, or absolute and two deep.
var pathWord = regexp.MustCompile(`(?:[A-Za-z]:\\|~/|\.{1,2}/|/)?[\w.@+-]+(?:[/\\][\w.@+-]+)+`)

// invented are the paths of a checkpoint that occur nowhere in steps or other texts.
func invented(c *Checkpoint, steps []Step, others []string) []string {
	var paths []string
	for _, f := range c.ImportantFiles {
		paths = append(paths, strings.TrimSpace(f.Path))
	}
	for _, text := range c.texts() {
		for _, at := range pathWord.FindAllStringIndex(text, -1) {
			word := strings.TrimRight(text[at[0]:at[1]], ".")
			base := word[strings.LastIndexAny(word, `/\`)+1:]
			site := strings.HasSuffix(text[:at[0]], "://") || strings.HasSuffix(text[:at[0]], ":/")
			if ending.MatchString(base) && !site {
				paths = append(paths, word)
			}
		}
	}
	var all []string
	texts := spelled(steps, others)
	for _, p := range distinct(paths) {
		if p != "" && !occurs(p, texts) {
			all = append(all, p)
		}
	}
	return all
}

// spelled are the texts in which a path may stand: what was said, arguments, results, and others. Arguments that have
// escapes count decoded too.
func spelled(steps []Step, others []string) []string {
	texts := slices.Clone(others)
	for _, s := range steps {
		texts = append(texts, s.Texts...)
		for _, r := range s.Results {
			texts = append(texts, r.Text)
		}
		for _, c := range s.Calls {
			texts = append(texts, string(c.Args))
			if bytes.IndexByte(c.Args, '\\') < 0 {
				continue
			}
			texts = append(texts, freeText(c.Args))
			for _, m := range members(c.Args) {
				texts = append(texts, m.text())
			}
		}
	}
	return texts
}

// occurs reports whether a path stands in one of the texts. One that is absolute may be put together of a folder and the
// path below it.
func occurs(path string, texts []string) bool {
	path = strings.TrimPrefix(path, "./")
	within := func(path string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, path) })
	}
	if within(path) {
		return true
	}
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~") {
		return false
	}
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		if below := path[i+1:]; strings.Contains(below, "/") && within(path[:i]) && within(below) {
			return true
		}
	}
	return false
}
