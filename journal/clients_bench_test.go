package journal_test

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"ambit/journal"

	"github.com/klauspost/compress/zstd"
)

// BenchmarkClients stores the request bodies of real clients' recorded runs, a session each. It reports the session's
// size on disk as a multiple of one compressed last body, the bytes a request takes at the median, and the rate.
func BenchmarkClients(b *testing.B) {
	work := os.Getenv("AMBIT_CLIENT_RUNS")
	if work == "" {
		home, _ := os.UserHomeDir()
		work = filepath.Join(home, ".cache", "ambit-clients", "work")
	}
	for _, client := range []string{"opencode", "codex", "pi", "claude", "gemini", "qwen"} {
		names, _ := filepath.Glob(filepath.Join(work, client+"-base", "log", "*.req"))
		b.Run(client, func(b *testing.B) {
			if len(names) == 0 {
				b.Skip("no recorded run in AMBIT_CLIENT_RUNS")
			}
			var bodies [][]byte
			for _, name := range names {
				body, err := os.ReadFile(name)
				if err != nil {
					b.Fatal(err)
				}
				bodies = append(bodies, body)
			}
			benchStore(b, bodies)
		})
	}
}

func benchStore(b *testing.B, bodies [][]byte) {
	ctx := context.Background()
	last, total, ratio, median := bodies[0], 0, 0.0, int64(0)
	for _, body := range bodies {
		total += len(body)
		if len(body) > len(last) {
			last = body
		}
	}
	enc, _ := zstd.NewWriter(nil)
	one := len(enc.EncodeAll(last, nil))
	b.SetBytes(int64(total))
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		d, err := journal.Open(dir, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Lock(ctx, "a"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		var sizes []int64
		end := int64(0)
		for _, body := range bodies {
			at, err := d.Put(ctx, "a", body)
			if err != nil {
				b.Fatal(err)
			}
			sizes = append(sizes, at.At-end)
			end = at.At
		}
		b.StopTimer()
		d.Close()
		info, err := os.Stat(filepath.Join(dir, "sessions", "a", "bodies", "literals.log"))
		if err != nil {
			b.Fatal(err)
		}
		sort.Slice(sizes, func(i, j int) bool { return sizes[i] < sizes[j] })
		b.StartTimer()
		ratio, median = float64(info.Size())/float64(one), sizes[len(sizes)/2]
	}
	b.ReportMetric(ratio, "x-last-body")
	b.ReportMetric(float64(median), "B/request")
}
