package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/index"
	"ambit/journal"

	"github.com/spf13/cobra"
)

// recallFlags are what search and read have in common.
type recallFlags struct {
	branches string
	limits   ambit.Limits
	cursor   string
	asJSON   bool
}

func (r *recallFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&r.branches, "branches", "current", "current, or all: also what was left behind by going back in the conversation")
	c.Flags().IntVar(&r.limits.OutputBytes, "max-bytes", 0, "at most so many bytes of JSON; can only lower the limit, 65536")
	c.Flags().IntVar(&r.limits.Results, "max-results", 0, "at most so many results; can only lower the limit, 16")
	c.Flags().StringVar(&r.cursor, "cursor", "", "go on where an answer ended that gave this cursor")
	c.Flags().BoolVar(&r.asJSON, "json", false, "print one JSON object, whatever the answer is")
}

func (r *recallFlags) parse() (ambit.Branches, error) {
	switch r.branches {
	case "current":
		return ambit.CurrentBranch, nil
	case "all":
		return ambit.AllBranches, nil
	}
	return 0, misused("--branches is current or all, not %q", r.branches)
}

func newSearch(e *env) *cobra.Command {
	var flags recallFlags
	var all bool
	c := &cobra.Command{
		Use:   "search SESSION TEXT",
		Short: "Find where a text first passed, literally and with its case",
		Long: "Find where a text first passed: in what the user and the assistant said, in what tools gave back, and in the string\n" +
			"arguments of calls; no system prompt, no reasoning, and only with --branches all what was left behind. The text is\n" +
			"looked for literally, with its case. That it is not there is proven only when the answer says so (complete-miss). In\n" +
			"place of a SESSION may stand all: then every session is searched, the newest first. A TEXT that begins with a hyphen\n" +
			"goes behind --.\n\n" + sessionHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misused("search: takes a SESSION and one TEXT, not %s; quote a TEXT that has spaces", plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			branches, err := flags.parse()
			if err != nil {
				return err
			}
			if all && flags.asJSON {
				return misused("--all prints results for people; with --json go on with --cursor")
			}
			q := ambit.Query{Text: args[1], Branches: branches, Limits: flags.limits, Cursor: flags.cursor}
			if args[0] == everySession {
				return e.searchAll(c.Context(), q, all, flags.asJSON)
			}
			return e.recall(c.Context(), question{session: args[0], text: args[1], flags: &flags, ask: func(rec *ambit.Recording, key []byte) ambit.Recalled {
				a := rec.Search(c.Context(), key, q)
				for all && a.Cursor != "" {
					e.printFound(a)
					q.Cursor = a.Cursor
					a = rec.Search(c.Context(), key, q)
				}
				return a
			}})
		},
	}
	flags.add(c)
	c.Flags().Int64Var(&flags.limits.ScanBytes, "max-scan", 0, "pass over at most so many bytes of text; can only lower the limit, 17179869184")
	c.Flags().BoolVar(&all, "all", false, "go on to the end, not only for one answer")
	return c
}

func newRead(e *env) *cobra.Command {
	var flags recallFlags
	var q ambit.Reading
	var lines, to string
	c := &cobra.Command{
		Use:   "read [SESSION] REF",
		Short: "Print the text of an entry, exactly",
		Long: "Print the text of an entry, exactly: of a message or an answer, of a pin or a finding, or of all that first passed in a\n" +
			"request or a response. A REF is what search and log show, such as e12. As a model is shown it, e12.k7q3abcd, it names its\n" +
			"session by itself. With --to it writes all of it into a new file, however long it is, for agents that only read files.\n\n" + sessionHelp,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && suffixed(args[0]):
			case len(args) == 1:
				return misused("read: takes a SESSION and one REF, not 1 argument; a REF alone needs the suffix that a model is shown, such as e12.k7q3abcd")
			case len(args) != 2:
				return misused("read: takes a SESSION and one REF, not %s", plural(len(args), "argument", "arguments"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if q.Branches, err = flags.parse(); err != nil {
				return err
			}
			if q.StartLine, q.EndLine, err = parseLines(lines); err != nil {
				return err
			}
			q.Ref, q.Limits, q.Cursor = args[len(args)-1], flags.limits, flags.cursor
			session := args[0]
			if len(args) == 1 {
				if session, err = e.sessionOf(c.Context(), q.Ref); err != nil {
					return err
				}
			}
			if c.Flags().Changed("to") {
				if flags.asJSON || lines != "" || q.Cursor != "" || q.Limits != (ambit.Limits{}) {
					return misused("--to writes the whole text: it goes with --field, --revision and --branches alone")
				}
				return e.readTo(c.Context(), session, q, to)
			}
			return e.recall(c.Context(), question{session: session, reading: &q, flags: &flags, ask: func(rec *ambit.Recording, key []byte) ambit.Recalled {
				return rec.Read(c.Context(), key, q)
			}})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&q.Field, "field", "", "only this field, a JSON pointer as search shows it")
	c.Flags().StringVar(&lines, "lines", "", "only these lines, A:B, counted from 1")
	c.Flags().StringVar(&q.Revision, "revision", "", "only if the entry has this revision")
	c.Flags().StringVar(&to, "to", "", "write the whole text into this file, which must not exist yet")
	return c
}

// parseLines reads A:B, or A alone. What is no number is called wrongly; an impossible range is for the reader to refuse.
func parseLines(s string) (start, end int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	from, to, ok := strings.Cut(s, ":")
	if !ok {
		to = from
	}
	start, err1 := strconv.Atoi(from)
	end, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil {
		return 0, 0, misused("--lines is A:B, such as 10:20, not %q", s)
	}
	if start == 0 && end == 0 {
		start = -1 // not all lines, but none that exists
	}
	return start, end, nil
}

// question is what is asked about one session.
type question struct {
	session string
	text    string         // of a search
	reading *ambit.Reading // nil for a search
	flags   *recallFlags
	ask     func(*ambit.Recording, []byte) ambit.Recalled
	purged  bool       // some of what was looked for was
	other   entry.Fact // what a ref names that has no text to be read; nil where that is nothing, or not known
}

// recall answers a question about one session and prints what comes of it. What a damaged session answers from before
// the damage is an answer like another: it says itself that it is not all.
func (e *env) recall(ctx context.Context, q question) error {
	answer, err := e.ask(ctx, &q)
	var usage *usageError
	if answer.Status == "" && errors.As(err, &usage) {
		return err
	}
	if answer.Status == "" {
		answer = index.Refusal(index.Unavailable, index.SourceUnavailable)
	}
	if q.flags.asJSON {
		if jsonErr := e.printJSON(answer); jsonErr != nil {
			return jsonErr
		}
	} else {
		e.printAnswer(q, answer)
	}
	switch answer.Status {
	case index.Found, index.CompleteMiss, index.Partial:
		if err != nil {
			e.say("%v", err)
			e.hint("%s check says what is damaged; nothing was changed", e.self())
		}
		return nil
	}
	switch {
	case err != nil:
		return err
	case q.flags.asJSON:
		return errReported
	}
	why, hint := e.refusal(q, answer)
	return &hintError{errors.New(why), hint}
}

// ask opens a session and asks. Where it is damaged, what lies before is asked, and the answer comes with the error.
func (e *env) ask(ctx context.Context, q *question) (a ambit.Recalled, err error) {
	d, name, err := e.one(ctx, q.session)
	if err != nil {
		return a, err
	}
	defer d.Close()
	key, err := e.cursorKey()
	if err != nil {
		return a, err
	}
	rec, err := ambit.OpenRecording(ctx, d, name)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return a, err
	}
	damage := err
	a = q.ask(rec, key)
	q.purged = rec.Purged()
	if q.reading != nil && a.Reason == index.NotInCapture {
		q.other = factAt(ctx, d, name, q.reading.Ref)
	}
	if ctx.Err() != nil {
		return ambit.Recalled{}, ctx.Err()
	}
	if damage != nil {
		return a, e.damaged(damage)
	}
	return a, nil
}

// cursorKey is the key by which cursors and refs are known again: the data directory's secret, or where that was never
// made, or cannot be read, a key that anybody could have made.
func (e *env) cursorKey() ([]byte, error) {
	dir, err := e.home()
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(dir, "secret"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == nil && len(key) == 0 {
		return []byte("ambit without a secret"), nil
	}
	return key, err
}
