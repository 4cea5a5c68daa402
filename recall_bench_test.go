package ambit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
	"ambit/provider"
)

// long records a conversation of so many requests, each with a result of so many bytes that is new, and returns its
// store and how much text it holds.
func long(tb testing.TB, requests, result int) (*journal.Dir, int64) {
	ctx := tb.Context()
	d, err := journal.Open("/d", journal.Options{FS: vfs.NewMem()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { d.Close() })
	unlock, err := d.Lock(ctx, "s")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unlock() })
	facts := []entry.Fact{&entry.Session{ID: "s"}}
	body := []byte(`{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"begin"}`)
	rng := rand.New(rand.NewPCG(1, 1))
	total := int64(0)
	for n := 1; n <= requests; n++ {
		var text strings.Builder
		for text.Len() < result {
			fmt.Fprintf(&text, "line %d of \"file-%d.go\":\tfunc f%d() error { return nil }\n", rng.IntN(1000), rng.IntN(100), rng.Int())
		}
		total += int64(text.Len())
		spelled, _ := json.Marshal(text.String())
		at := len(body) + 1
		body = fmt.Appendf(body, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`, n, spelled)
		length := len(body) - at
		whole := append(append([]byte(nil), body...), "]}"...)
		b, err := d.Put(ctx, "s", whole)
		if err != nil {
			tb.Fatal(err)
		}
		facts = append(facts,
			&entry.Request{N: n, Provider: "anthropic", Type: provider.TypeMessages, Method: "POST", Path: "/v1/messages", Body: &b},
			&entry.Relation{N: n, Thread: "t1", How: entry.Extends, Parent: n - 1, Messages: n + 1},
			&entry.Unit{N: n, Of: entry.PartMessage, Thread: "t1", Role: "user", At: fmt.Sprintf("/messages/%d", n), Offset: int64(at), Length: int64(length)},
			&entry.Response{N: n, Status: 200, End: entry.EndComplete},
		)
		if _, err := d.Append(ctx, "s", facts...); err != nil {
			tb.Fatal(err)
		}
		facts = nil
	}
	return d, total
}

// BenchmarkSearch looks for a text that is not there in a session of 3 MB and in one of 10, as a new process does.
func BenchmarkSearch(b *testing.B) {
	for _, requests := range []int{300, 1000} {
		b.Run(fmt.Sprint(requests), func(b *testing.B) {
			d, total := long(b, requests, 10_000)
			b.SetBytes(total)
			for b.Loop() {
				rec, err := ambit.OpenRecording(b.Context(), d, "s")
				if err != nil {
					b.Fatal(err)
				}
				if a := rec.Search(b.Context(), []byte("key"), ambit.Query{Text: "no such text"}); a.Status != "complete-miss" {
					b.Fatalf("%+v", a)
				}
			}
		})
	}
}
