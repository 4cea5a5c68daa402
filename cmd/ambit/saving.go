package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ambit"
	"ambit/internal/replay"
	"ambit/internal/selection"
)

// Limits of looking for what Ambit's own policies would have cost; they are Ambit's own choice.
const (
	minSaving  = 20              // requests that a session must have: fewer say nothing
	savingTime = 5 * time.Second // for all sessions together
	// savingRate is how long two policies take for the square of a session's requests, before that was measured. Sessions of
	// 170 to 220 requests took 25 to 95 microseconds.
	savingRate = 60 * time.Microsecond
)

// wouldHave is what Ambit's own policies would have cost for the requests that were recorded, in USD.
type wouldHave struct {
	Cut      float64 `json:"cut"`
	Full     float64 `json:"full"`
	Recorded float64 `json:"recorded"` // what these requests cost as they were sent
	Requests int     `json:"requests"` // that are compared
	Sessions int     `json:"sessions"`
	Short    int     `json:"short_sessions_left_off"`
	Late     int     `json:"late_sessions_left_off"` // there was no time for them
}

// saving replays sessions under Ambit's own policies, as long as there is time.
type saving struct {
	wouldHave
	policies []replay.Policy
	left     time.Duration
	rate     time.Duration
}

func newSaving() *saving {
	s := &saving{left: savingTime, rate: savingRate}
	s.policies, _ = replay.Choose([]string{"ambit:" + selection.Cut, "ambit:" + selection.Full})
	return s
}

// add replays a session, unless it is too short, or would take more time than there is left.
func (s *saving) add(f replay.File) {
	turns, work := 0, time.Duration(0)
	for _, c := range f.Conversations {
		turns, work = turns+len(c.Turns), work+time.Duration(len(c.Turns)*len(c.Turns))
	}
	switch {
	case turns < minSaving:
		s.Short++
		return
	case len(s.policies) != 2 || work*s.rate > s.left:
		s.Late++
		return
	}
	begun := time.Now()
	r := replay.Run(f, replay.Options{Policies: s.policies})
	took := time.Since(begun)
	s.left, s.rate = s.left-took, max(s.rate/2, took/work)
	if r.Compared == 0 {
		s.Short++
		return
	}
	s.Cut, s.Full, s.Recorded = s.Cut+r.Policies[0].Cost, s.Full+r.Policies[1].Cost, s.Recorded+r.Recorded.Compared
	s.Requests, s.Sessions = s.Requests+r.Compared, s.Sessions+1
}

// found is what came of it; nil where nothing was looked for.
func (s *saving) found() *wouldHave {
	if s == nil {
		return nil
	}
	return &s.wouldHave
}

// says is that in one line for people; empty where nothing was compared and nothing left off for want of time.
func (s *wouldHave) says() string {
	if s == nil {
		return ""
	}
	left := ""
	if s.Late > 0 {
		left = plural(s.Late, "longer session was", "longer sessions were") + " left out, for which " + savingTime.String() + " are too short"
	}
	if s.Requests == 0 {
		return left
	}
	line := "cut would have cost " + dollars(s.Cut) + ", full " + dollars(s.Full) + ", of " + dollars(s.Recorded)
	if left != "" {
		line += "; " + left
	}
	return line
}

// sayWouldHave says, when an ambit up ends that changed nothing, what its policies would have cost for the sessions that
// were recorded since it began.
func (e *env) sayWouldHave(ctx context.Context, policy string, since time.Time) {
	if policy != "" && policy != selection.Record {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), savingTime)
	defer stop()
	d, err := e.read(nil)
	if err != nil {
		return
	}
	defer d.Close()
	names, err := d.Sessions(ctx)
	if err != nil {
		return
	}
	s := newSaving()
	begun := time.Now()
	for _, name := range slices.Backward(names) {
		if !changed(d.Folder(name), since) {
			continue
		}
		if s.left = min(s.left, savingTime-time.Since(begun)); ctx.Err() != nil || s.left <= 0 {
			s.Late++
			continue
		}
		if rec, err := ambit.OpenRecording(ctx, d, name); err == nil && rec.Last() >= minSaving {
			s.add(replay.OfSession(ctx, name, rec))
		}
	}
	if line := s.says(); line != "" {
		e.say("%s", line)
	}
}

// changed reports whether entries were appended to a session since a time.
func changed(folder string, since time.Time) bool {
	files, err := filepath.Glob(filepath.Join(folder, "entries", "*.jsonl"))
	if err != nil || len(files) == 0 {
		return false
	}
	at, err := os.Stat(slices.Max(files))
	return err == nil && !at.ModTime().Before(since.Truncate(time.Second)) // as exact as file systems are
}
