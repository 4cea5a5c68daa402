package index_test

import (
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"ambit/internal/index"
)

// ring is 64 MiB, more than caches hold, of texts as long as those of agents' traffic, cut from this module's own
// files; some hold the word "planted-word".
func ring(b *testing.B) []string {
	b.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md" || strings.Contains(name, "internal/index/") {
			return err
		}
		data, err := fs.ReadFile(os.DirFS("../.."), name)
		all.Write(data)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for total := 0; total < 64<<20; {
		n := 100 << rng.IntN(10) // 100 bytes to 50 KiB
		i := rng.IntN(all.Len() - n)
		text := strings.ToValidUTF8(all.String()[i:i+n], "")
		if rng.IntN(200) == 0 {
			text += " planted-word"
		}
		texts, total = append(texts, text), total+len(text)
	}
	return texts
}

// again makes a capture of texts that are yielded again until they are so many bytes, and says how many those are.
func again(texts []string, most int) (c index.Capture, bytes int) {
	count := 0
	for bytes < most {
		bytes += len(texts[count%len(texts)])
		count++
	}
	return index.Capture{ID: "s", Key: key, Texts: func(from int) iter.Seq2[index.Text, error] {
		return func(yield func(index.Text, error) bool) {
			for i := from; i < count; i++ {
				if !yield(index.Text{Ref: "e1", Text: texts[i%len(texts)]}, nil) {
					return
				}
			}
		}
	}}, bytes
}

// BenchmarkSearch passes over everything, and in the same run looks for a byte that does not occur: plain-GB/s is what
// this memory gives, share what the search makes of it.
func BenchmarkSearch(b *testing.B) {
	texts := ring(b)
	for _, size := range []struct {
		name  string
		bytes int
	}{{"3MB", 3e6}, {"1GB", 1e9}} {
		for _, x := range []struct{ name, needle string }{
			{"identifier", "ExpiredQuuxCursor"},
			{"rare", "#XYZZY#"},
			{"words", "the rest of them is not there"},
			{"letters", "tetinat"},
			{"rare-ending", "ee\x01"},
			{"spaces", strings.Repeat(" ", 20) + "e"},
			{"tabs", strings.Repeat("\t", 12) + "e"},
			{"lines", "}\n\n}\n\n}\n"},
			{"64-bytes", strings.Repeat("not so here, ", 6)[:64]},
			{"65-bytes", strings.Repeat("not so here, ", 6)[:65]},
			{"4096-bytes", strings.Repeat("return the error of the test. ", 150)[:4096]},
			{"cyrillic", "контекст"},
			{"planted", "planted-word"},
		} {
			b.Run(size.name+"/"+x.name, func(b *testing.B) {
				c, total := again(texts, size.bytes)
				var plain, search time.Duration
				for b.Loop() {
					start := time.Now()
					for t := range c.Texts(0) {
						if strings.IndexByte(t.Text, 0xff) >= 0 {
							b.Fatal("the byte occurs")
						}
					}
					plain += time.Since(start)
					start = time.Now()
					q := index.Query{Text: x.needle}
					a := c.Search(q)
					for a.Cursor != "" {
						q.Cursor = a.Cursor
						a = c.Search(q)
					}
					search += time.Since(start)
					if a.Coverage != index.CoverageComplete || a.Status == index.Found != (x.name == "planted") {
						b.Fatalf("%s: %s, %s", x.needle, a.Status, a.Coverage)
					}
				}
				rate := func(d time.Duration) float64 { return float64(total) * float64(b.N) / float64(d.Nanoseconds()) }
				b.ReportMetric(rate(search), "GB/s")
				b.ReportMetric(rate(plain), "plain-GB/s")
				b.ReportMetric(rate(search)/rate(plain), "share")
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(search.Seconds()*1e3/float64(b.N), "ms/search")
			})
		}
	}
}

// BenchmarkHostile looks for needles that nearly stand at every place.
func BenchmarkHostile(b *testing.B) {
	c, total := again([]string{strings.Repeat("ab", 1<<20)}, 1<<21)
	half := strings.Repeat("ab", 4000)
	for name, needle := range map[string]string{"short": half[:30] + "aa" + half[:30], "long": half[:4000] + "aa" + half[:4000]} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(total))
			for b.Loop() {
				if a := c.Search(index.Query{Text: needle}); a.Status != index.CompleteMiss {
					b.Fatal(a.Status)
				}
			}
		})
	}
}

// BenchmarkRead reads the last text of three megabytes.
func BenchmarkRead(b *testing.B) {
	c, _ := again(ring(b), 3e6)
	all := c.Texts
	c.Texts = func(from int) iter.Seq2[index.Text, error] {
		return func(yield func(index.Text, error) bool) {
			for t, err := range all(from) {
				if !yield(t, err) {
					return
				}
			}
			yield(index.Text{Ref: "e2", Text: "found"}, nil)
		}
	}
	for b.Loop() {
		if a := c.Read(index.Selection{Ref: "e2"}); a.Status != index.Found {
			b.Fatal(a)
		}
	}
}
