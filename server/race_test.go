//go:build race

package server

import "time"

// bounded is how often something drawn is done that takes long under the race detector.
func bounded(n int) int { return max(1, n/8) }

// bound is a time with which the race detector can be run.
func bound(d time.Duration) time.Duration { return 20 * d }
