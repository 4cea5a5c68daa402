package source_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit/source"
)

// played is an Exec that answers as a test says and keeps what it was asked.
type played struct {
	out   source.Output
	err   error
	asked source.Cmd
}

func (p *played) exec(_ context.Context, c source.Cmd) (source.Output, error) {
	p.asked = c
	return p.out, p.err
}

func TestCommand(t *testing.T) {
	p := &played{out: source.Output{Stdout: []byte("\n  3 jobs\n</output>\n\n")}}
	s := source.Command(p.exec, source.CommandSpec{Key: "ops/jobs", Args: []string{"jobs", "-l"}, Dir: "/d", Env: []string{"A=b"}})
	c := compose(t, s)
	o := begin(t, c)
	expect(t, o, source.Ready, "<output source=\"ops/jobs\">\n3 jobs\n&lt;/output>\n</output>")
	if got := p.asked; !slices.Equal(got.Args, []string{"jobs", "-l"}) || got.Dir != "/d" || !slices.Equal(got.Env, []string{"A=b"}) ||
		got.Limit != source.DefaultCommandLimit || got.Bytes != source.DefaultCommandBytes {
		t.Errorf("asked for %+v", got)
	}
	if !s.Volatile() || s.Optional() {
		t.Error("a command is volatile, and not optional unasked")
	}
	p.out.Stdout = []byte("3 jobs\n</output>") // but for the ends it is the same
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
	p.out.Stdout = nil
	o = reconcile(t, c, o.Snapshot)
	expect(t, o, source.Updated, "This output supersedes the one that was given before:\n<output source=\"ops/jobs\">\n</output>")
	expect(t, reconcile(t, compose(t), o.Snapshot), source.Updated, `The output of "ops/jobs" is no longer given; disregard what was given before.`)
}

func TestCommandThatFails(t *testing.T) {
	for _, tt := range []struct {
		p    played
		want string
	}{
		{played{out: source.Output{Status: 3, Stderr: "\nno jobs\nusage: …\n", Stdout: []byte("x")}}, `run "jobs": exit status 3: no jobs`},
		{played{out: source.Output{Status: 1}}, `run "jobs": exit status 1`},
		{played{err: errDown}, `run "jobs": the disk is gone`},
	} {
		o := compose(t, source.Command(tt.p.exec, source.CommandSpec{Key: "ops/jobs", Args: []string{"jobs"}})).Observe(background, nil)["ops/jobs"]
		if o.State != source.Unavailable || o.Reason != tt.want {
			t.Errorf("%+v, want %q", o, tt.want)
		}
	}
}

// TestCommandOutputIsCut says so where the command or the source itself leaves something out, and halves no character.
func TestCommandOutputIsCut(t *testing.T) {
	spec := source.CommandSpec{Key: "a/b", Shell: "echo | cat", Limit: time.Minute, Bytes: 5, Optional: true}
	for out, want := range map[string]string{
		"ääxyz":      "ääx\n</output>\n[The output above is cut: its first 5 bytes are shown.]",
		"xxxxä":      "xxxx\n</output>\n[The output above is cut: its first 4 bytes are shown.]",
		"\xff\xffxy": "\uFFFDxy\n</output>",
	} {
		p := &played{out: source.Output{Stdout: []byte(out)[:min(5, len(out))], Cut: len(out) > 5}}
		s := source.Command(p.exec, spec)
		if got := begin(t, compose(t, s)).Text(); got != "<output source=\"a/b\">\n"+want {
			t.Errorf("%q: %q", out, got)
		}
		if got := p.asked; !slices.Equal(got.Args, []string{"sh", "-c", "echo | cat"}) || got.Limit != time.Minute || got.Bytes != 5 || !s.Optional() {
			t.Errorf("asked for %+v", got)
		}
	}
}

func TestCommandThatIsNone(t *testing.T) {
	for _, spec := range []source.CommandSpec{{Key: "a/b"}, {Key: "a/b", Args: []string{"a"}, Shell: "a"}, {Key: "ab", Shell: "a"}} {
		if _, err := source.Compose(source.Command((&played{}).exec, spec)); err == nil || !strings.Contains(err.Error(), spec.Key) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// settings answers as git does where nothing is set up, and else as what is played.
func settings(p *played) source.Exec {
	return func(ctx context.Context, c source.Cmd) (source.Output, error) {
		if slices.Contains(c.Args, "config") {
			return source.Output{Status: 1}, nil
		}
		return p.exec(ctx, c)
	}
}

// covers: S-15 part
func TestGit(t *testing.T) {
	const header = "# branch.oid 0123456789abcdef0123456789abcdef01234567\n# branch.head fix/<env>\n# branch.upstream origin/x\n# branch.ab +0 -0\n"
	const dirt = "1 .M N... 100644 100644 100644 a b f.go\n2 R. N... 100644 100644 100644 a b R100 g.go\th.go\nu UU N... 1 2 3 4 a b c i.go\n? new\n? u two\n"
	for _, tt := range []struct{ name, out, want string }{
		{"clean", header, "Branch: fix/&lt;env&gt;\nWorking tree: clean"},
		{"dirty", header + dirt, "Branch: fix/&lt;env&gt;\nWorking tree: 2 changed, 2 untracked, 1 in conflict"},
		{"no branch", strings.Replace(header, "fix/<env>", "(detached)", 1), "No branch is checked out; commit: 0123456789ab\nWorking tree: clean"},
		{"no commit", "# branch.oid (initial)\n# branch.head main\n? a\n", "Branch: main\nWorking tree: 1 untracked"},
	} {
		p := &played{out: source.Output{Stdout: []byte(tt.out)}}
		s := source.Git(settings(p), "/r")
		expect(t, begin(t, compose(t, s)), source.Ready, "<git>\n"+tt.want+"\n</git>")
		if p.asked.Dir != "/r" || p.asked.Limit <= 0 || p.asked.Bytes <= 0 || !s.Volatile() || !s.Optional() {
			t.Errorf("%s: asked for %+v", tt.name, p.asked)
		}
	}

	p := &played{out: source.Output{Stdout: []byte(header + "? a\n? b"), Cut: true}}
	c := compose(t, source.Git(settings(p), "/r"))
	o := begin(t, c)
	expect(t, o, source.Ready, "<git>\nBranch: fix/&lt;env&gt;\nWorking tree: 1 untracked, and more\n</git>")
	p.out = source.Output{Status: 128, Stderr: "fatal: detected dubious ownership"}
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
	p.err = errDown
	expect(t, reconcile(t, c, o.Snapshot), source.Unchanged, "")
	p.err, p.out = nil, source.Output{Stdout: []byte("# branch.head main\n")}
	o = reconcile(t, c, o.Snapshot)
	expect(t, o, source.Updated, "The state of the repository is now, in place of what was said of it before:\n<git>\nBranch: main\nWorking tree: clean\n</git>")
	p.out = source.Output{Status: 128, Stderr: "fatal: not a git repository (or any of the parent directories): .git"}
	expect(t, reconcile(t, c, o.Snapshot), source.Updated, "The state of the repository is no longer given; do not rely on what was said of it before.", "{}")
}
