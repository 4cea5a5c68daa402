//go:build !race

package server

import "time"

// bound is a time as it is to be held.
func bound(d time.Duration) time.Duration { return d }
