//go:build unix

package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"ambit/internal/vfs"
)

// holdEnv names the lock file that this process, a child of the test, takes and holds until it is killed.
const holdEnv = "AMBIT_VFS_HOLD"

func TestMain(m *testing.M) {
	if name := os.Getenv(holdEnv); name != "" {
		hold(name)
	}
	os.Exit(m.Run())
}

func hold(name string) {
	if _, err := (vfs.OS{}).Lock(name, []byte("the child")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin) // also ends when the parent dies
	os.Exit(1)
}

func TestOSLockEndsWithProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), holdEnv+"="+name)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "held\n" {
		t.Errorf("child says %q, %v", line, err)
	}
	var held *vfs.LockedError
	if _, err := (vfs.OS{}).Lock(name, nil); !errors.As(err, &held) || string(held.Holder) != "the child" {
		t.Errorf("while the child lives: %#v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	child.Wait() // killed, so its error says nothing
	lock, err := vfs.OS{}.Lock(name, []byte("the parent"))
	if err != nil {
		t.Fatalf("after the child died: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

// TestOSPermissions does not run in parallel: the umask is the process's.
func TestOSPermissions(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o777} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			dir := t.TempDir()
			old := syscall.Umask(mask)
			defer syscall.Umask(old)
			d := disk{T: t, FS: vfs.OS{}, root: dir}
			d.ok(d.MkdirAll(d.at("a/b")))
			d.put("a/b/f", "")
			lock, err := d.Lock(d.at("a/lock"), nil)
			d.ok(err)
			d.ok(lock.Close())
			for name, want := range map[string]fs.FileMode{
				"a": fs.ModeDir | 0o700, "a/b": fs.ModeDir | 0o700, "a/b/f": 0o600, "a/lock": 0o600,
			} {
				info, err := os.Stat(d.at(name))
				d.ok(err)
				if info.Mode() != want {
					t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
				}
			}
		})
	}
}

func TestOSMkdirAllKeepsPermissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := (vfs.OS{}).MkdirAll(filepath.Join(dir, "e")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}
