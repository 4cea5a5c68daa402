package source

import (
	"fmt"
	"path"
	"strings"
)

// Files is what sources see of a file system. Paths are absolute, with slashes. All functions are needed, and may be
// called concurrently. An error says that it could not be looked, never that nothing is there.
type Files struct {
	// Find looks what is at a path, symbolic links followed.
	Find func(path string) (Found, error)

	// Read returns the beginning of a file, at most limit bytes, and the size of all of it in bytes. That the file is
	// not there is an error.
	Read func(path string, limit int) (data []byte, size int64, err error)

	// Names returns the names of what is in a folder, sorted; nil where there is no folder.
	Names func(path string) ([]string, error)
}

// Found is what is at a path; the zero Found is nothing, and so is a device or a pipe.
type Found struct {
	Real   string // the path without symbolic links, clean; two paths of one file have the same
	Folder bool   // else it is a file
}

func (f Found) file() bool   { return f.Real != "" && !f.Folder }
func (f Found) folder() bool { return f.Real != "" && f.Folder }

// Place is where a session works.
type Place struct {
	Dir  string // the working directory
	Root string // the folder of the project that it is in; Dir where there is none
	Git  bool   // the project is a git repository
}

// Locate finds the place of a working directory: its root is the nearest folder, from there upwards, that has a ".git".
// Both paths are canonical. That there is no such directory is an error.
func Locate(f Files, dir string) (Place, error) {
	at, err := folder(f, dir)
	if err != nil {
		return Place{}, err
	}
	for up := at; ; up = path.Dir(up) {
		git, err := f.Find(path.Join(up, ".git"))
		if err != nil {
			return Place{}, fmt.Errorf("find %q: %w", path.Join(up, ".git"), err)
		}
		if git.Real != "" {
			return Place{Dir: at, Root: up, Git: true}, nil
		}
		if up == path.Dir(up) {
			return Place{Dir: at, Root: at}, nil
		}
	}
}

// folder returns the canonical path of a folder that is there.
func folder(f Files, name string) (string, error) {
	found, err := f.Find(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("find %q: %w", name, err)
	case !found.folder():
		return "", fmt.Errorf("find %q: there is no such folder", name)
	}
	return found.Real, nil
}

// within reports whether a canonical path is a folder or stands somewhere in it.
func within(folder, name string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// down returns the folders from one to another below it, both included; nil where the other is not below.
func down(root, dir string) []string {
	if !within(root, dir) {
		return nil
	}
	var up []string
	for at := dir; ; at = path.Dir(at) {
		up = append([]string{at}, up...)
		if at == root {
			return up
		}
	}
}
