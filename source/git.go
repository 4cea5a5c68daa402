package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// gitBytes is how much of the output of git is read.
const gitBytes = 256 << 10

// tree is the state of a git working tree.
type tree struct {
	Branch    string `json:"branch,omitempty"` // empty where no branch is checked out
	Commit    string `json:"commit,omitempty"` // then, the commit that is
	Changed   int    `json:"changed"`
	Untracked int    `json:"untracked"`
	Conflicts int    `json:"conflicts"`
	More      bool   `json:"more,omitempty"` // there is more than was counted
}

// Git is the source core/git: the branch of the repository at a folder, and how many files are changed, untracked and in
// conflict. Outside a repository it is absent. It takes at most DefaultCommandLimit and 256 KiB of git's output; beyond that it
// says that there is more. Nothing that the repository's settings name is run: no hook, no file-system monitor, and no filter, so that
// a file that a filter changes may count as changed. It is volatile, and optional, so that no slow disk holds up a session.
func Git(run Exec, dir string) Source {
	c := Cmd{
		Args: []string{
			"git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
			"status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=all",
		},
		Dir: dir, Env: []string{"LC_ALL=C"}, Limit: DefaultCommandLimit, Bytes: gitBytes,
	}
	return Of(Spec[tree]{
		Key: "core/git",
		Load: func(ctx context.Context) (tree, error) {
			c, err := unfiltered(ctx, run, c)
			if err != nil {
				return tree{}, err
			}
			out, err := run(ctx, c)
			switch {
			case err != nil:
				return tree{}, fmt.Errorf("run git: %w", err)
			case out.Status != 0 && strings.Contains(out.Stderr, "not a git repository"):
				return tree{}, ErrAbsent
			case out.Status != 0:
				return tree{}, failed(c, out)
			}
			return readTree(utf8Text(out.Stdout, out.Cut), out.Cut), nil
		},
		Baseline: tree.text,
		Update: func(_, t tree) string {
			return "The state of the repository is now, in place of what was said of it before:\n" + t.text()
		},
		Removal: func(tree) string {
			return "The state of the repository is no longer given; do not rely on what was said of it before."
		},
		Optional: true,
		Volatile: true,
	})
}

// unfiltered is a git command that runs none of the filters that are set up: git has no switch for that, so each is set to nothing.
func unfiltered(ctx context.Context, run Exec, c Cmd) (Cmd, error) {
	out, err := run(ctx, Cmd{
		Args: []string{"git", "config", "--null", "--name-only", "--get-regexp", `^filter\.`}, Dir: c.Dir, Env: c.Env, Limit: c.Limit, Bytes: c.Bytes,
	})
	switch {
	case err != nil:
		return c, fmt.Errorf("run git: %w", err)
	case out.Cut:
		return c, errors.New("the repository's settings have more filters than can be turned off")
	}
	var set []string
	for name := range strings.SplitSeq(string(out.Stdout), "\x00") {
		filter := name[:max(0, strings.LastIndexByte(name, '.'))]
		if !strings.HasPrefix(filter, "filter.") || slices.Contains(set, filter) {
			continue
		}
		set = append(set, filter)
	}
	env := slices.Clone(c.Env)
	for i, filter := range set {
		for j, to := range []string{".clean=", ".process=", ".required=false"} {
			key, value, _ := strings.Cut(to, "=")
			n := 3*i + j
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s%s", n, filter, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		}
	}
	c.Env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", 3*len(set)))
	return c, nil
}

// readTree counts the lines of git status. Of output that was cut the last line may be half, and is left out.
func readTree(text string, cut bool) tree {
	t := tree{More: cut}
	if cut {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	commit := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "#":
			switch name, value, _ := strings.Cut(rest, " "); name {
			case "branch.head":
				t.Branch = value
			case "branch.oid":
				commit, _ = head(value, 12)
			}
		case "1", "2":
			t.Changed++
		case "?":
			t.Untracked++
		case "u":
			t.Conflicts++
		}
	}
	if t.Branch == "(detached)" {
		t.Branch, t.Commit = "", commit
	}
	return t
}

func (t tree) text() string {
	at := "Branch: " + plain(t.Branch)
	if t.Branch == "" {
		at = "No branch is checked out; commit: " + plain(t.Commit)
	}
	var dirt []string
	for _, d := range []struct {
		n    int
		what string
	}{{t.Changed, "changed"}, {t.Untracked, "untracked"}, {t.Conflicts, "in conflict"}} {
		if d.n > 0 {
			dirt = append(dirt, fmt.Sprint(d.n, " ", d.what))
		}
	}
	state := "clean"
	if dirt != nil {
		state = strings.Join(dirt, ", ")
	}
	if t.More {
		state += ", and more"
	}
	return "<git>\n" + at + "\nWorking tree: " + state + "\n</git>"
}
