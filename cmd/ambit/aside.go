package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"ambit"

	"github.com/spf13/cobra"
)

// asideAnswer is the answer of ambit aside --json.
type asideAnswer struct {
	Session string `json:"session"`
	ambit.Answered
}

func newAside(e *env) *cobra.Command {
	f := runFlags{given: make(map[string]bool), protocol: "anthropic", dir: ".", turns: 1}
	var id string
	c := &cobra.Command{
		Use:   `aside SESSION "QUESTION"`,
		Short: "Ask the agent of a session something, beside its work",
		Long: "Ask the agent of a session of ambit run something beside its work. The model answers with all that it sees there; neither the\n" +
			"question nor the answer becomes a part of the conversation, no tool runs, and nothing of it counts for the agent's limits.\n" +
			"It is recorded: ambit usage counts it, and the same question under the same --id has the same answer, without the model being\n" +
			"asked again.",
		Example: "  ambit aside last \"Which files have you changed so far?\"",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misused("aside takes a session and a question: put the question in quotes")
			}
			if strings.TrimSpace(args[1]) == "" || !utf8.ValidString(args[1]) {
				return misused("the question is empty, or no UTF-8")
			}
			if f.output < 0 || f.limit < 0 || f.usd < 0 {
				return misused("--output, --time and --usd are no less than 0, which is for any")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.resume = args[0]
			return e.aside(c.Context(), &f, ambit.Aside{ID: id, Text: args[1], Limits: ambit.Bounds{Output: f.output, Time: f.limit, USD: f.usd}})
		},
	}
	c.Flags().StringVar(&id, "id", "", "your own name for the question, under which it is answered once")
	c.Flags().StringVar(&f.baseURL, "base-url", "", "where the model is asked; without it as the session has it")
	c.Flags().StringArrayVar(&f.allow, "allow", nil, "a rule that the session was run with; one that takes a tool away, as \"deny skill:*\" does, takes it away here, too")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	c.Flags().IntVar(&f.output, "output", 0, "the most tokens of the answer; 0 for any")
	c.Flags().DurationVar(&f.limit, "time", 0, "the longest time, such as 30s; 0 for any")
	c.Flags().Float64Var(&f.usd, "usd", 0, "the most that the question may cost, in dollars, by estimate; 0 for any")
	return c
}

// aside asks a question and prints the answer.
func (e *env) aside(ctx context.Context, f *runFlags, q ambit.Aside) (err error) {
	d, home, err := e.runStore(f)
	if err != nil {
		return err
	}
	defer d.Close()
	s, err := e.runSession(ctx, d, f, "", home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	a, err := s.Aside(ctx, q)
	if err != nil {
		return err
	}
	if f.asJSON {
		return e.printJSON(asideAnswer{s.ID(), a})
	}
	fmt.Fprintln(e.out, strings.TrimSuffix(printableLines(a.Text), "\n"))
	how := fmt.Sprintf("%s tokens of output, $%.4f", count(a.Output), a.USD)
	if a.Again {
		how = "answered before, as #" + fmt.Sprint(a.N)
	}
	e.say("%s; %s log %s shows it", how, e.self(), s.ID())
	return nil
}
