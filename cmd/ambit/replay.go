package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ambit/internal/pricing"
	"ambit/internal/replay"

	"github.com/spf13/cobra"
)

// replaying is one run of ambit replay.
type replaying struct {
	*env
	policies []string
	budget   string
	prices   string
	json     bool
	html     string
	dump     string

	options replay.Options
	reports []*replay.Report
	dumped  map[string]bool
}

func newReplay(e *env) *cobra.Command {
	r := &replaying{env: e, dumped: make(map[string]bool)}
	var names []string
	for _, p := range replay.All() {
		names = append(names, fmt.Sprintf("  %-16s%s", p.Name, p.Explain))
	}
	c := &cobra.Command{
		Use:   "replay PATH…|SESSION…",
		Short: "Say what recorded sessions cost, why, and what another policy would have cost",
		Long: "Say what recorded sessions cost, why, and what they would have cost if something else had been sent: the same turns at the\n" +
			"same times, in front of a simulated cache of their provider. A PATH is a recording of another agent, or a folder of them.\n" +
			"No model is asked, and nothing is sent. What a policy leaves out is charged where the recorded agent needed it.\n\n" +
			"Policies:\n" + strings.Join(names, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misused("replay: name a recording, a folder of them, or a SESSION")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return r.run(c.Context(), args) },
	}
	c.Flags().StringSliceVar(&r.policies, "policies", nil, "the policies that are compared, with commas between; all without it")
	c.Flags().StringVar(&r.budget, "budget", "", "size of the policies that have one: a share of a session's largest request, as 40%, or tokens")
	c.Flags().StringVar(&r.prices, "prices", "", "take the prices and cache rules of this model for all requests, such as claude-opus-5-5, gpt-5.6-sol, gemini-2.5-pro or deepseek-chat")
	c.Flags().BoolVar(&r.json, "json", false, "print one JSON object")
	c.Flags().StringVar(&r.html, "html", "", "also write the report as one HTML file")
	c.Flags().StringVar(&r.dump, "dump", "", "also write every request of every policy into a folder, for who counts again")
	return c
}

func (r *replaying) run(ctx context.Context, args []string) error {
	if err := r.settle(); err != nil {
		return err
	}
	var page *os.File
	if r.html != "" {
		f, err := r.openHTML()
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		page = f
		defer page.Close()
	}
	if err := r.newDump(); err != nil {
		return err
	}
	all := r.recordings("replaying", r.file)
	if err := all.run(ctx, args); err != nil {
		return err
	}
	if len(r.reports) == 0 && all.failed > 0 {
		return errReported
	}
	if r.json {
		err := r.printJSON(map[string]any{"files": r.reports, "totals": replay.Totals(r.reports)})
		if err != nil {
			return err
		}
	} else {
		r.print()
	}
	if page != nil {
		if err := r.writeHTML(page, args); err != nil {
			return err
		}
	}
	if all.passed > 0 {
		r.say("%s", plural(all.passed, "file of these folders is no recording", "files of these folders are no recordings"))
	}
	if all.failed > 0 {
		return errReported
	}
	return nil
}

// settle makes the options of the flags, and refuses what cannot be.
func (r *replaying) settle() (err error) {
	for i, name := range r.policies {
		r.policies[i] = strings.TrimSpace(name)
	}
	if r.options.Policies, err = replay.Choose(r.policies); err != nil {
		return misused("%v", err)
	}
	if r.budget != "" {
		if r.options.Budget, err = replay.ParseBudget(r.budget); err != nil {
			return misused("%v", err)
		}
	}
	if r.prices != "" {
		if _, ok := pricing.Lookup(r.prices, r.now()); !ok {
			return misused("no prices of %q are known: there are those of %s", r.prices, nearNames(r.prices))
		}
		r.options.Prices = r.prices
	}
	return nil
}

// nearNames are some names of models that begin as one does, or else a few well known ones.
func nearNames(name string) string {
	var near []string
	for _, n := range pricing.Names() {
		if len(name) >= 3 && strings.HasPrefix(n, name[:3]) && len(near) < 8 {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		near = []string{"claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro", "deepseek-chat"}
	}
	return strings.Join(near, ", ") + " and others"
}

// file replays one recording.
func (r *replaying) file(ctx context.Context, f replay.File) error {
	r.options.Keep = r.dump != ""
	report := replay.Run(f, r.options)
	if r.dump != "" {
		if err := r.write(ctx, report); err != nil {
			return fmt.Errorf("dump %s: %w", f.Path, err)
		}
	}
	report.Shrink(r.html != "")
	r.reports = append(r.reports, report)
	return ctx.Err()
}

// newDump refuses a folder for a dump that holds something: who counts again would count it, too.
func (r *replaying) newDump() error {
	if r.dump == "" {
		return nil
	}
	list, err := os.ReadDir(r.dump)
	if err == nil && len(list) > 0 {
		return fmt.Errorf("the folder %s for the dump is not empty", r.dump)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}

// write writes the requests of a report into a folder of its own.
func (r *replaying) write(ctx context.Context, report *replay.Report) error {
	base := filepath.Base(report.Path)
	name := base
	for n := 2; r.dumped[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	r.dumped[name] = true
	return report.Dump(func(d replay.Dumped) error {
		path := filepath.Join(r.dump, name, filepath.FromSlash(d.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return errors.Join(os.WriteFile(path, d.Data, 0o600), ctx.Err())
	})
}

// openHTML makes the file for the page, before any work is done. An existing file is written over only if it is a page, too:
// the path of a recording is easily given in its place.
func (r *replaying) openHTML() (*os.File, error) {
	if about, err := os.Stat(r.html); err == nil {
		switch {
		case !about.Mode().IsRegular():
			return nil, fmt.Errorf("%s is no file that a page can be written to", r.html)
		case about.Size() > 0 && !isPage(r.html):
			return nil, fmt.Errorf("%s is there and is no page: it is not written over", r.html)
		}
	}
	return os.OpenFile(r.html, os.O_WRONLY|os.O_CREATE, 0o600)
}

// isPage reports whether a file begins as pages do.
func isPage(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(head[:n]))), "<!doctype html")
}

// writeHTML writes the report as a page.
func (r *replaying) writeHTML(f *os.File, args []string) error {
	command := "ambit replay " + strings.Join(args, " ")
	if len(r.policies) > 0 {
		command += " --policies " + strings.Join(r.policies, ",")
	}
	for _, flag := range [][2]string{{"budget", r.budget}, {"prices", r.prices}} {
		if flag[1] != "" {
			command += " --" + flag[0] + " " + flag[1]
		}
	}
	var page bytes.Buffer
	if err := replay.WriteHTML(&page, r.reports, replay.HTMLOptions{Command: command, Now: r.now()}); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err := f.Write(page.Bytes())
	if err = cmp.Or(err, f.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
