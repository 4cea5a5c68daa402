package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ambit/source"
	"ambit/source/host"
)

func fact(key string, load func(context.Context) (string, error)) source.Source {
	return source.Of(source.Spec[string]{
		Key: key, Load: load,
		Baseline: func(v string) string { return v },
		Update:   func(_, v string) string { return v },
	})
}

// TestLoadsAreLimited asks a source that answers, one that heeds its context and one that does not, at once.
//
// covers: S-01 part
func TestLoadsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		c, err := source.Compose(
			fact("a/deaf", func(context.Context) (string, error) { <-release; return "late", nil }),
			fact("a/heeds", func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }),
			fact("a/panics", func(context.Context) (string, error) { panic("no") }),
			fact("a/slow", func(context.Context) (string, error) { time.Sleep(2 * time.Second); return "slow", nil }),
		)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		o := c.Observe(context.Background(), host.Each(3*time.Second))
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		for key, want := range map[string]string{"a/deaf": "no answer in time", "a/heeds": "no answer in time", "a/panics": "panic: no", "a/slow": ""} {
			if o[key].Reason != want {
				t.Errorf("%s: %+v, want %q", key, o[key], want)
			}
		}
		close(release) // or the test would wait for the deaf one
	})
}

func TestLoadsEndWithTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := func(context.Context) (string, error) { time.Sleep(time.Second); return "1", nil }
		c, err := source.Compose(fact("a/a", second), fact("a/b", second))
		if err != nil {
			t.Fatal(err)
		}
		each, begun := host.Each(time.Hour), time.Now()
		if o := c.Observe(context.Background(), each); o.Unavailable() != nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v", o, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if o := c.Observe(ctx, each)["a/a"]; o.Reason != "context canceled" {
			t.Errorf("%+v", o)
		}
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	write(t, in("b/file"), "0123456789")
	write(t, in("a"), "")
	for name, to := range map[string]string{"link": "b", "dangling": "none"} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	f := host.Files()
	for name, want := range map[string]source.Found{
		"b": {Real: in("b"), Folder: true}, "link/file": {Real: in("b/file")}, "b/../link/": {Real: in("b"), Folder: true},
		"none": {}, "none/x": {}, "dangling": {}, "a/below": {},
	} {
		if got, err := f.Find(dir + "/" + name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := f.Find(os.DevNull); err != nil || got != (source.Found{}) {
		t.Errorf("a device: %+v, %v", got, err)
	}
	if data, size, err := f.Read(in("b/file"), 4); err != nil || string(data) != "0123" || size != 10 {
		t.Errorf("%q of %d, %v", data, size, err)
	}
	for _, name := range []string{"none", "b"} {
		if _, _, err := f.Read(in(name), 4); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if got, err := f.Names(dir); err != nil || !slices.Equal(got, []string{"a", "b", "dangling", "link"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := f.Names(in("none")); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestInstructionsOfAFolder reads a real project.
//
// covers: S-13 part
func TestInstructionsOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "HEAD"), "")
	write(t, filepath.Join(dir, "AGENTS.md"), "root")
	write(t, filepath.Join(dir, "a", "AGENTS.md"), "a")
	p, err := source.Locate(host.Files(), filepath.ToSlash(filepath.Join(dir, "a")))
	if err != nil || !p.Git {
		t.Fatal(p, err)
	}
	n := source.NewInstructions(source.InstructionOptions{Files: host.Files(), Dir: p.Dir, Root: p.Root})
	c, err := source.Compose(n.Source(), source.NewSkills(source.SkillOptions{Files: host.Files(), Folders: []string{p.Root + "/skills"}}).Source())
	if err != nil {
		t.Fatal(err)
	}
	o, err := c.Initialize(c.Observe(context.Background(), host.Each(time.Minute)))
	want := fmt.Sprintf("<instructions path=%q>\nroot\n</instructions>\n\n<instructions path=%q>\na\n</instructions>\n\nNo skills are available.", p.Root+"/AGENTS.md", p.Dir+"/AGENTS.md")
	if err != nil || !strings.HasSuffix(o.Text(), want) {
		t.Errorf("%v\n%s", err, o.Text())
	}
}
