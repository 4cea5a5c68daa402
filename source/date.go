package source

import (
	"context"
	"time"
)

// Date is the source core/date: the calendar day, never a time of day. The day is that of the zone, or without one that
// of the times that now returns: those of time.Now are in the host's zone. It is volatile.
func Date(now func() time.Time, zone *time.Location) Source {
	long := func(day string) string {
		t, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return day
		}
		return t.Format("Monday, " + time.DateOnly)
	}
	return Of(Spec[string]{
		Key: "core/date",
		Load: func(context.Context) (string, error) {
			t := now()
			if zone != nil {
				t = t.In(zone)
			}
			return t.Format(time.DateOnly), nil
		},
		Baseline: func(day string) string { return "Today is " + long(day) + "." },
		Update:   func(_, day string) string { return "It is now " + long(day) + "." },
		Removal: func(string) string {
			return "The date is no longer given; do not rely on the one that was given before."
		},
		Volatile: true,
	})
}
