//go:build race

package server

import "time"

// bound is a time with which the race detector can be run.
func bound(d time.Duration) time.Duration { return 20 * d }
