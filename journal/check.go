package journal

import (
	"context"
	"errors"

	"ambit/entry"
)

// Report is what Check found in one session.
type Report struct {
	Session    string
	Entries    int
	Bodies     int       // bodies that entries rely on, without those that were purged
	Rebuilt    int       // of these, how many rebuild to their SHA-256
	Bytes      int64     // of these bodies, together
	Purged     int       // bodies that entries rely on and that were purged
	InPart     int       // of these, how many only lost the text of some entries
	Left       int64     // bytes of the session's literal log that a purge has not overwritten yet
	LeftOf     entry.Seq // the entry whose text that is; 0 for all of the session
	Mismatches []Mismatch
	Damage     []Damage
}

// Sound reports whether everything holds together.
func (r Report) Sound() bool { return len(r.Mismatches) == 0 && len(r.Damage) == 0 }

// Mismatch is a body that does not rebuild.
type Mismatch struct {
	Session string `json:"session"`
	Ref     string `json:"ref"` // the entry that relies on it
	Cause   string `json:"cause"`
}

// Damage is a place where stored bytes are not what was written.
type Damage struct {
	Session string `json:"session"`
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Cause   string `json:"cause"`
}

// Check implements Store.
func (d *Dir) Check(ctx context.Context, session string) (Report, error) {
	report := Report{Session: session}
	logs := make(map[string]*literals) // they have nothing in memory: what is checked is what is stored
	log := func(name string) *literals {
		if logs[name] == nil {
			logs[name] = d.newLog(name)
		}
		return logs[name]
	}
	defer func() {
		for _, l := range logs {
			l.close()
		}
	}()
	var purged []entry.Run
	var last entry.Seq
	good, referenced := make(map[int64]bool), make(map[int64]bool)
	for f, err := range d.Read(ctx, session, 0) {
		var c *CorruptError
		if errors.As(err, &c) {
			report.damaged(c)
			break
		}
		if err != nil {
			return report, err
		}
		report.Entries++
		if p, ok := f.Fact.(*entry.Purged); ok && f.In == session {
			purged, last = append(purged, p.Runs...), p.Of
		} else if seals(f.Fact) {
			purged = nil // it was another log of which that was said
		}
		for _, b := range entry.Bodies(f.Fact) {
			if err := ctx.Err(); err != nil {
				return report, err
			}
			ok, err := report.rebuild(d, log(f.In), f, b)
			if err != nil {
				return report, err
			}
			if f.In == session {
				at := log(f.In).offset(b)
				referenced[at] = true
				good[at] = good[at] || ok
			}
			if d.progress != nil {
				d.progress(report)
			}
		}
	}
	if p, err := d.Purged(session); p != nil || err != nil {
		if p != nil {
			report.Left = p.Left
		}
		return report, err
	}
	err := report.audit(log(session), good, referenced, purged)
	if report.Left > 0 {
		report.LeftOf = last
	}
	return report, err
}

// audit verifies what a session's literal log holds beside bodies that rebuild, and what entries say is gone of it.
func (r *Report) audit(log *literals, good, referenced map[int64]bool, purged []entry.Run) error {
	damage, err := log.verify(good, referenced)
	if err != nil {
		return err
	}
	left, unsaid, err := log.audit(purged)
	for _, c := range append(damage, unsaid...) {
		r.damaged(c)
	}
	r.Left = left
	return err
}

// rebuild rebuilds one body and counts it; its error is about the reading.
func (r *Report) rebuild(d *Dir, log *literals, f Frame, b entry.Body) (ok bool, err error) {
	_, err = d.kept(log, f.In, b, func() ([]byte, error) { return log.body(b) })
	if errors.Is(err, ErrPurged) {
		r.Purged++
		if errors.Is(err, errHole) {
			r.InPart++
		}
		return false, nil
	}
	r.Bodies++
	r.Bytes += b.Size
	if err == nil {
		r.Rebuilt++
		return true, nil
	}
	if !errors.Is(err, ErrCorrupt) {
		return false, err
	}
	r.Mismatches = append(r.Mismatches, Mismatch{Session: r.Session, Ref: f.Seq.Ref(), Cause: err.Error()})
	return false, nil
}

func (r *Report) damaged(c *CorruptError) {
	r.Damage = append(r.Damage, Damage{Session: r.Session, File: c.File, Offset: c.Offset, Cause: c.Err.Error()})
}
