package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ambit/internal/replay"
	"ambit/internal/transcript"
)

// longRecording is one of the shared recordings with more requests than a session must have.
func longRecording(t *testing.T) replay.File {
	t.Helper()
	shared := os.Getenv("AMBIT_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	name := filepath.Join(shared, "transcripts", "claude-code", "episodic-memory--long-conversation.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Skip("the shared recordings are not there: ", err)
	}
	r, err := transcript.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return replay.OfTranscript("long", r, data)
}

// TestSaving replays a long recording under both policies, and leaves out what is too short, or too long for the time that
// is left.
func TestSaving(t *testing.T) {
	f := longRecording(t)
	s := newSaving()
	s.left = time.Hour
	s.add(f)
	if s.Sessions != 1 || s.Requests < minSaving || s.Cut <= 0 || s.Full <= 0 || s.Full > s.Cut || s.Recorded < s.Cut || s.left >= time.Hour {
		t.Errorf("%+v", s.wouldHave)
	}
	before := s.wouldHave
	s.left = time.Microsecond
	s.add(f)
	s.add(replay.File{Path: "short"})
	if s.Late != 1 || s.Short != 1 || s.Cut != before.Cut || s.Sessions != 1 {
		t.Errorf("%+v", s.wouldHave)
	}
	want := "cut would have cost " + dollars(s.Cut) + ", full " + dollars(s.Full) + ", of " + dollars(s.Recorded) +
		"; 1 longer session was left out, for which 5s are too short"
	if got := s.says(); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	for _, silent := range []*wouldHave{nil, {Short: 3}} {
		if got := silent.says(); got != "" {
			t.Errorf("%+v says %q", silent, got)
		}
	}
}
