package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"ambit/journal"
)

// pair is a bare reverse proxy and a recording one in front of the same upstream.
type pair struct {
	bare, ambit *httptest.Server
	server      *Server
}

func newPair(b testing.TB, policy string, upstream http.HandlerFunc) pair {
	up := httptest.NewServer(upstream)
	target, _ := url.Parse(up.URL)
	bare := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(pr *httputil.ProxyRequest) { pr.SetURL(target) },
		Transport:     newTransport(),
		FlushInterval: -1,
	})
	store, err := journal.Open(filepath.Join(b.TempDir(), "data"), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Options{Store: store, Policy: policy, Upstreams: map[string]string{"anthropic": up.URL}, Secret: []byte("secret")})
	if err != nil {
		b.Fatal(err)
	}
	ambit := httptest.NewServer(s)
	b.Cleanup(func() {
		bare.Close()
		ambit.Close()
		s.Close()
		store.Close()
		up.Close()
	})
	return pair{bare, ambit, s}
}

// growing returns bodies of about a size that repeat most of one another, as a conversation's do.
func growing(size, count int) [][]byte {
	var text bytes.Buffer
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "line %d of a file that the agent has read, %x\n", i, i*i*2654435761)
	}
	bodies := make([][]byte, count)
	for i := range bodies {
		bodies[i] = fmt.Appendf(nil, `{"model":"m","messages":[{"role":"user","content":%q},{"role":"user","content":"turn %d"}]}`, text.Bytes()[:size-count*10+i*10], i)
	}
	return bodies
}

// firstByte sends a body and returns the time to the first byte of the answer.
func firstByte(b testing.TB, c *http.Client, url string, body []byte) time.Duration {
	start := time.Now()
	res, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	io.Copy(io.Discard, res.Body)
	return took
}

// BenchmarkFirstByte sends bodies of 1 MB by turns through a bare reverse proxy and through Ambit, and reports what
// Ambit adds until the first byte of the answer.
func BenchmarkFirstByte(b *testing.B) {
	p := newPair(b, "", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "data: {}\n\n")
	})
	bodies := growing(1<<20, 50)
	var bare, ambit []time.Duration
	for i := 0; b.Loop(); i++ {
		body := bodies[i%len(bodies)]
		bare = append(bare, firstByte(b, p.bare.Client(), p.bare.URL+"/v1/messages", body))
		ambit = append(ambit, firstByte(b, p.ambit.Client(), p.ambit.URL+"/anthropic/v1/messages", body))
	}
	for _, q := range []float64{0.5, 0.99} {
		x, y := quantile(bare, q), quantile(ambit, q)
		b.ReportMetric(float64(x.Microseconds())/1000, fmt.Sprintf("bare-p%.0f-ms", q*100))
		b.ReportMetric(float64((y-x).Microseconds())/1000, fmt.Sprintf("added-p%.0f-ms", q*100))
	}
}

func quantile(d []time.Duration, q float64) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

// BenchmarkEvent streams events one at a time, each answering the client's wish for it, by turns through a bare reverse
// proxy and through Ambit, and reports what Ambit adds to one event.
func BenchmarkEvent(b *testing.B) {
	const events = 200
	next := make(chan struct{})
	p := newPair(b, "", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for range events {
			<-next
			io.WriteString(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words\"}}\n\n")
			w.(http.Flusher).Flush()
		}
	})
	stream := func(c *http.Client, url string) []time.Duration {
		res, err := c.Post(url, "application/json", bytes.NewReader([]byte("{}")))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		r := bufio.NewReader(res.Body)
		var took []time.Duration
		for range events {
			start := time.Now()
			next <- struct{}{}
			for line := []byte("-"); len(line) > 1; {
				if line, err = r.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			took = append(took, time.Since(start))
		}
		return took
	}
	var bare, ambit []time.Duration
	for b.Loop() {
		bare = append(bare, stream(p.bare.Client(), p.bare.URL+"/v1/messages")...)
		ambit = append(ambit, stream(p.ambit.Client(), p.ambit.URL+"/anthropic/v1/messages")...)
	}
	b.ReportMetric(float64(quantile(bare, 0.5).Nanoseconds())/1e6, "bare-p50-ms")
	b.ReportMetric(float64((quantile(ambit, 0.5)-quantile(bare, 0.5)).Nanoseconds())/1e6, "added-p50-ms")
	b.ReportMetric(float64((mean(ambit)-mean(bare)).Nanoseconds())/1e6, "added-mean-ms")
}

func mean(d []time.Duration) (m time.Duration) {
	for _, x := range d {
		m += x
	}
	return m / time.Duration(len(d))
}

// BenchmarkStreams holds 200 streams open at once, through a bare reverse proxy and then through Ambit, and reports the
// times and the errors.
func BenchmarkStreams(b *testing.B) {
	const streams, events = 200, 50
	p := newPair(b, "", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for i := range events {
			fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
		}
	})
	bodies := growing(100_000, streams)
	all := func(s *httptest.Server, url string) (took time.Duration, errors int) {
		c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
		defer c.CloseIdleConnections()
		var mu sync.Mutex
		var wait sync.WaitGroup
		start := time.Now()
		for i := range streams {
			wait.Go(func() {
				res, err := c.Post(s.URL+url, "application/json", bytes.NewReader(bodies[i]))
				var got []byte
				if err == nil {
					got, err = io.ReadAll(res.Body)
					res.Body.Close()
				}
				if err != nil || bytes.Count(got, []byte("data:")) != events {
					mu.Lock()
					errors++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		return time.Since(start), errors
	}
	var bare, ambit time.Duration
	failed := 0
	for b.Loop() {
		took, n := all(p.bare, "/v1/messages")
		bare, failed = bare+took, failed+n
		took, n = all(p.ambit, "/anthropic/v1/messages")
		ambit, failed = ambit+took, failed+n
	}
	b.ReportMetric(float64(ambit)/float64(bare), "x-bare")
	b.ReportMetric(float64(failed), "errors")
}
