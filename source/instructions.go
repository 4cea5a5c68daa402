package source

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// What of instruction files is shown where the options say nothing, in bytes.
const (
	DefaultFileBytes  = 32 << 10  // of one file
	DefaultTotalBytes = 128 << 10 // of all
)

// MaxNested is how many instruction files may be found by Discovered.
const MaxNested = 64

const instructionsKey = "core/instructions"

// InstructionOptions say where instruction files are looked for. Files and Dir are needed.
type InstructionOptions struct {
	Files  Files
	Dir    string   // the working directory
	Root   string   // the project's folder; nothing above it is looked at. Dir without one
	Global []string // files that stand before the project's, such as the user's own; they may be missing
	Names  []string // what the files are called, in order; AGENTS.md and CLAUDE.md without

	NoProject bool     // look at the global files alone
	Nested    []string // what Discovered had found when the session was last open; see Nested

	FileBytes  int // how much of one file is shown; DefaultFileBytes without
	TotalBytes int // how much of all; DefaultTotalBytes without. The longest files are cut first
}

// Instructions finds the instruction files of one place. A session that moves makes a new one. It may be used
// concurrently.
type Instructions struct {
	o InstructionOptions

	mu     sync.Mutex
	nested map[string]bool // canonical paths that Discovered has found
}

// instruction is one file of the set.
type instruction struct {
	Path   string `json:"path"` // canonical
	Text   string `json:"text"`
	Bytes  int64  `json:"bytes,omitempty"` // the size of the file, where Text is not all of it
	Nested bool   `json:"nested,omitempty"`
}

// NewInstructions returns the instructions of a place. It reads nothing.
func NewInstructions(o InstructionOptions) *Instructions {
	o.Root = cmp.Or(o.Root, o.Dir)
	if o.Names == nil {
		o.Names = []string{"AGENTS.md", "CLAUDE.md"}
	}
	if o.FileBytes <= 0 {
		o.FileBytes = DefaultFileBytes
	}
	if o.TotalBytes <= 0 {
		o.TotalBytes = DefaultTotalBytes
	}
	n := &Instructions{o: o, nested: map[string]bool{}}
	for _, name := range o.Nested {
		n.nested[name] = true
	}
	return n
}

// Source is core/instructions: the global files, then those from the project's folder down to the working directory, then
// those that Discovered has found, by folder. Each file is there once, by its canonical path, and none that stands outside
// the project, where a link may lead. Where no file is found the source is absent. Where it could not be looked, or a
// file that was found cannot be read, it is unavailable.
//
// The set is told whole whenever it changes, and supersedes the one before.
func (n *Instructions) Source() Source {
	return Of(Spec[[]instruction]{
		Key:  instructionsKey,
		Load: n.load,
		Baseline: func(set []instruction) string {
			return "These instruction files apply, the general ones first:\n\n" + instructionText(set)
		},
		Update: func(_, set []instruction) string {
			return "The instruction files have changed. This set supersedes every instruction file given before:\n\n" + instructionText(set)
		},
		Removal: func([]instruction) string {
			return "The instruction files that were given before no longer apply."
		},
	})
}

func instructionText(set []instruction) string {
	var texts []string
	for _, f := range set {
		text := block("instructions", "path", f.Path, f.Text)
		if f.Bytes > 0 {
			text += "\n" + cutMark("The file", len(f.Text), f.Bytes)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n")
}

// load finds all files before it reads the first, so that one that vanishes in between is noticed.
func (n *Instructions) load(ctx context.Context) ([]instruction, error) {
	set, err := n.find()
	if err != nil {
		return nil, err
	}
	if set == nil {
		return nil, ErrAbsent
	}
	cut := make([]bool, len(set))
	for i := range set {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, size, err := n.o.Files.Read(set[i].Path, n.o.FileBytes)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", set[i].Path, err)
		}
		cut[i] = size > int64(len(data))
		text, more := head(utf8Text(data, cut[i]), n.o.FileBytes) // replacement characters may have made it longer
		set[i].Text, set[i].Bytes, cut[i] = text, size, cut[i] || more
	}
	fit(set, cut, n.o.TotalBytes)
	for i := range set {
		if !cut[i] {
			set[i].Bytes = 0
		}
	}
	return set, nil
}

// fit cuts the longest files until all together have at most so many bytes, and marks those that it cuts.
func fit(set []instruction, cut []bool, total int) {
	sizes := make([]int, len(set))
	for i, f := range set {
		sizes[i] = len(f.Text)
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		share := total / (len(sizes) - i)
		if size > share {
			for j := range set {
				text, more := head(set[j].Text, share)
				set[j].Text, cut[j] = text, cut[j] || more
			}
			return
		}
		total -= size
	}
}

// find lists the files that there are, without their texts.
func (n *Instructions) find() ([]instruction, error) {
	var set []instruction
	have := map[string]bool{}
	add := func(name, root string, nested bool) error {
		found, err := n.look(name, root)
		if err == nil && found != "" && !have[found] {
			have[found] = true
			set = append(set, instruction{Path: found, Nested: nested})
		}
		return err
	}
	for _, name := range n.o.Global {
		if err := add(name, "/", false); err != nil {
			return nil, err
		}
	}
	if n.o.NoProject {
		return set, nil
	}
	root, err := folder(n.o.Files, n.o.Root)
	if err != nil {
		return nil, err
	}
	dir, err := folder(n.o.Files, n.o.Dir)
	if err != nil {
		return nil, err
	}
	for _, at := range down(root, dir) {
		for _, name := range n.o.Names {
			if err := add(path.Join(at, name), root, false); err != nil {
				return nil, err
			}
		}
	}
	if !within(root, dir) {
		return set, nil
	}
	for _, name := range n.known() {
		if err := add(name, root, true); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// look returns the canonical path of a file that is there and stands in a folder.
func (n *Instructions) look(name, root string) (string, error) {
	found, err := n.o.Files.Find(name)
	if err != nil {
		return "", fmt.Errorf("find %q: %w", name, err)
	}
	if !found.file() || root != "/" && !within(root, found.Real) {
		return "", nil
	}
	if base := path.Base(found.Real); base != path.Base(name) && path.Ext(base) != ".md" { // a link may lead to another text, and to no file of secrets
		return "", nil
	}
	return found.Real, nil
}

// known returns the files that Discovered has found, by folder, those of one folder in the order of the names.
func (n *Instructions) known() []string {
	n.mu.Lock()
	names := slices.Collect(maps.Keys(n.nested))
	n.mu.Unlock()
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(path.Dir(a), path.Dir(b)),
			cmp.Compare(slices.Index(n.o.Names, path.Base(a)), slices.Index(n.o.Names, path.Base(b))),
			cmp.Compare(a, b),
		)
	})
	return names
}
