package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestSaying: what is logged is one line for people, whatever stands in it.
func TestSaying(t *testing.T) {
	e, out, said := testEnv(nil)
	log := slog.New(saying{e: e})
	log.Debug("not for people")
	log.Info("plain")
	log.Warn("cannot go on", "session", "a-1", "cause", errors.New("no space left on device"))
	log.Error("odd", "text", "a\nb\x1b[2J\u202e")
	log.With("n", 1).WithGroup("g").With("m", 2).Info("nested", slog.Group("h", "k", true), slog.Attr{})
	want := []string{
		"ambit: plain",
		"ambit: cannot go on: session=a-1 cause=no space left on device",
		"ambit: odd: text=a?b?[2J?",
		"ambit: nested: n=1 g.m=2 g.h.k=true",
	}
	if got := said.String(); got != strings.Join(want, "\n")+"\n" || out.Len() > 0 {
		t.Errorf("said\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}
