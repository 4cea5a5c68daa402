package sim

import (
	"maps"
	"slices"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/source"
)

// stale reports whether another baseline is needed because the session works with something else.
func (m *model) stale() bool {
	b := m.base
	return b == nil || b.plan.agent != m.plan.agent || b.plan.dir != m.plan.dir || b.plan.model != m.plan.model ||
		b.plan.role != m.plan.role || b.plan.tools != m.plan.tools
}

// elsewhere reports whether the baseline is none of this agent's, as it is now, in this folder, so that no turn may begin with it: with
// another role or other tools in front, requests would not grow at their end alone.
func (m *model) elsewhere() bool {
	b := m.base
	return b == nil || b.plan.agent != m.plan.agent || b.plan.dir != m.plan.dir || b.plan.role != m.plan.role || b.plan.tools != m.plan.tools
}

// gone are the facts that the session was told of and that are no more, sorted.
func (m *model) gone() (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(m.told)) {
		if !slices.ContainsFunc(m.sight.facts, func(s seen) bool { return s.key == key && s.state != absent }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// replaced reports whether what was found needs another baseline.
func (m *model) replaced() bool { return m.stale() || m.mute() }

// mute reports whether a fact is gone, and no text says so: no message can tell of it.
func (m *model) mute() bool {
	return slices.ContainsFunc(m.gone(), func(key string) bool { return m.told[key].removal == "" })
}

// blocked are the facts that keep a baseline from being opened: in a folder for the first time those that are not optional,
// and later those that the session was told of.
func (m *model) blocked() (keys []string) { return m.blockedIn(m.sight) }

func (m *model) blockedIn(sight *sight) (keys []string) {
	first := m.base == nil || m.base.plan.dir != m.plan.dir
	for _, s := range sight.facts {
		_, needed := sight.told[s.key]
		if first {
			needed = !s.optional
		}
		if s.state == unavailable && needed {
			keys = append(keys, s.key)
		}
	}
	return keys
}

// lost are the facts that could not be read, sorted.
func (m *model) lost() (keys []string) {
	for _, s := range m.sight.facts {
		if s.state == unavailable {
			keys = append(keys, s.key)
		}
	}
	slices.Sort(keys)
	return keys
}

// changes are what is to be told of changes, in order.
func (m *model) changes() (texts []string) {
	for _, s := range m.sight.facts {
		before, known := m.told[s.key]
		switch {
		case s.state != present || known && before.value == s.value:
		case known:
			texts = append(texts, s.update(before.value, s.value))
		default:
			texts = append(texts, s.fact.baseline(s.value))
		}
	}
	for _, key := range m.gone() {
		texts = append(texts, m.told[key].removal)
	}
	for i := range texts {
		texts[i] = strings.Trim(texts[i], "\r\n")
	}
	return texts
}

// learn is that what was found is told.
func (m *model) learn() {
	for _, key := range m.gone() {
		delete(m.told, key)
	}
	for _, s := range m.sight.facts {
		if s.state != present {
			continue
		}
		t := told{value: s.value}
		if !s.silent {
			t.removal = strings.Trim(s.removal(s.value), "\r\n")
		}
		m.told[s.key] = t
	}
}

// isTold takes in what a session is told of facts.
func (m *model) isTold(seq entry.Seq, f *entry.Told) {
	m.asking = false
	var missing []string
	for _, x := range f.Missing {
		missing = append(missing, x.Key)
	}
	m.w.holds(Source, m.sight.plan == m.plan || f.Values == nil, "entry %d tells what %s found to %s", seq, m.sight.plan, m.plan)
	switch {
	case f.Baseline:
		m.baseline(seq, f, missing)
	case f.Values != nil:
		want := strings.Join(m.changes(), "\n\n")
		text := m.text(f.Text)
		ok := !m.mute() && text == want && want != ""
		m.w.holds(Source, ok && slices.Equal(missing, m.lost()), "entry %d tells %q and misses %v, and is to tell %q and to miss %v", seq, text, missing, want, m.lost())
		m.learn()
		m.said, m.step = append(m.said, said{kind: "told", seq: seq, text: text}), seq
		m.w.r.Events["updates"]++
	default:
		slices.Sort(missing)
		ok := !slices.Equal(f.Missing, m.short) && !slices.ContainsFunc(missing, func(key string) bool { return !slices.Contains(m.lost(), key) })
		m.w.holds(Source, ok, "entry %d misses %v; before it were %v, and %v cannot be read", seq, missing, m.short, m.lost())
		m.w.r.Events["missing facts"]++
	}
	m.short = f.Missing
}

func (m *model) baseline(seq entry.Seq, f *entry.Told, missing []string) {
	var layers [2][]string
	for _, s := range m.sight.facts {
		if s.state == present {
			i := 0
			if s.volatile {
				i = 1
			}
			layers[i] = append(layers[i], strings.Trim(s.fact.baseline(s.value), "\r\n"))
		}
	}
	stable, volatile := strings.Join(layers[0], "\n\n"), strings.Join(layers[1], "\n\n")
	about := m.w.press.policy == ambit.PolicyFull && f.Why == "the conversation is compacted" // which is decided on next
	ok := (m.replaced() || about || m.pressed.compacted) && len(m.blocked()) == 0
	m.w.holds(Source, ok, "entry %d opens a baseline (stale: %v, gone: %v, blocked: %v)", seq, m.stale(), m.gone(), m.blocked())
	ok = m.text(f.Text) == stable && m.text(f.Volatile) == volatile && slices.Equal(missing, m.lost())
	m.w.holds(Source, ok, "the baseline %d is %q and %q, missing %v, and is to be %q and %q, missing %v", seq, m.text(f.Text), m.text(f.Volatile), missing, stable, volatile, m.lost())
	number := 1
	if m.base != nil {
		number = m.base.number + 1
	}
	m.base, m.told = &base{seq, join(stable, volatile), m.plan, number}, map[string]told{}
	m.learn()
	m.pressed.compacted = false
	m.w.r.Events["baselines"]++
	if about {
		m.w.r.Events["baselines for a checkpoint"]++
	}
}

// join puts texts of the system together, without those that are empty.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n\n")
}

// current looks whether all that was found has been told when a request is made.
func (m *model) current(n int) {
	if m.replaced() || m.pressed.compacted { // what blocks it may have been read since
		blocks := func(s *sight) bool { return len(m.blockedIn(s)) > 0 }
		m.w.holds(Source, slices.ContainsFunc(m.sights, blocks) && !m.elsewhere(), "request %d needs another baseline (stale: %v, gone: %v), and nothing blocks one", n, m.stale(), m.gone())
	}
	m.sights = nil
	if m.mute() {
		return
	}
	m.w.holds(Source, m.sight.plan == m.plan, "request %d is made for %s of what %s found", n, m.plan, m.sight.plan)
	changes := m.changes()
	m.w.holds(Source, len(changes) == 0, "request %d is made, and %q has not been told", n, changes)
	for _, s := range m.sight.facts {
		m.w.holds(Source, s.asked, "request %d is made, and %s has not been asked for", n, s.key)
	}
	m.sight.used = true
}

// knows compares what the session says that it told with what it did.
func (m *model) knows(snapshot source.Snapshot) {
	ok := len(snapshot) == len(m.told)
	for key, t := range m.told {
		s, is := snapshot[key]
		ok = ok && is && unquoted(s.Value) == t.value && s.Removed == t.removal
	}
	m.w.holds(Rebuild, ok, "the session is said to know %v, and knows %v", snapshot, m.told)
}
