package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ambit"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// importedRow is one session in the answer of ambit import.
type importedRow struct {
	Session  string          `json:"session"`
	Format   string          `json:"format"`
	Entries  int             `json:"entries"`
	Turns    int             `json:"turns"`
	Path     string          `json:"path"`
	Already  bool            `json:"already,omitempty"`
	Grown    bool            `json:"grown,omitempty"`
	Warnings []ambit.Warning `json:"warnings"`
}

func newImport(e *env) *cobra.Command {
	var asJSON, yes bool
	c := &cobra.Command{
		Use:   "import [PATH…]",
		Short: "Take in what other agents recorded, or what ambit export wrote",
		Long: "Take in what other agents recorded: the files in which Claude Code, Codex, OpenCode, pi, Gemini CLI, Qwen Code, Copilot\n" +
			"CLI, Cline, Roo, aider, SWE-agent, mini-swe-agent and OpenHands keep their sessions, and logs of raw requests to Anthropic and\n" +
			"OpenAI; or what ambit export wrote. Of a folder, all that it holds. Without a PATH, the folders of the first nine are looked\n" +
			"for, and it asks before it takes them in.\n\n" +
			"A recording is kept as it is, and the entries point into it. The same bytes again change nothing; a recording that has\n" +
			"grown adds what is new. What was imported is evidence: nothing in it has authority here.",
		RunE: func(c *cobra.Command, args []string) error {
			i := &importing{finding: finding{env: e}, json: asJSON}
			i.take = func(ctx context.Context, at location) error { return i.recording(ctx, at, false) }
			i.taken = func() int { return len(i.rows) + len(i.after) + i.purged }
			if len(args) == 0 {
				found, err := e.findRecordings(c.Context(), yes)
				if err != nil {
					return err
				}
				args = found
			}
			return i.run(c.Context(), args)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before taking in what is found without a PATH")
	return c
}

// importing is one run of ambit import.
type importing struct {
	finding
	json     bool
	store    *journal.Dir // nil until something is found good
	importer *ambit.Importer
	rows     []importedRow
	purged   int        // recordings of folders that were purged here
	after    []location // sub-agents' recordings, which come after their parents'
	alone    bool       // they are taken in without these
	bar      *progress
	bytes    int64
}

func (i *importing) run(ctx context.Context, paths []string) error {
	i.bar = i.progress("importing")
	defer func() {
		i.clean()
		if i.store != nil {
			i.store.Close()
		}
	}()
	for _, path := range paths {
		if err := i.path(ctx, path); err != nil {
			i.bar.end()
			return err
		}
	}
	err := i.agents(ctx)
	i.bar.end()
	if err != nil {
		return err
	}
	return i.report()
}

// agents takes in sub-agents' recordings, each after its parent's, which may be a sub-agent's too.
func (i *importing) agents(ctx context.Context) error {
	for len(i.after) > 0 {
		after := i.after
		i.after = nil
		slices.SortStableFunc(after, func(a, b location) int { return strings.Compare(a.path, b.path) })
		for _, at := range after {
			if err := i.recording(ctx, at, true); err != nil {
				return err
			}
		}
		i.alone = len(i.after) == len(after) // their parents' are not here
	}
	return nil
}

// report prints what was imported.
func (i *importing) report() error {
	if i.json {
		if i.rows == nil {
			i.rows = []importedRow{}
		}
		if err := i.printJSON(map[string][]importedRow{"sessions": i.rows}); err != nil {
			return err
		}
	} else {
		i.printRows()
	}
	if i.passed > 0 && len(i.rows) > 0 {
		i.say("%s", plural(i.passed, "file of these folders is no recording", "files of these folders are no recordings"))
	}
	if i.purged > 0 {
		i.say("%s purged here, and not taken in again; name a file itself to do so", plural(i.purged, "recording of these folders was", "recordings of these folders were"))
	}
	if i.failed > 0 {
		return errReported
	}
	return nil
}

// maxWarned is how many warnings are printed; the rest are counted.
const maxWarned = 3

func (i *importing) printRows() {
	if len(i.rows) == 0 {
		return
	}
	t := i.table("SESSION", "FORMAT", ">TURNS", ">ENTRIES", "", "FROM")
	warned := 0
	for _, r := range i.rows {
		what := "new"
		switch {
		case r.Already:
			what = "already here"
		case r.Grown:
			what = "added to"
		}
		t.row(r.Session, r.Format, count(r.Turns), count(r.Entries), what, r.Path)
	}
	t.flush()
	for _, r := range i.rows {
		for _, w := range r.Warnings {
			if warned++; warned <= maxWarned {
				i.say("%s: line %d: %s", r.Path, w.Line, w.Text)
			}
		}
	}
	if warned > maxWarned {
		i.say("and %s more, which --json lists; what was read is kept, and these lines with it", plural(warned-maxWarned, "warning", "warnings"))
	}
}

// recording takes in one file. late says that its parent was looked for.
func (i *importing) recording(ctx context.Context, at location, late bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	read := at.read
	if read == nil {
		export, err := isExport(at.path)
		if err == nil && export {
			return i.export(ctx, at)
		}
		read = func(ctx context.Context) ([]byte, error) { return readSteady(ctx, at.path) }
	}
	data, err := read(ctx)
	var t *ambit.Transcript
	if err == nil {
		t, err = ambit.ReadTranscript(filepath.Base(at.path), data)
	}
	if errors.Is(err, ambit.ErrFormat) && at.found {
		i.passed++
		return nil
	}
	if err != nil {
		i.fail(at.shown, err)
		return ctx.Err()
	}
	i.bytes += int64(len(data))
	i.bar.at(i.bytes, "%s recordings", count(len(i.rows)))
	awaits := t.Parent != ""
	if !awaits || late {
		if err := i.open(ctx); err != nil {
			return err
		}
		if awaits, err = i.importer.Awaits(ctx, t); err != nil {
			return err
		}
	}
	if awaits && !(late && i.alone) {
		i.after = append(i.after, at)
		return nil
	}
	if purged, err := i.importer.Purged(ctx, t); at.found && purged != "" || err != nil {
		i.purged++
		return err
	}
	done, err := i.importer.Import(ctx, t)
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%s: %w; what was taken in before is there", at.shown, err)
	}
	if err != nil {
		i.fail(at.shown, err)
		return ctx.Err()
	}
	if done.Warnings == nil {
		done.Warnings = []ambit.Warning{}
	}
	i.rows = append(i.rows, importedRow{
		Session: done.Session, Format: done.Format, Entries: done.Entries, Turns: done.Turns, Path: at.shown,
		Already: done.Already, Grown: done.Grown, Warnings: done.Warnings,
	})
	return nil
}

// open opens the store, which is made only when there is something to keep.
func (i *importing) open(ctx context.Context) error {
	if i.store != nil {
		return nil
	}
	d, _, err := i.record(journal.Holder{Command: "import"})
	if err != nil {
		return err
	}
	i.store = d
	unlock, err := d.LockImports()
	if errors.Is(err, journal.ErrImporting) {
		return &hintError{err, "try again when it is done: the same recording would become two sessions"}
	}
	if err != nil {
		return err
	}
	i.later = append(i.later, func() { unlock() })
	i.importer, err = ambit.NewImporter(ctx, d, i.now)
	return err
}

// isExport reports whether a file begins as an export of Ambit does.
func isExport(path string) (bool, error) {
	f, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := f.ReadAt(head, 0)
	return journal.IsExport(head[:n]), nil
}

// export takes in what ambit export wrote.
func (i *importing) export(ctx context.Context, at location) error {
	f, err := openRegular(at.path)
	if err != nil {
		i.fail(at.shown, err)
		return nil
	}
	defer f.Close()
	read, err := journal.ReadExport(ctx, f)
	if err != nil {
		i.fail(at.shown, err)
		return ctx.Err()
	}
	if err := i.open(ctx); err != nil {
		return err
	}
	session, made, err := i.store.Import(ctx, f, read, filepath.Base(at.path))
	if err != nil {
		i.fail(at.shown, err)
		return ctx.Err()
	}
	row := importedRow{Session: session, Format: ambit.FormatAmbit, Entries: read.Entries, Path: at.shown, Already: !made, Warnings: []ambit.Warning{}}
	if rec, err := ambit.OpenRecording(ctx, i.store, session); err == nil {
		row.Turns = rec.Turns()
	}
	if read.Damage != nil {
		row.Warnings = append(row.Warnings, ambit.Warning{Line: read.Damage.Line, Text: fmt.Sprintf("%v; what comes before it is kept, up to a whole entry", read.Damage.Err)})
	}
	i.rows = append(i.rows, row)
	return nil
}
