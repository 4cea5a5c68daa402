package agent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Action is what a rule does.
type Action string

// The actions, from the mildest to the strictest.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

var actions = []Action{Allow, Ask, Deny}

// stricter reports whether an action permits less than another.
func (a Action) stricter(b Action) bool { return slices.Index(actions, a) > slices.Index(actions, b) }

// Rule says what becomes of the calls that it matches.
//
// Tool is a pattern of tools' names. Subject is a pattern of what is done: for bash of the command line, and for skill of the
// skill's name, in which "*" is any run of characters; for the others of the path in the working folder, in which "*" stays
// within one name and "**" is any number of folders. A rule that matches a folder holds for everything in it. In both "?" is
// one character. Rules that ask or deny do not tell capital letters of a path from small ones, since some file systems do not.
type Rule struct {
	Action  Action
	Tool    string
	Subject string
}

// String is the rule's text, as ParseRule reads it.
func (r Rule) String() string { return string(r.Action) + " " + r.Tool + ":" + r.Subject }

// matches reports whether a rule is about a tool's subject.
func (r Rule) matches(tool, subject string) bool {
	switch {
	case !matchText(r.Tool, tool):
		return false
	case tool == bashSpec.name, tool == skillSpec.name:
		return matchText(r.Subject, subject)
	case r.Action != Allow:
		return matchWithin(strings.ToLower(r.Subject), strings.ToLower(subject))
	}
	return matchWithin(r.Subject, subject)
}

// ParseRule reads a rule, such as "allow bash:git status*", "ask write:*" or "deny read:**/.env".
func ParseRule(line string) (Rule, error) {
	action, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	r := Rule{Action: Action(action)}
	if !slices.Contains(actions, r.Action) {
		return Rule{}, fmt.Errorf("rule %q: it begins with allow, ask or deny", line)
	}
	var ok bool
	r.Tool, r.Subject, ok = strings.Cut(strings.TrimSpace(rest), ":")
	r.Tool, r.Subject = strings.TrimSpace(r.Tool), strings.TrimSpace(r.Subject)
	switch {
	case !ok || r.Tool == "" || r.Subject == "":
		return Rule{}, fmt.Errorf("rule %q: a tool and what it is used on are missing: it has the form %s TOOL:PATTERN, such as %s bash:*", line, action, action)
	case strings.ContainsAny(r.Tool, " \t/"):
		return Rule{}, fmt.Errorf("rule %q: %q is not the name of a tool", line, r.Tool)
	case slices.Contains([]string{"read", "write", "edit", "search", "list"}, r.Tool) && !inside(r.Subject):
		return Rule{}, fmt.Errorf("rule %q: a path is relative to the working folder and does not leave it", line)
	}
	return r, nil
}

// inside reports whether a pattern is one of paths in the working folder.
func inside(pattern string) bool {
	clean := path.Clean(pattern)
	return !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../") && !strings.HasPrefix(clean, "~/")
}

// Rules are what is allowed. Of those that match, the last one counts; what none matches is asked.
//
// A command line is allowed only if every command in it is, so that none comes along behind one that is allowed. A line that
// cannot be taken apart for certain, or that writes to a file by ">", is allowed only where any command is. A rule that
// denies commands is a guard rail and no wall: a shell has many ways to say a thing. What must not happen is kept out by
// allowing only what may.
type Rules []Rule

// ParseRules reads rules, one a line. Empty lines and those that begin with "#" say nothing.
func ParseRules(text string) (Rules, error) {
	rules := Rules{}
	var wrong []error
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := ParseRule(line)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, errors.Join(wrong...)
}

// DefaultRules let everything in the working folder be looked at, but for files that usually hold secrets, and every skill, and
// ask about the rest. A user's own rules are put behind them.
func DefaultRules() Rules {
	rules := Rules{{Ask, "*", "*"}, {Allow, "read", "*"}, {Allow, "search", "*"}, {Allow, "list", "*"}, {Allow, "skill", "*"}}
	for _, name := range secret {
		rules = append(rules, Rule{Ask, "read", "**/" + name})
	}
	for _, name := range []string{".env.example", ".env.sample", ".env.template"} {
		rules = append(rules, Rule{Allow, "read", "**/" + name})
	}
	return rules
}

// secret are the names of files and folders that are asked about before they are read.
var secret = []string{
	".env", ".env.*", ".envrc", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".ssh", ".gnupg", ".aws/credentials",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx",
}

// Yes are the rules of somebody who has said yes to everything beforehand: all is allowed but what a rule denies.
func (r Rules) Yes() Rules {
	yes := Rules{{Allow, "*", "*"}}
	for _, rule := range r {
		if rule.Action == Ask {
			rule.Action = Allow
		}
		yes = append(yes, rule)
	}
	return yes
}

// Verdict is what rules say about a call.
type Verdict struct {
	Action Action
	Why    string // in half a sentence: the rule, or what cannot be known
	Allow  string // a rule that would allow what is asked; empty where none can
}

// Decide says whether a tool may be used on a subject: of bash a command line, of skill a name, of the others a path.
func (r Rules) Decide(tool, subject string) Verdict {
	if tool == bashSpec.name {
		return r.command(subject)
	}
	return r.last(tool, subject)
}

// last is what the last rule says that matches.
func (r Rules) last(tool, subject string) Verdict {
	for _, rule := range slices.Backward(r) {
		if rule.matches(tool, subject) {
			return Verdict{rule.Action, fmt.Sprintf("the rule %q", rule), Rule{Allow, tool, subject}.String()}
		}
	}
	return Verdict{Ask, "no rule is about it", Rule{Allow, tool, subject}.String()}
}

// operators are the characters by which a shell puts commands together.
const operators = ";&|\n`()<>"

// command decides about a whole command line.
func (r Rules) command(line string) Verdict {
	tool := bashSpec.name
	if r.always(Allow, tool) {
		return Verdict{Action: Allow, Why: "any command is allowed"}
	}
	commands, why := split(line)
	worst := Verdict{Action: Allow, Why: "every command in it is allowed"}
	take := func(v Verdict) {
		if v.Action.stricter(worst.Action) {
			worst = v
		}
	}
	if why != "" {
		take(Verdict{Action: Ask, Why: why})
		for _, piece := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(operators, c) }) {
			if v := r.last(tool, strings.TrimLeft(piece, " \t$\"'{!")); v.Action == Deny {
				take(v)
			}
		}
	}
	for _, c := range commands {
		take(r.last(tool, c.text))
		if v := r.last(tool, c.plain()); v.Action == Deny {
			take(v)
		}
	}
	for _, rule := range r { // one that names an operator is meant for the whole line
		if rule.Action == Deny && strings.ContainsAny(rule.Subject, operators) && rule.matches(tool, line) {
			take(Verdict{Action: Deny, Why: fmt.Sprintf("the rule %q", rule)})
		}
	}
	return worst
}

// Never reports whether a tool is denied whatever it is used on, so that nobody needs to be told of it.
func (r Rules) Never(tool string) bool { return r.always(Deny, tool) }

// always reports whether the rules do the same whatever a tool is used on.
func (r Rules) always(action Action, tool string) bool {
	for _, rule := range slices.Backward(r) {
		switch {
		case !matchText(rule.Tool, tool):
		case rule.Action != action:
			return false
		case strings.Trim(rule.Subject, "*") == "":
			return true
		}
	}
	return false
}
