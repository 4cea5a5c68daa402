package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	demoLogLines    = 6000 // of logs/gateway.log
	demoSampleLines = 700  // of samples/morning.txt, the log's first requests
)

// demoCaller is a client of the gateway whose log the demo makes up: how it asks, and how its bucket stands. The
// bucket has the bug, so that the log shows it.
type demoCaller struct {
	name, route   string
	rate, burst   int
	step, jitter  int // milliseconds between two requests: step, and up to jitter more
	run, pause    int // after run requests it rests for pause milliseconds
	asked         int
	next          int // when it asks again
	level, last   int
	allowed, deny int
}

// demoCallers are the clients of limits.conf.
func demoCallers() []*demoCaller {
	return []*demoCaller{
		{name: "web", route: "/v1/orders", rate: 20, burst: 40, step: 90, jitter: 150},
		{name: "ios", route: "/v1/profile", rate: 10, burst: 20, step: 150, jitter: 200, next: 20},
		{name: "batch", route: "/v1/export", rate: 4, burst: 20, step: 3, jitter: 4, run: 20, pause: 9900, next: 700},
		{name: "partner", route: "/v1/stock", rate: 2, burst: 4, step: 700, jitter: 120, next: 310},
		{name: "poller", route: "/v1/jobs/next", rate: 5, burst: 10, step: 142, jitter: 16, run: 400, pause: 450},
	}
}

// take is the bug in Go: the time of the last look moves on though nothing whole was earned.
func (c *demoCaller) take(now int) bool {
	if c.asked == 0 {
		c.level, c.last = c.burst, now
	}
	c.asked++
	c.level = min(c.burst, c.level+(now-c.last)*c.rate/1000)
	c.last = now
	if c.level == 0 {
		c.deny++
		return false
	}
	c.level--
	c.allowed++
	return true
}

// demoRandom is a small generator of numbers, the same on every machine.
type demoRandom uint64

// below returns a number from 0 to n-1.
func (r *demoRandom) below(n int) int {
	*r = *r*6364136223846793005 + 1442695040888963407
	return int(uint64(*r) >> 33 % uint64(max(1, n)))
}

// demoTraffic makes up the gateway's log, and the same requests as turnstile reads them.
func demoTraffic() (log, sample string, callers []*demoCaller) {
	callers = demoCallers()
	start := time.Date(2025, 3, 4, 9, 0, 0, 0, time.UTC)
	random := demoRandom(20250304)
	var lines, requests strings.Builder
	for n := 1; n <= demoLogLines; n++ {
		c := callers[0]
		for _, other := range callers {
			if other.next < c.next {
				c = other
			}
		}
		now, verdict := c.next, "deny"
		if c.take(now) {
			verdict = "allow"
		}
		at := start.Add(time.Duration(now) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(&lines, "%s gw-2 req=%06d client=%s route=%s verdict=%s peer=10.4.%d.%d bytes=%d\n",
			at, n, c.name, c.route, verdict, random.below(4), 2+random.below(250), 180+random.below(2400))
		if n <= demoSampleLines {
			fmt.Fprintf(&requests, "%d %s\n", now, c.name)
		}
		c.next += c.step + random.below(c.jitter+1)
		if c.run > 0 && c.asked%c.run == 0 {
			c.next += c.pause
		}
	}
	return lines.String(), requests.String(), callers
}
