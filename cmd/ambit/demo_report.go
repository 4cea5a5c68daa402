package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"unicode/utf8"

	"ambit"
	"ambit/internal/index"
	"ambit/internal/pool"
	"ambit/journal"
	"ambit/provider"
)

// What the demo searches for: a line of the first run of the tests, which the compaction drops, and what nobody says.
const (
	demoDropped = "wanted 99 through, got 20"
	demoAbsent  = "race condition"
)

// demoReport prints the page by which the demo is remembered. All but the counts of what the agent did is read from what
// was recorded.
func (e *env) demoReport(ctx context.Context, d *journal.Dir, name string, result demoResult) error {
	fmt.Fprintf(e.out, "$ %s log last --tree\n", e.self())
	if err := e.printTree(ctx, d, name, ""); err != nil {
		return err
	}
	ref, err := e.demoSearch(ctx, d, name)
	if err != nil {
		return err
	}
	p, err := pool.Load(ctx, d, name)
	if err != nil {
		return err
	}
	e.demoTotals(p, result)
	if err := e.demoProof(ctx, name); err != nil {
		return err
	}
	e.demoNext(name, ref, d.Folder(name))
	return nil
}

// demoSearch finds what the newest request does not hold any more, and proves that something is nowhere. It returns the
// ref of what it found.
func (e *env) demoSearch(ctx context.Context, d *journal.Dir, name string) (ref string, err error) {
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil {
		return "", err
	}
	last, err := rec.Asked(ctx, rec.Last())
	if err != nil {
		return "", err
	}
	for _, el := range last.Elements.Messages {
		for _, text := range last.Message(el).Texts {
			if strings.Contains(text.Text, demoDropped) {
				return "", fmt.Errorf("request %d still holds %q", rec.Last(), demoDropped)
			}
		}
	}
	fmt.Fprintf(e.out, "\nThe agent's last request, #%d, no longer holds %q. Ambit does:\n\n", rec.Last(), demoDropped)
	found, err := e.demoAsk(ctx, rec, demoDropped)
	if err != nil || found.Status != index.Found {
		return "", errors.Join(fmt.Errorf("the search for %q says %s", demoDropped, found.Status), err)
	}
	fmt.Fprintf(e.out, "\nA text that is nowhere is proven absent:\n\n")
	if absent, err := e.demoAsk(ctx, rec, demoAbsent); err != nil || absent.Status != index.CompleteMiss {
		return "", errors.Join(fmt.Errorf("the search for %q says %s", demoAbsent, absent.Status), err)
	}
	return found.Results[0].Ref, nil
}

// demoAsk searches for a text, and prints how that is typed and what is printed then.
func (e *env) demoAsk(ctx context.Context, rec *ambit.Recording, text string) (ambit.Recalled, error) {
	key, err := e.cursorKey()
	if err != nil {
		return ambit.Recalled{}, err
	}
	answer := rec.Search(ctx, key, ambit.Query{Text: text})
	var printed bytes.Buffer
	shown := *e
	shown.out, shown.err = &printed, &printed
	shown.printAnswer(question{text: text, flags: &recallFlags{branches: "current"}}, answer)
	fmt.Fprintf(e.out, "$ %s search last %s\n", e.self(), shellQuote(text))
	_, err = printed.WriteTo(e.out)
	return answer, err
}

// demoTotals says what passed, and what the provider counted.
func (e *env) demoTotals(p *pool.Pool, result demoResult) {
	var sent, received, in, read, out int64
	for i := range p.Exchanges {
		r := rowOf(&p.Exchanges[i])
		sent += r.BodyBytes
		received += r.ResponseBytes
		if r.Usage != nil && r.Kind == provider.TypeMessages {
			in, read, out = in+r.Usage.Input, read+r.Usage.CacheRead, out+r.Usage.Output
		}
	}
	fmt.Fprintf(e.out, "\nPassed:  %s of an agent that ran %s, %s bytes up and %s down\n",
		plural(len(p.Exchanges), "request", "requests"), plural(result.ToolCalls, "tool", "tools"), count(sent), count(received))
	fmt.Fprintf(e.out, "Tokens:  %s in, %s of them from the cache, %s out, as a scripted provider counts\n", count(in), count(read), count(out))
}

// demoProof has a fresh process rebuild every body.
func (e *env) demoProof(ctx context.Context, name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, "check", name, "--json")
	c.Env = os.Environ()
	if dir, err := e.home(); err == nil {
		c.Env = append(c.Env, "AMBIT_HOME="+dir)
	}
	c.Stderr = e.err
	data, err := c.Output()
	var report checkReport
	if jsonErr := json.Unmarshal(data, &report); jsonErr != nil {
		return errors.Join(errors.New("the proof in a fresh process gave no report"), err, jsonErr)
	}
	if err != nil || report.Bodies == 0 || report.Rebuilt != report.Bodies {
		return fmt.Errorf("the proof failed: %d of %d bodies rebuild", report.Rebuilt, report.Bodies)
	}
	fmt.Fprintf(e.out, "Proof:   a fresh process rebuilt %s of %s bodies, each to the SHA-256 taken when it passed\n",
		count(report.Rebuilt), count(report.Bodies))
	return nil
}

// demoNext says what may be typed next, as it has to be typed here.
func (e *env) demoNext(name, ref, folder string) {
	self := e.self() + " "
	var home [][2]string
	if dir, err := e.home(); err == nil && e.getenv("AMBIT_HOME") != "" {
		home = append(home, [2]string{"export AMBIT_HOME=" + shellQuote(dir), ""})
	}
	e.demoRows("Next:", append(home, [][2]string{
		{self + "log last", "what was said, request by request"},
		{self + "search last TEXT", "where a text first passed"},
		{self + "read last " + ref, "the whole text in which the search found it"},
		{self + "import", "takes in your own sessions of Claude Code, Codex and others"},
		{self + "up", "records what your agents send from now on"},
		{self + "setup claude", "says how Claude Code is pointed there; setup lists others"},
	}...))
	e.demoRows("To remove this session:", [][2]string{
		{self + "purge " + name, "overwrites what was said in it"},
		{"rm -r " + shellQuote(folder), "leaves nothing of it"},
	})
}

// demoRows prints commands, and what each does.
func (e *env) demoRows(head string, rows [][2]string) {
	wide := 0
	for _, row := range rows {
		if row[1] != "" {
			wide = max(wide, utf8.RuneCountInString(row[0]))
		}
	}
	wide = min(wide, 60) // a long path stands for itself
	fmt.Fprintf(e.out, "\n%s\n", head)
	for _, row := range rows {
		fmt.Fprintln(e.out, strings.TrimRight(fmt.Sprintf("    %-*s  %s", wide, row[0], row[1]), " "))
	}
}
