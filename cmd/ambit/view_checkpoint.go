package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ambit"
)

// shownCheckpoint is the answer of ambit view --checkpoint.
type shownCheckpoint struct {
	Session    string `json:"session"`
	Thread     string `json:"thread"`
	Decision   string `json:"decision"` // ref of the entry that made it
	Checkpoint string `json:"checkpoint"`
}

// showCheckpoint prints the newest checkpoint.
func (v *viewing) showCheckpoint(ctx context.Context, rec *ambit.Recording) error {
	d, ref, text, err := rec.Checkpoint(ctx, v.thread)
	if errors.Is(err, ambit.ErrNoCheckpoint) && v.thread != "" {
		if _, none := rec.Gauge(ctx, v.thread, 0); errors.Is(none, ambit.ErrNoThread) {
			return none
		}
		return fmt.Errorf("%w in the thread %s", err, v.thread)
	}
	if errors.Is(err, ambit.ErrNoCheckpoint) {
		return &hintError{err, v.self() + " compact " + rec.Session() + " makes one, where that gains anything"}
	}
	if err != nil {
		return err
	}
	if v.asJSON {
		return v.printJSON(shownCheckpoint{rec.Session(), d.Thread, ref, text})
	}
	text = strings.TrimSuffix(text, "\n")
	if v.onTerminal() { // where what is recorded may not move the cursor; anywhere else it is exact
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = printable(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	fmt.Fprintln(v.out, text)
	return nil
}
