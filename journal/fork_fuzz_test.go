package journal_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// FuzzFork opens, reads, checks and goes on with a fork whose first file has arbitrary bytes and any number. With seal
// set, its lines get the sums that they need.
func FuzzFork(f *testing.F) {
	m := forked()
	first := read(m, path.Join(path.Dir(folder), "d", "entries", "000000000006.jsonl"))
	f.Add(uint64(6), first, false)
	f.Add(uint64(6), bytes.Replace(first, []byte(`"session":"b"`), []byte(`"session":"d"`), 1), true)
	f.Add(uint64(6), bytes.Replace(first, []byte(`"session":"b"`), []byte(`"session":"c"`), 1), true)
	f.Add(uint64(6), bytes.Replace(first, []byte(`"session":"b"`), []byte(`"session":""`), 1), true)
	f.Add(uint64(6), bytes.Replace(first, []byte(`"seq":5`), []byte(`"seq":18446744073709551615`), 1), true)
	f.Add(uint64(6), bytes.Replace(first, []byte(`"from":{`), []byte(`"from":null,"form":{`), 1), true)
	f.Add(uint64(0), bytes.ReplaceAll(first, []byte(`"seq":6`), []byte(`"seq":0`)), true)
	f.Add(uint64(1), first, true)
	f.Add(uint64(7), first, true)
	f.Add(^uint64(0), []byte("\n"), true)
	f.Add(uint64(6), first[:300], false)
	f.Add(uint64(99), []byte{}, false)
	f.Fuzz(func(t *testing.T, number uint64, lines []byte, seal bool) {
		if len(lines) > 16384 {
			return
		}
		if seal {
			lines = sums(lines)
		}
		m := m.Crash(vfs.Kept, nil)
		dir := path.Join(path.Dir(folder), "d", "entries")
		for _, name := range must(m.List(dir)) {
			must(0, m.Remove(path.Join(dir, name)))
		}
		write(m, path.Join(dir, fmt.Sprintf("%012d.jsonl", number)), lines)
		before := contents(m, folder)
		r, frames, err := checkedIn(t, m, "d")
		sound := frames > 0 && r.Sound()
		if r.Entries != frames || sound && err != nil {
			t.Errorf("check found %+v, and %d frames are readable, then %v", r, frames, err)
		}
		s := must(opener("home/me/ambit", m)())
		defer s.Close()
		ctx := context.Background()
		if _, err = s.Lock(ctx, "d"); err == nil {
			_, err = s.Append(ctx, "d", &entry.Gap{})
		}
		if err != nil && (sound || !errors.Is(err, journal.ErrCorrupt)) {
			t.Errorf("check found %+v, and append says %v", r, err)
		}
		if now, n, _ := checkedIn(t, m, "d"); sound && (!now.Sound() || n != frames+1) || frames > 0 && !sound && now.Sound() {
			t.Errorf("check found %+v, and after an append %+v", r, now)
		}
		for name, data := range contents(m, folder) {
			if before[name] != data {
				t.Errorf("%s has changed", name)
			}
		}
	})
}

// sums gives every line the sum that it needs.
func sums(lines []byte) (sealed []byte) {
	for line := range bytes.Lines(lines) {
		if cut := len(line) - 75; cut >= 0 && line[len(line)-1] == '\n' {
			line = fmt.Appendf(bytes.Clone(line[:cut]), ",\"sum\":\"%x\"}\n", sha256.Sum256(append(bytes.Clone(line[:cut]), '}')))
		}
		sealed = append(sealed, line...)
	}
	return sealed
}
