package journaltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"ambit/entry"
	"ambit/journal"
)

// readAll reads a whole session and verifies order, sums and chain by the format's document, not by the store's word.
// A session that does not exist is empty. With an error come the frames before it.
func readAll(ctx context.Context, s journal.Store, session string) ([]journal.Frame, error) {
	return readFrom(ctx, s, session, 0)
}

func readFrom(ctx context.Context, s journal.Store, session string, after entry.Seq) ([]journal.Frame, error) {
	var all []journal.Frame
	var last error
	for f, err := range s.Read(ctx, session, after) {
		if last != nil {
			return all, fmt.Errorf("read goes on after the error %w", last)
		}
		if last = err; err != nil {
			continue
		}
		f.Line = bytes.Clone(f.Line)
		all = append(all, f)
		if err := follows(all, after); err != nil {
			return all, err
		}
	}
	if errors.Is(last, journal.ErrNoSession) {
		last = nil
	}
	return all, last
}

// follows verifies the last of some frames, which were read after a sequence number.
func follows(all []journal.Frame, after entry.Seq) error {
	f := all[len(all)-1]
	if want := after + entry.Seq(len(all)); f.Seq != want {
		return fmt.Errorf("entry %d comes where %d must", f.Seq, want)
	}
	switch {
	case f.In == "":
		return fmt.Errorf("entry %d is in no session", f.Seq)
	case len(all) > 1 && f.Prev != all[len(all)-2].Sum:
		return fmt.Errorf("entry %d has prev %s, and the one before has sum %s", f.Seq, f.Prev, all[len(all)-2].Sum)
	case f.Seq == 1 && f.Prev != strings.Repeat("0", 64):
		return fmt.Errorf("the first entry has prev %s", f.Prev)
	}
	return spelled(f)
}

// spelled verifies that a line is spelled as the format says and that its sum is its own.
func spelled(f journal.Frame) error {
	cut := len(f.Line) - 74
	if cut < 0 || bytes.IndexByte(f.Line, '\n') >= 0 || len(f.Line) >= journal.MaxFrame {
		return fmt.Errorf("entry %d has a line of %d bytes", f.Seq, len(f.Line))
	}
	sum := sha256.Sum256(append(f.Line[:cut:cut], '}'))
	if want := fmt.Sprintf(`,"sum":"%x"}`, sum); string(f.Line[cut:]) != want || f.Sum != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("entry %d has sum %s and ends in %s, want %s", f.Seq, f.Sum, f.Line[cut:], want)
	}
	head := fmt.Sprintf(`{"frame":1,"seq":%d,"prev":"%s","entry":{`, f.Seq, f.Prev)
	more := strings.Replace(head, `,"prev"`, `,"more":true,"prev"`, 1)
	if line := string(f.Line); !strings.HasPrefix(line, head) && !strings.HasPrefix(line, more) {
		return fmt.Errorf("entry %d begins %.120s", f.Seq, line)
	}
	return nil
}

// ledger is what a session must hold: a model of the store, in a few lines.
type ledger struct {
	acked []entry.Fact
	maybe [][]entry.Fact // appends that failed since the last acknowledged one: after a crash one may be there, whole
	lines []string       // of acked, as far as they were read
}

// verify compares a session with the ledger, rebuilds all bodies, and checks it. What may be there and is, becomes
// acknowledged.
func (l *ledger) verify(ctx context.Context, s journal.Store, session string) error {
	frames, err := readAll(ctx, s, session)
	if err != nil {
		return fmt.Errorf("read %q: %w", session, err)
	}
	if err := l.settle(frames); err != nil {
		return fmt.Errorf("session %q: %w", session, err)
	}
	for _, f := range frames {
		for _, b := range entry.Bodies(f.Fact) {
			if err := rebuilds(ctx, s, session, b); err != nil {
				return fmt.Errorf("session %q: entry %d: %w", session, f.Seq, err)
			}
		}
	}
	return sound(ctx, s, session, len(frames))
}

// settle wants all acknowledged facts in the frames, and behind them nothing or one whole append that may be there.
func (l *ledger) settle(frames []journal.Frame) error {
	err := same(frames, l.acked)
	for i := 0; err != nil && i < len(l.maybe); i++ {
		whole := append(l.acked[:len(l.acked):len(l.acked)], l.maybe[i]...)
		if same(frames, whole) == nil {
			l.acked, err = whole, nil
		}
	}
	if err != nil {
		return err
	}
	l.maybe = nil
	return l.unchanged(frames)
}

// unchanged wants the lines that were read before byte for byte, and keeps all for the next time.
func (l *ledger) unchanged(frames []journal.Frame) error {
	for i, f := range frames {
		if i == len(l.lines) {
			l.lines = append(l.lines, string(f.Line))
		}
		if string(f.Line) != l.lines[i] {
			return fmt.Errorf("entry %d was stored as %s and is stored as %s", f.Seq, l.lines[i], f.Line)
		}
	}
	return nil
}

func same(frames []journal.Frame, facts []entry.Fact) error {
	for i := range min(len(frames), len(facts)) {
		if !cmp.Equal(facts[i], frames[i].Fact) {
			return fmt.Errorf("entry %d differs (-want +got):\n%s", i+1, cmp.Diff(facts[i], frames[i].Fact))
		}
	}
	if len(frames) != len(facts) {
		return fmt.Errorf("%d entries, want %d", len(frames), len(facts))
	}
	return nil
}

func rebuilds(ctx context.Context, s journal.Store, session string, b entry.Body) error {
	got, err := s.Body(ctx, session, b)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != b.SHA256 || int64(len(got)) != b.Size {
		return fmt.Errorf("a body of %d bytes and SHA-256 %s is rebuilt with %d and %x", b.Size, b.SHA256, len(got), sum)
	}
	return nil
}

// sound wants a check without findings that has counted everything.
func sound(ctx context.Context, s journal.Store, session string, entries int) error {
	r, err := s.Check(ctx, session)
	if entries == 0 && errors.Is(err, journal.ErrNoSession) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check %q: %w", session, err)
	}
	if !r.Sound() || r.Entries != entries || r.Rebuilt != r.Bodies {
		return fmt.Errorf("check of %q with %d entries found %+v", session, entries, r)
	}
	return nil
}
