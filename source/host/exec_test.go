//go:build unix

package host_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ambit/source"
	"ambit/source/host"
)

func shell(line string) source.Cmd {
	return source.Cmd{Args: []string{"sh", "-c", line}, Limit: time.Minute, Bytes: 10}
}

func TestExec(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name string
		cmd  source.Cmd
		want source.Output
	}{
		{"output", shell("echo out; echo err >&2"), source.Output{Stdout: []byte("out\n"), Stderr: "err\n"}},
		{"as much as there is room", shell("printf 0123456789"), source.Output{Stdout: []byte("0123456789")}},
		{"more than there is room", shell("printf 0123456789a; head -c 1000000 /dev/zero; exit 0"), source.Output{Stdout: []byte("0123456789"), Cut: true}},
		{"a status", shell("echo a; exit 7"), source.Output{Stdout: []byte("a\n"), Status: 7}},
		{"no input", shell("cat"), source.Output{}},
		{"no shell", source.Cmd{Args: []string{"printf", "%s", "$HOME;x"}, Bytes: 10}, source.Output{Stdout: []byte("$HOME;x")}},
		{"its folder", source.Cmd{Args: []string{"pwd", "-P"}, Dir: dir, Bytes: 1000}, source.Output{Stdout: []byte(dir + "\n")}},
		{"its environment", source.Cmd{Args: []string{"sh", "-c", `printf %s "$AMBIT_TEST"`}, Env: []string{"AMBIT_TEST=1"}, Bytes: 10}, source.Output{Stdout: []byte("1")}},
		{"long complaints", source.Cmd{Args: []string{"sh", "-c", "yes | head -c 100000 >&2; printf a"}, Bytes: 10}, source.Output{Stdout: []byte("a"), Stderr: strings.Repeat("y\n", 2048)}},
	} {
		got, err := host.Exec()(t.Context(), tt.cmd)
		if err != nil || string(got.Stdout) != string(tt.want.Stdout) || got.Stderr != tt.want.Stderr || got.Cut != tt.want.Cut || got.Status != tt.want.Status {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	for name, cmd := range map[string]source.Cmd{
		"no command": {}, "none of that name": {Args: []string{filepath.Join(dir, "none")}}, "killed": shell("kill -9 $$"),
		"too long a name": {Args: []string{long}}, "no folder": {Args: []string{"true"}, Dir: filepath.Join(dir, "none")},
	} {
		if got, err := host.Exec()(t.Context(), cmd); err == nil || got.Stdout != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// held is a pipe that a command holds open.
type held struct {
	name string
	pipe *os.File // for reading and writing, so that opening it waits for nobody
}

func hold(t *testing.T) held {
	t.Helper()
	h := held{name: filepath.Join(t.TempDir(), "pipe")}
	if err := syscall.Mkfifo(h.name, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if h.pipe, err = os.OpenFile(h.name, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	return h
}

// released fails unless nobody holds the pipe any more: reading it to its end waits for all to be gone.
func (h held) released(t *testing.T) {
	t.Helper()
	rest, err := os.OpenFile(h.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	h.pipe.Close()
	if err := rest.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, rest); err != nil {
		t.Errorf("somebody holds the pipe: %v", err)
	}
}

// TestExecKillsTheGroup ends a command whose child would go on, by the context and by the limit.
func TestExecKillsTheGroup(t *testing.T) {
	stopped := errors.New("the session closes")
	for _, limit := range []time.Duration{time.Hour, time.Nanosecond} {
		h := hold(t)
		cmd := shell(`exec 3>"$0"; (echo up >&3; exec sleep 1000) & wait`)
		cmd.Args, cmd.Limit = append(cmd.Args, h.name), limit
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := host.Exec()(ctx, cmd)
			done <- err
		}()
		want := "killed after 1ns"
		if limit == time.Hour {
			want = stopped.Error()
			if line, err := bufio.NewReader(h.pipe).ReadString('\n'); err != nil || line != "up\n" {
				t.Fatal(line, err)
			}
			cancel(stopped)
		}
		if err := <-done; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		h.released(t)
		cancel(nil)
	}
}

// TestExecLeavesNothingBehind runs a command that ends before its child does.
func TestExecLeavesNothingBehind(t *testing.T) {
	h := hold(t)
	cmd := shell(`exec 3>"$0"; sleep 1000 >/dev/null 2>&1 & printf a`)
	cmd.Args = append(cmd.Args, h.name)
	if out, err := host.Exec()(t.Context(), cmd); err != nil || string(out.Stdout) != "a" {
		t.Fatal(out, err)
	}
	h.released(t)
}

// TestGitOfAFolder reads a real repository.
//
// covers: S-15 part
func TestGitOfAFolder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed:", err)
	}
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	c, err := source.Compose(source.Git(host.Exec(), dir))
	if err != nil {
		t.Fatal(err)
	}
	if o := c.Observe(t.Context(), nil)["core/git"]; o.State != source.Absent {
		t.Fatalf("outside a repository: %+v", o)
	}
	if out, err := exec.Command("git", "-C", dir, "init", "--quiet", "--initial-branch=main").CombinedOutput(); err != nil {
		t.Fatal(string(out), err)
	}
	// What the repository's settings name is not run, and a command gets no credential.
	t.Setenv("SOME_API_KEY", "sk-secret")
	ran := filepath.Join(t.TempDir(), "ran")
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.invalid"}, args...)...).CombinedOutput(); err != nil {
			t.Fatal(string(out), err)
		}
	}
	write(t, filepath.Join(dir, "f.txt"), "x\n")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=e=vil\n*.md filter=long")
	write(t, filepath.Join(dir, "g.md"), "x\n")
	git("add", "-A")
	git("commit", "-qm", "one")
	git("config", "filter.e=vil.clean", "echo ran >> '"+ran+"'; cat")
	git("config", "filter.long.process", "echo ran >> '"+ran+"'")
	git("config", "filter.long.required", "true")
	for _, name := range []string{"f.txt", "g.md"} {
		write(t, filepath.Join(dir, name), "x\n")
		if err := os.Chtimes(filepath.Join(dir, name), time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "a"), "")
	o, err := c.Initialize(c.Observe(t.Context(), nil))
	if err != nil || o.Text() != "<git>\nBranch: main\nWorking tree: 1 untracked\n</git>" {
		t.Errorf("%s %v", o.Text(), err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("a filter of the repository was run: %s", text)
	}
	if out, err := host.Exec()(t.Context(), shell("env")); err != nil || strings.Contains(string(out.Stdout), "sk-secret") {
		t.Errorf("a command gets %s, %v", out.Stdout, err)
	}
}
