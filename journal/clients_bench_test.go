package journal_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
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

// BenchmarkFresh stores bodies of 1 MB that have nothing in common, the worst case: words, base 64 as in pictures, and
// random bytes. It reports the rate.
func BenchmarkFresh(b *testing.B) {
	const size, count = 1 << 20, 40
	words := []string{"parser", "token", "buffer", "index", "cache", "flush", "render", "worker", "socket", "retry", "budget", "prefix"}
	for name, piece := range map[string]func(*rand.Rand) string{
		"words": func(r *rand.Rand) string { return words[r.IntN(len(words))] + " " },
		"base64": func(r *rand.Rand) string {
			return base64.StdEncoding.EncodeToString(binary.LittleEndian.AppendUint64(nil, r.Uint64())[:6])
		},
		"random": func(r *rand.Rand) string { return string(binary.LittleEndian.AppendUint64(nil, r.Uint64())) },
	} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			bodies := make([][]byte, count)
			for i := range bodies {
				for len(bodies[i]) < size {
					bodies[i] = append(bodies[i], piece(rng)...)
				}
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
