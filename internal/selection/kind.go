package selection

import (
	"regexp"
	"strings"

	"ambit/unit"
)

// kind is what a call does, as far as its name and arguments tell.
type kind uint8

const (
	other  kind = iota
	reads       // text of a file
	writes      // a file anew, or a part of it
	looks       // for files, or in them
	runs        // a command
	visits      // the web
)

// kinds are words in the names of tools, those first that tell more. An edit is told before a read: edit_file.
var kinds = []struct {
	word string
	kind kind
}{
	{"todo", other},
	{"plan", other},
	{"task", other},
	{"stdin", runs},
	{"edit", writes},
	{"write", writes},
	{"patch", writes},
	{"replace", writes},
	{"create", writes},
	{"insert", writes},
	{"grep", looks},
	{"glob", looks},
	{"search", looks},
	{"find", looks},
	{"list", looks},
	{"fetch", visits},
	{"web", visits},
	{"browser", visits},
	{"url", visits},
	{"bash", runs},
	{"exec", runs},
	{"shell", runs},
	{"command", runs},
	{"terminal", runs},
	{"run", runs},
	{"read", reads},
	{"view", reads},
	{"cat", reads},
	{"open", reads},
}

// kindOf is what a tool of the name does.
func kindOf(tool string) kind {
	tool = strings.ToLower(tool)
	if tool == "ls" {
		return looks
	}
	for _, k := range kinds {
		if strings.Contains(tool, k.word) {
			return k.kind
		}
	}
	return other
}

// mains are the names of main arguments, the most telling first.
var mains = []string{"file_path", "filePath", "path", "absolute_path", "target_file", "notebook_path", "command", "cmd", "pattern", "query", "url"}

// callOf reads a call.
func callOf(p unit.Part) call {
	c := call{id: p.ID, tool: p.Name, kind: kindOf(p.Name), args: p.Args}
	m, about := members(p.Args), "" // the main argument
	for _, name := range mains {
		if text := textOf(m[name]); text != "" {
			about = text
			break
		}
	}
	if about == "" {
		about = textOf(p.Args)
	}
	switch c.kind {
	case reads, writes:
		if strings.Contains(about, "\n") || textOf(m["patch"]) != "" || textOf(m["patchText"]) != "" || textOf(m["input"]) != "" {
			c.paths = patched(about + "\n" + textOf(m["patch"]) + "\n" + textOf(m["patchText"]) + "\n" + textOf(m["input"]))
		} else if about != "" {
			c.paths = []string{about}
		}
		if textOf(m["command"]) == "view" {
			c.kind = reads
		}
		_, from := m["offset"]
		_, to := m["limit"]
		_, span := m["view_range"]
		_, line := m["start_line"]
		c.whole = !from && !to && !span && !line
	case runs:
		c.command(about)
	}
	return c
}

// pathLike are words of a command, or of a patch, that name files.
var pathLike = regexp.MustCompile(`[A-Za-z0-9_.@/-]*[A-Za-z0-9_-]\.[A-Za-z][A-Za-z0-9]{0,9}\b`)

var patchLine = regexp.MustCompile(`(?m)^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ b?/?)(\S+)`)

func patched(text string) (paths []string) {
	for _, m := range patchLine.FindAllStringSubmatch(text, -1) {
		paths = append(paths, strings.Clone(m[1])) // and not the patch
	}
	return paths
}

// readers are commands that show a file's text.
var readers = regexp.MustCompile(`^(?:cat|sed -n|nl|head|tail|less|bat|awk 'NR)\b`)

// lookers are commands that look for something.
var lookers = regexp.MustCompile(`^(?:rg|grep|find|fd|ls|tree|ag|git grep|git ls-files|wc)\b`)

// command reads what a shell is told to do.
func (c *call) command(text string) {
	text = strings.TrimSpace(text)
	for {
		rest, ok := strings.CutPrefix(text, "cd ")
		if !ok {
			break
		}
		_, after, found := strings.Cut(rest, "&&")
		if !found {
			break
		}
		text = strings.TrimSpace(after)
	}
	for _, p := range pathLike.FindAllString(firstOf(text, 2000), 8) {
		c.paths = append(c.paths, strings.Clone(p))
	}
	switch {
	case strings.HasPrefix(text, "apply_patch") || strings.Contains(firstOf(text, 200), "*** Begin Patch"):
		c.kind, c.paths = writes, patched(text)
	case strings.Contains(firstOf(text, 300), "<<") || strings.HasPrefix(text, "sed -i"):
		c.kind = runs
	case readers.MatchString(text):
		c.kind = reads
	case lookers.MatchString(text):
		c.kind = looks
	}
}

func firstOf(text string, n int) string {
	if len(text) > n {
		return text[:n]
	}
	return text
}
