package source

import (
	"encoding/json"
	"fmt"
	"path"
)

// Discovered looks for instruction files beside a file of the project that the agent has read, and in the folders between
// there and the project's, those above the working directory excepted: they are in the set already. It returns the
// canonical paths of those that it has not returned before; they are in the set from the next observation on, and stay
// as long as they are there. Where the file or the
// working directory is outside the project, and with NoProject, it finds none. After MaxNested files
// it is an error to find another one.
func (n *Instructions) Discovered(file string) ([]string, error) {
	if n.o.NoProject {
		return nil, nil
	}
	root, err := folder(n.o.Files, n.o.Root)
	if err != nil {
		return nil, err
	}
	dir, err := folder(n.o.Files, n.o.Dir)
	if err != nil {
		return nil, err
	}
	at, err := n.o.Files.Find(path.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", path.Dir(file), err)
	}
	if !at.folder() || !within(root, dir) {
		return nil, nil
	}
	var fresh []string
	for _, folder := range down(root, at.Real) {
		if within(folder, dir) {
			continue
		}
		for _, name := range n.o.Names {
			found, err := n.look(path.Join(folder, name), root)
			if err != nil {
				return fresh, err
			}
			if found == "" {
				continue
			}
			first, err := n.claim(found)
			if err != nil {
				return fresh, err
			}
			if first {
				fresh = append(fresh, found)
			}
		}
	}
	return fresh, nil
}

// claim puts a file into the set and reports whether it is the first time.
func (n *Instructions) claim(file string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.nested[file]:
		return false, nil
	case len(n.nested) >= MaxNested:
		return false, fmt.Errorf("%q is left out: %d nested instruction files are the most", file, MaxNested)
	}
	n.nested[file] = true
	return true, nil
}

// Nested returns the paths of the nested instruction files that a snapshot holds, for InstructionOptions of a session that
// is opened again.
func Nested(s Snapshot) (paths []string) {
	var set []instruction
	if json.Unmarshal(s[instructionsKey].Value, &set) != nil {
		return nil
	}
	for _, f := range set {
		if f.Nested {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
