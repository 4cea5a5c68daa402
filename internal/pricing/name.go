package pricing

import (
	"regexp"
	"strings"
)

// named is a model's name as the table and the catalogue have it, without what providers and clients put around it.
type named struct {
	name string
	long bool // asks for the long window
}

var (
	variant  = regexp.MustCompile(`:(thinking|extended|nitro|floor|online|beta|exacto|\d+)$`)
	dated    = regexp.MustCompile(`-20\d\d(-?)\d\d(-?)\d\d$`)
	region   = regexp.MustCompile(`^(?:[a-z]{2,6}\.)?anthropic\.`)
	revision = regexp.MustCompile(`-v\d+$`)
	thinking = regexp.MustCompile(`-think(ing)?$`)
	dotted   = regexp.MustCompile(`(\d)\.(\d)`)
	figures  = regexp.MustCompile(`^claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)$`)
	kinds    = regexp.MustCompile(`^claude-(opus|sonnet|haiku)-3(?:-(\d))?$`)
	effort   = regexp.MustCompile(`-(minimal|low|medium|high|xhigh)$`)
	preview  = regexp.MustCompile(`(-preview(-\d\d-\d\d(\d\d)?)?|-00\d)$`)
)

// nameOf takes from a name what is not the model's: who sells it and where, its date, how it is to think, and how long
// a window is asked for.
func nameOf(model string) named {
	n := strings.ToLower(strings.TrimSpace(model))
	n, long := strings.CutSuffix(n, "[1m]")
	n = n[strings.LastIndexByte(n, '/')+1:]
	n = region.ReplaceAllString(n, "")
	n, _, _ = strings.Cut(n, "@")
	n = variant.ReplaceAllString(n, "")
	n = strings.TrimSuffix(n, "-latest")
	switch {
	case strings.HasPrefix(n, "claude-"):
		n = claude(n)
	case strings.HasPrefix(n, "gpt-"):
		n = effort.ReplaceAllString(dated.ReplaceAllString(n, ""), "")
	case strings.HasPrefix(n, "gemini-"):
		n = preview.ReplaceAllString(n, "")
	default:
		n = dated.ReplaceAllString(n, "")
	}
	return named{name: n, long: long}
}

// claude is the name of a Claude model as Anthropic has it: figures with dashes, before the kind up to 3, behind it
// from 4 on.
func claude(n string) string {
	n = revision.ReplaceAllString(n, "")
	n = thinking.ReplaceAllString(n, "")
	n = dated.ReplaceAllString(n, "")
	for dotted.MatchString(n) {
		n = dotted.ReplaceAllString(n, "$1-$2")
	}
	if m := figures.FindStringSubmatch(n); m != nil && m[1] > "3" {
		n = "claude-" + m[3] + "-" + m[1]
		if m[2] != "" {
			n += "-" + m[2]
		}
	}
	if m := kinds.FindStringSubmatch(n); m != nil {
		n = "claude-3-"
		if m[2] != "" {
			n += m[2] + "-"
		}
		n += m[1]
	}
	return strings.TrimSuffix(n, "-0")
}
