package main

import (
	"testing"
	"time"
)

// TestProgress: nothing is said in the first second, and then a line every ten, where there is no terminal.
func TestProgress(t *testing.T) {
	e, out, said := testEnv(nil)
	now := time.Unix(1e9, 0)
	e.now = func() time.Time { return now }
	p := e.progress("checking")
	for second := range 26 {
		now = time.Unix(1e9+int64(second), 0)
		p.at(int64(second)<<20, "%d bodies", second)
	}
	p.end()
	if want := "ambit: checking: 10 bodies, 1 MiB/s\nambit: checking: 20 bodies, 1 MiB/s\n"; said.String() != want || out.Len() > 0 {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
