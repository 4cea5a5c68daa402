package server

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// long is a conversation of so many messages and about so many bytes, of which each request holds two more than the one
// before.
func long(d *dialect, messages, size, requests int) (bodies [][]byte) {
	talk := []string{d.says("read all of it, and never change what you read")}
	lines := size / (messages / 2) / len("f1000.txt, line 10: what is written here is of some length, as lines are\n")
	for i := 0; len(talk) < messages+2*requests; i++ {
		talk = append(talk, d.reads(fmt.Sprintf("call_number_%d_of_all", i), fmt.Sprintf("f%d.txt", i), manual(fmt.Sprintf("f%d.txt", i), lines))...)
	}
	for i := range requests {
		bodies = append(bodies, d.request(talk[:messages+2*i+1]...))
	}
	return bodies
}

// BenchmarkEdited sends a conversation of 2,000 messages and 1 MB, which grows, by turns through a bare reverse proxy and
// through Ambit under full, and reports what Ambit adds until the first byte of the answer. Most of it is cut from the
// first requests on.
func BenchmarkEdited(b *testing.B) {
	d := dialects[0]
	p := newPair(b, "full", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, d.answer)
	})
	bodies := long(&d, 2000, 1<<20, 200)
	for _, body := range bodies[:3] { // the boundary
		firstByte(b, p.ambit.Client(), p.ambit.URL+d.path, body)
	}
	var bare, ambit []time.Duration
	for i := 0; b.Loop(); i++ {
		body := bodies[3+i%(len(bodies)-3)]
		bare = append(bare, firstByte(b, p.bare.Client(), p.bare.URL+"/v1/messages", body))
		ambit = append(ambit, firstByte(b, p.ambit.Client(), p.ambit.URL+d.path, body))
	}
	for _, q := range []float64{0.5, 0.99} {
		x, y := quantile(bare, q), quantile(ambit, q)
		b.ReportMetric(float64(x.Microseconds())/1000, fmt.Sprintf("bare-p%.0f-ms", q*100))
		b.ReportMetric(float64((y-x).Microseconds())/1000, fmt.Sprintf("added-p%.0f-ms", q*100))
	}
	b.ReportMetric(float64(len(bodies[0]))/1e6, "MB")
}

// A thread that is idle takes under 1 MB of memory, and the first request after it was let go is answered soon: within 40 ms
// on a machine that does nothing else, of which this allows ten times as much.
func TestIdleThread(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	d := dialects[0]
	p := newPair(t, "full", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, d.answer)
	})
	r := p.server.recorder
	letGo := func() {
		if err := r.act(func() error { r.rest(); return r.release(time.Now().Add(time.Hour), 0) }); err != nil {
			t.Fatal(err)
		}
	}
	// talk tells a conversation in a session of its own, and returns how long each request took.
	talk := func(tag string, idle func()) (took []time.Duration) {
		url := p.ambit.URL + strings.Replace(d.path, "/s/x/", "/s/"+tag+"/", 1)
		for _, body := range long(&d, 2000, 1<<20, 8) {
			took = append(took, firstByte(t, p.ambit.Client(), url, body))
			idle()
		}
		letGo()
		return took
	}
	talk("first", func() {})
	before := heap()
	took := talk("second", letGo)[1:]
	slices.Sort(took)
	t.Logf("first requests after idling took %v", took)
	if most := took[len(took)/2]; most > bound(400*time.Millisecond) {
		t.Errorf("the median is %v", most)
	}
	if left := heap() - before; left > 1<<20 {
		t.Errorf("an idle thread takes %d bytes", left)
	} else {
		t.Logf("an idle thread takes %d bytes", left)
	}
}

// heap is what is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
