package agent

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// wild reports whether a subject is what a pattern says. Star tells which symbols of the pattern stand for any number of
// symbols, none included; the others stand for one that same accepts.
func wild[T any](pattern, subject []T, star func(T) bool, same func(pattern, subject T) bool) bool {
	p, s, last, retry := 0, 0, -1, 0
	for s < len(subject) {
		switch {
		case p < len(pattern) && star(pattern[p]):
			last, retry = p, s
			p++
		case p < len(pattern) && same(pattern[p], subject[s]):
			p++
			s++
		case last >= 0: // the newest star takes one symbol more
			retry++
			p, s = last+1, retry
		default:
			return false
		}
	}
	for p < len(pattern) && star(pattern[p]) {
		p++
	}
	return p == len(pattern)
}

// matchText matches a whole text, in which "*" is any run of characters and "?" is one.
func matchText(pattern, s string) bool {
	return wild([]rune(pattern), []rune(s),
		func(p rune) bool { return p == '*' },
		func(p, s rune) bool { return p == '?' || p == s })
}

// matchPath matches a whole path, in which "**" is any number of folders, none included, and "*" and "?" do not go
// beyond one name.
func matchPath(pattern, name string) bool {
	return wild(strings.Split(pattern, "/"), strings.Split(name, "/"), func(p string) bool { return p == "**" }, matchText)
}

// matchWithin matches a path or a folder that it is in.
func matchWithin(pattern, name string) bool {
	for pattern = path.Clean(pattern); ; name = path.Dir(name) {
		if matchPath(pattern, name) {
			return true
		}
		if name == path.Dir(name) || path.Dir(name) == "." {
			return pattern == "."
		}
	}
}

// checkGlob says why a glob that was asked for cannot match anything.
func checkGlob(glob string) error {
	switch {
	case strings.ContainsAny(glob, "{}"):
		return errors.New(`the argument "glob" knows *, ? and ** only: make one call for each of the choices in braces`)
	case strings.HasPrefix(glob, "/"), slices.Contains(strings.Split(glob, "/"), ".."):
		return errors.New(`the argument "glob" is matched against paths below the argument "path": no / at the beginning, and no part ".."`)
	}
	return nil
}
