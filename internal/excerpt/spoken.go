package excerpt

import (
	"slices"
	"strings"
)

// What an assistant says when it decides something and tells why, names what may go wrong, or says what it does next.
var (
	decisionCues = cueList(`i'll use|i will use|i'm going to use|we'll use|we will use|using|decided|decide|decision|because|instead of|rather than|chose|chosen|choose|going with|go with|let's use|let's go|opted|opt for|settled on
		|root cause|the cause|caused by|turns out|switching to|switched to|the problem is|the problem was|the issue is|the issue was|the bug is|the bug was|the reason|trade off|tradeoff|due to|since the|the fix is|the fix was|approach|conclusion|prefer
		|weil|stattdessen|entschieden|ursache|parce que|au lieu|décidé|porque|en lugar|decidido`)
	riskCues = cueList(`risk|risks|risky|caveat|caveats|not tested|untested|not verified|unverified|unsure|not sure|known issue|known issues|open question|open questions|limitation|limitations|may break|might break|could break|may fail|might fail|could fail
		|beware|be aware|not yet|still fails|still failing|still broken|unresolved|out of scope|assumption|assuming|flaky|risiko|risque|riesgo`)
	nextCues      = cueList(`next|i'll|i will|let me|now i|now let's|then i|remaining|remains|still need|still needs|need to|needs to|todo|going to|follow up|afterwards|left to do|to do|we should|you should|you can now|als nächstes|ensuite|prochaine|siguiente`)
	wideDecisions = cueList(`因为|決定|决定|改用|原因|而不是|なので|ため|代わりに|根本原因`)
	wideNext      = cueList(`接下来|下一步|然后|次に|これから|残り`)
)

// spoken are the sentences of what an assistant said that have one of the cues, without code.
func spoken(text string, phrases, wide cues) []string {
	all := rows(text)
	var found []string
	parts, first := passages(text, all)
	for i, p := range parts {
		if r := all[first[i]]; !r.prose() || r.title {
			continue
		}
		for _, s := range sentences(text, p) {
			body := text[s.from:s.to]
			if phrases.in(words(body)) || wide.wideIn(body) {
				found = append(found, strings.Join(strings.Fields(body), " "))
			}
		}
	}
	return found
}

// decisions are the sentences in which the assistant decided something, each once, the newest last.
func (e *extraction) decisions() []said {
	var all []said
	seen := make(map[string]bool)
	for _, s := range e.assistant {
		for _, sentence := range spoken(s.text, decisionCues, wideDecisions) {
			if !seen[sentence] {
				seen[sentence] = true
				all = append(all, said{s.ref, sentence})
			}
		}
	}
	return all
}

// maxRisks are the sentences about risks that are told, the newest; and maxStated those about what is next.
const (
	maxRisks  = 4
	maxStated = 2
	lately    = 8 // texts of the assistant in which they are sought, the newest
)

// state is where the work stands.
func (e *extraction) state(o Options, left leftOut) string {
	var lines []string
	if n := len(e.assistant); n > 0 {
		last := e.assistant[n-1]
		lines = append(lines, "Said last"+in(last.ref)+":\n"+Cut(last.text, max(MinCut, 2*o.MaxEntry), Where{Ref: last.ref, By: o.By}))
	}
	ran := e.byLast(func(a *Artifact) bool { return a.Command != "" && verifies(a.Command) && a.Outcome != "" })
	if n := len(ran); n > 0 {
		lines = append(lines, "Last check "+string(ran[n-1].Outcome)+": "+said{ran[n-1].Ref, noted(ran[n-1])}.within(o.MaxEntry))
	}
	for _, a := range ran[:max(0, len(ran)-1)] {
		if a.Outcome == Failed && len(lines) < o.MaxEntries {
			lines = append(lines, "Failing still: "+said{a.Ref, noted(a)}.within(o.MaxEntry))
		}
	}
	for _, s := range e.risks() {
		lines = append(lines, "Open risk: "+clipCharacters(s, o.MaxEntry))
	}
	if len(left) > 0 {
		lines = append(lines, "Left out of this record for room: "+strings.Join(left, ", ")+".")
	}
	return strings.Join(lines, "\n")
}

// risks are the newest sentences about what may go wrong.
func (e *extraction) risks() []string {
	var all []string
	for _, s := range e.assistant[max(0, len(e.assistant)-lately):] {
		all = append(all, spoken(s.text, riskCues, cues{})...)
	}
	all = distinct(all)
	return all[max(0, len(all)-maxRisks):]
}

// next is what is still to do: the open entries of the last list, and what the assistant said last that it does next.
func (e *extraction) next() []said {
	var all []said
	if n := len(e.assistant); n > 0 {
		last := e.assistant[n-1]
		stated := distinct(spoken(last.text, nextCues, wideNext))
		for _, s := range stated[max(0, len(stated)-maxStated):] {
			all = append(all, said{last.ref, s})
		}
	}
	for _, t := range slices.Backward(e.todos) {
		if t.open() {
			text := t.text
			if strings.Contains(strings.ToLower(t.status), "progress") {
				text += " (in progress)"
			}
			all = append(all, said{"", text})
		}
	}
	slices.Reverse(all)
	return all
}
