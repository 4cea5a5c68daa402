package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows on standard error how work goes that takes over a second: as a bar on a terminal, as a line every ten
// seconds elsewhere.
type progress struct {
	e     *env
	what  string
	start time.Time
	said  time.Time
	bar   *progressbar.ProgressBar
}

const (
	quiet = time.Second
	calm  = 10 * time.Second
)

func (e *env) progress(what string) *progress {
	return &progress{e: e, what: what, start: e.now(), said: e.now()}
}

// at says what is done, and how many bytes, if they count.
func (p *progress) at(bytes int64, format string, args ...any) {
	now := p.e.now()
	if now.Sub(p.start) < quiet {
		return
	}
	if f, ok := p.e.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if p.bar == nil {
			p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(f), progressbar.OptionShowBytes(true),
				progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
		}
		p.bar.Describe(p.what + " " + fmt.Sprintf(format, args...))
		p.bar.Set64(bytes)
		return
	}
	if now.Sub(p.said) >= calm {
		p.said = now
		done := fmt.Sprintf(format, args...)
		if bytes > 0 {
			done += fmt.Sprintf(", %.0f MiB/s", float64(bytes)/(1<<20)/now.Sub(p.start).Seconds())
		}
		p.e.say("%s: %s", p.what, done)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
