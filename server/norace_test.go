//go:build !race

package server

import "time"

// bound is a time as it is to be held; machines that others use too are twice as slow at times.
func bound(d time.Duration) time.Duration { return d }
