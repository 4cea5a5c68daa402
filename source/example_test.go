package source_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ambit/source"
)

// A session is told the day and a build's state, and later what has changed.
func Example() {
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	build := "green"
	c, err := source.Compose(
		source.Of(source.Spec[string]{
			Key: "ci/build",
			Load: func(context.Context) (string, error) {
				if build == "" {
					return "", source.ErrAbsent
				}
				return build, nil
			},
			Baseline: func(state string) string { return "The build is " + state + "." },
			Update:   func(_, state string) string { return "The build is now " + state + "." },
			Removal:  func(string) string { return "There is no build any more." },
		}),
		source.Date(func() time.Time { return day }, nil),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	o, err := c.Initialize(c.Observe(ctx, nil))
	fmt.Printf("%s %v\n%s\n", o.Status, err, o.Text())

	for _, build = range []string{"green", "red", ""} {
		day = day.Add(10 * time.Hour)
		o, err = c.Reconcile(c.Observe(ctx, nil), o.Snapshot)
		fmt.Printf("-- %s %v\n%s\n", o.Status, err, o.Text())
	}
	kept, err := json.Marshal(o.Snapshot)
	fmt.Println(string(kept), err)
	// Output:
	// ready <nil>
	// The build is green.
	//
	// Today is Monday, 2026-03-02.
	// -- unchanged <nil>
	//
	// -- updated <nil>
	// The build is now red.
	//
	// It is now Tuesday, 2026-03-03.
	// -- updated <nil>
	// There is no build any more.
	// {"core/date":{"value":"2026-03-03","removed":"The date is no longer given; do not rely on the one that was given before."}} <nil>
}

func ExampleRegistry() {
	var r source.Registry
	for _, key := range []string{"plug/z", "plug/a"} {
		if _, err := r.Register(typed(key, key, source.JSON[string]())); err != nil {
			fmt.Println(err)
		}
	}
	c, err := r.Compose(source.API(map[string]json.RawMessage{"note": json.RawMessage(`"mine"`)})...)
	for _, s := range c.Sources() {
		fmt.Println(s.Key())
	}
	_, twice := r.Register(typed("plug/a", "", source.JSON[string]()))
	fmt.Println(err, twice)
	// Output:
	// api/note
	// plug/a
	// plug/z
	// <nil> source "plug/a" is registered already
}
