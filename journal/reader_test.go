package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/journal/journaltest"
)

// summary is what reader.py prints.
type summary struct {
	Entries int  `json:"entries"`
	Bodies  int  `json:"bodies"`
	Rebuilt int  `json:"rebuilt"`
	Purged  int  `json:"purged"`
	Sound   bool `json:"sound"`
	Damage  []struct {
		File   string `json:"file"`
		Offset int64  `json:"offset"`
		Cause  string `json:"cause"`
	} `json:"damage"`
}

// places is where damage was found, without its causes, which two readers may tell differently.
func (s summary) places() (places []string) {
	for _, d := range s.Damage {
		places = append(places, fmt.Sprintf("%s:%d", d.File, d.Offset))
	}
	return places
}

// reader runs reader.py, the second reader, which was written from the format's document.
func reader(t *testing.T, args ...string) (s summary) {
	t.Helper()
	cmd := exec.Command("python3", append([]string{filepath.Join("journaltest", "reader.py")}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || json.Unmarshal(out, &s) != nil {
		t.Fatalf("reader.py: %v\n%s%s", err, out, &stderr)
	}
	if (err == nil) != s.Sound {
		t.Errorf("reader.py says %+v and ends with %v", s, err)
	}
	return s
}

// needReader skips a test where reader.py cannot run.
func needReader(t *testing.T) {
	const probe = `
import ctypes, ctypes.util, sys
sys.version_info >= (3, 14) or ctypes.CDLL(ctypes.util.find_library("zstd") or sys.exit("no libzstd"))`
	if out, err := exec.Command("python3", "-c", probe).CombinedOutput(); err != nil {
		t.Skipf("needs python3 and libzstd: %v %s", err, out)
	}
}

// agree lets both readers read a session in memory and compares what they find.
func agree(t *testing.T, m *vfs.Mem) {
	t.Helper()
	agreeOn(t, m, "a")
}

func agreeOn(t *testing.T, m *vfs.Mem, session string) {
	t.Helper()
	r, frames, _ := checkedIn(t, m, session)
	want := summary{Entries: frames, Bodies: r.Bodies, Rebuilt: r.Rebuilt, Purged: r.Purged, Sound: r.Sound()}
	got := reader(t, filepath.Join(export(t, m), session))
	var places []string
	for _, d := range r.Damage {
		places = append(places, fmt.Sprintf("%s:%d", within(d.File, session), d.Offset))
	}
	if diff := cmp.Diff(places, got.places()); diff != "" {
		t.Errorf("damage (-check +reader.py):\n%s", diff)
	}
	got.Damage = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-check +reader.py):\n%s", diff)
	}
}

// within is a file's name as it is seen from a session's folder.
func within(file, session string) string {
	sessions := path.Dir(folder) + "/"
	if own, ok := strings.CutPrefix(file, sessions+session+"/"); ok {
		return own
	}
	return "../" + strings.TrimPrefix(file, sessions)
}

// export copies all sessions to a folder of the operating system.
func export(t *testing.T, m *vfs.Mem) string {
	dir, sessions := t.TempDir(), path.Dir(folder)
	files(m, sessions, func(name string, _ uint64) bool {
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, sessions)))
		must(0, os.MkdirAll(filepath.Dir(to), 0o700))
		must(0, os.WriteFile(to, read(m, name), 0o600))
		return true
	})
	return dir
}

// TestReader compares two readers of the format over whole sessions, crashes, and damage.
//
// covers: J-02
func TestReader(t *testing.T) {
	t.Parallel()
	needReader(t)
	m := written()
	t.Run("whole", func(t *testing.T) { agree(t, m) })
	for _, row := range mutilations(m) {
		t.Run(row.name, func(t *testing.T) {
			m := m.Crash(vfs.Kept, nil)
			row.do(m)
			agree(t, m)
		})
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 40 {
		t.Run(fmt.Sprint("bit ", i), func(t *testing.T) {
			m := m.Crash(vfs.Kept, nil)
			t.Log(flip(m, path.Dir(folder), rng.Uint64()))
			agree(t, m)
		})
	}
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("crash ", seed), func(t *testing.T) { agree(t, interrupted(t, seed)) })
	}
}

// interrupted is a session whose last operations were not durable when the power was lost.
func interrupted(t *testing.T, seed uint64) *vfs.Mem {
	m := vfs.NewMem()
	fault := &vfs.Fault{FS: m}
	s := must(opener("home/me/ambit", fault)())
	defer s.Close()
	ctx := context.Background()
	must(s.Lock(ctx, "a"))
	for i := range 5 {
		b := must(s.Put(ctx, "a", bytes.Repeat(fmt.Appendf(nil, "body %d ", i), 100)))
		must(s.Append(ctx, "a", &entry.Gap{}, &entry.Request{N: i, Body: &b}, &entry.Gap{}))
	}
	must(s.Put(ctx, "a", bytes.Repeat([]byte("is not relied on"), 100)))
	fault.SetInject(func(op vfs.Op, _ string) error {
		if op == vfs.OpSync {
			return errors.New("injected")
		}
		return nil
	})
	if _, err := s.Append(ctx, "a", &entry.Gap{}, &entry.Response{}, &entry.Session{Title: strings.Repeat("x", 500)}); err == nil {
		t.Fatal("nothing was injected")
	}
	return crashed(m, seed)
}

// TestReaderOfBodies reads all the bodies that the laws of journaltest think of.
//
// covers: J-02 part
// covers: J-05 part
func TestReaderOfBodies(t *testing.T) {
	t.Parallel()
	needReader(t)
	root := t.TempDir()
	d := must(journal.Open(filepath.ToSlash(root), journal.Options{Rotate: 3000}))
	defer d.Close()
	ctx := context.Background()
	must(d.Lock(ctx, "a"))
	bodies := journaltest.Bodies()
	for i, body := range bodies {
		b := must(d.Put(ctx, "a", body))
		must(d.Append(ctx, "a", &entry.Request{N: i, Body: &b}, &entry.Response{N: i, Body: &b}))
	}
	must(d.Append(ctx, "a", &entry.Unknown{Name: "other", Raw: json.RawMessage(`{"time":"2031-01-02T03:04:05Z","kind":"other","body":7}`)}))
	want := summary{Entries: 2*len(bodies) + 1, Bodies: 2 * len(bodies), Rebuilt: 2 * len(bodies), Sound: true, Damage: nil}
	got := reader(t, d.Folder("a"))
	got.Damage = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +reader.py):\n%s", diff)
	}
	var out bytes.Buffer
	must(0, journal.Export(ctx, d, "a", &out))
	file := filepath.Join(root, "export.jsonl")
	must(0, os.WriteFile(file, out.Bytes(), 0o600))
	got = reader(t, "--export", file)
	got.Damage = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("export (-want +reader.py):\n%s", diff)
	}
	damagedExport(t, file, out.Bytes())
}

// damagedExport changes bits of an export, and takes lines away.
func damagedExport(t *testing.T, file string, whole []byte) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		data := bytes.Clone(whole)
		at := rng.IntN(len(data))
		data[at] ^= 1 << rng.IntN(5)
		must(0, os.WriteFile(file, data, 0o600))
		if s := reader(t, "--export", file); s.Sound {
			t.Errorf("byte %d changed, and reader.py finds nothing", at)
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for range 5 {
		at := rng.IntN(len(lines) - 2) // the last one may be missing, and behind it is nothing
		data := bytes.Join(append(append([][]byte{}, lines[:at]...), lines[at+1:]...), nil)
		must(0, os.WriteFile(file, data, 0o600))
		if s := reader(t, "--export", file); s.Sound {
			t.Errorf("line %d is missing, and reader.py finds nothing: %.200s", at, lines[at])
		}
	}
}
