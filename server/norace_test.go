//go:build !race

package server

import "time"

// bounded is how often something drawn is done.
func bounded(n int) int { return n }

// bound is a time as it is to be held.
func bound(d time.Duration) time.Duration { return d }
