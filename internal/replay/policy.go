package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ambit/internal/selection"
)

// Policy is a way of choosing what each request shows, as data: a zero member is not part of it. Sizes are in tokens.
type Policy struct {
	Name string

	Window     int     // show the first message and the newest that fit in so much
	KeepLast   int     // show the newest so many results, and placeholders for older ones
	Over       int     // with KeepLast: only in requests that are larger
	Protect    int     // leave out results behind the newest ones of so much
	Gain       int     // with Protect: only if that leaves out at least so much
	KeepTurns  int     // with Protect: and none since the newest so many messages of the person
	Trigger    int     // from so much on, begin anew with the first message and the newest
	Target     int     // with Trigger: that together fit in so much
	Slack      float64 // with Trigger: while the cache is warm only if all was spent stays within so much above append-only
	Explain    string  // one line for people
	Source     string  // where its numbers are from
	Budgetable bool    // --budget sets its size
	Own        string  // one of Ambit's own: the policy's name in the proxy
}

// Comparison are the policies that Ambit's own are compared with, in the order in which reports show them.
func Comparison() []Policy {
	return []Policy{
		{Name: "append_only", Explain: "everything, in order; nothing is ever left out", Source: "the floor: what a perfect cache makes of a whole conversation"},
		{Name: "sliding_window", Window: 70_000, Budgetable: true, Explain: "the first message and the newest that fit", Source: "a usual default of agent libraries"},
		{Name: "mask_last_n", KeepLast: 10, Explain: "the newest 10 results, placeholders for older ones", Source: "The Complexity Trap, arXiv 2508.21433: observation masking"},
		{
			Name: "opencode_prune", Protect: 40_000, Gain: 20_000, KeepTurns: 2,
			Explain: "when the person speaks: placeholders for results behind the newest 40,000 tokens of them, if that frees 20,000",
			Source:  "OpenCode's prune: PRUNE_PROTECT and PRUNE_MINIMUM",
		},
		{
			Name: "clear_tool_uses", KeepLast: 3, Over: 100_000,
			Explain: "from 100,000 tokens on the newest 3 results, placeholders for older ones",
			Source:  "Anthropic's context editing, clear_tool_uses_20250919, its defaults",
		},
		{
			Name: "plain_refresh", Trigger: 70_000, Target: 40_000, Slack: 0.05, Budgetable: true,
			Explain: "from 70,000 tokens on anew with the first message and the newest 40,000, when the cache is cold or the bank allows it",
			Source:  "the floor that Ambit's own policies have to beat",
		},
	}
}

// Own are Ambit's own policies.
func Own() []Policy {
	return []Policy{
		{Name: "ambit:cut", Own: selection.Cut, Explain: "giant results cut before they are sent, old ones as placeholders where that pays", Source: "what ambit up --policy cut does"},
		{Name: "ambit:full", Own: selection.Full, Explain: "and a checkpoint in place of what is old", Source: "what ambit up --policy full does"},
	}
}

// policyNames are the names of policies.
func policyNames(list []Policy) string {
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// All are the policies that Ambit's own are compared with, and these behind them.
func All() []Policy { return append(Comparison(), Own()...) }

// Choose finds policies by their names; none chooses all. The error names what is not known, and what is.
func Choose(names []string) ([]Policy, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Policy
	for _, name := range names {
		i := slices.IndexFunc(all, func(p Policy) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no policy is named %q: there are %s", name, policyNames(all))
		}
		if slices.ContainsFunc(chosen, func(p Policy) bool { return p.Name == name }) {
			return nil, fmt.Errorf("policy %q is named twice", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// Budget is a size for the policies that have one: a share of a session's largest request, or tokens. The zero value sets
// none.
type Budget struct {
	Share  float64 // from 0 to 1
	Tokens int
}

// ParseBudget reads a budget such as 40% or 60000.
func ParseBudget(text string) (Budget, error) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		v, err := strconv.ParseFloat(share, 64)
		if err != nil || !(v > 0 && v <= 100) {
			return Budget{}, fmt.Errorf("budget %q: a share is more than 0%% and at most 100%%", text)
		}
		return Budget{Share: v / 100}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minBudget {
		return Budget{}, fmt.Errorf("budget %q: it is a share such as 40%%, or tokens, at least %d", text, minBudget)
	}
	return Budget{Tokens: n}, nil
}

// minBudget is the least that any request needs, in tokens.
const minBudget = 1000

// of is the size that a budget means for a conversation, 0 for none.
func (b Budget) of(peak int) int {
	if b.Share > 0 {
		return max(minBudget, int(b.Share*float64(peak)+0.5))
	}
	return b.Tokens
}

// within is a policy with its size set by a budget of so many tokens.
func (p Policy) within(size int) Policy {
	if size == 0 || !p.Budgetable {
		return p
	}
	if p.Window > 0 {
		p.Window = size
	}
	if p.Trigger > 0 {
		p.Target, p.Trigger = size*p.Target/p.Trigger, size
	}
	return p
}
