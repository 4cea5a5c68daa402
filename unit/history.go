package unit

// side is who speaks: units of one side that follow each other are one run. System units are a side of their own.
type side byte

const (
	system side = iota
	model
	person // and their tools
)

func sideOf(r Role) side {
	switch r {
	case System:
		return system
	case Assistant:
		return model
	}
	return person
}

// use is one part that names the id of a call: the call itself or a result.
type use struct {
	at     int // the unit
	result bool
}

// history is a list of units with what the rules ask about it.
type history struct {
	units    []Unit
	ids      []string // of calls, in order of their first use
	uses     [][]use  // of each id, in order
	of       [][]int  // of each unit, the ids that it uses, as indexes; one may stand there twice
	begin    []int    // of each unit, where its run begins
	end      []int    // of each unit, the index behind its run
	streak   []int    // of each unit that holds results, where the results before it begin, with nothing between
	spoke    []int    // of each unit, the newest unit before it that is no system unit, or -1
	speaks   []int    // of each unit, the first unit from it on that is no system unit, or the number of units
	opaque   []bool   // of each unit with which a run begins, whether one of the run is not all understood
	answered []answer // the pairs that the rules about places look at
}

// answer is a call with its result, where their id has no later use.
type answer struct {
	id           int // an index of history.ids
	call, result int // units
}

func read(units []Unit) *history {
	h := &history{units: units, of: make([][]int, len(units))}
	h.readIDs()
	h.readRuns()
	for id, uses := range h.uses {
		if n := len(uses); n >= 2 && isPair(uses[n-2:]) {
			h.answered = append(h.answered, answer{id, uses[n-2].at, uses[n-1].at})
		}
	}
	return h
}

func (h *history) readIDs() {
	index := map[string]int{}
	for at := range h.units {
		parts := h.units[at].Parts
		for i := range parts {
			p := &parts[i]
			if p.Kind != Call && p.Kind != Result {
				continue
			}
			id, ok := index[p.ID]
			if !ok {
				id = len(h.ids)
				index[p.ID] = id
				h.ids, h.uses = append(h.ids, p.ID), append(h.uses, nil)
			}
			h.uses[id] = append(h.uses[id], use{at, p.Kind == Result})
			h.of[at] = append(h.of[at], id)
		}
	}
}

func (h *history) readRuns() {
	n := len(h.units)
	all := make([]int, 5*n)
	h.begin, h.end, h.streak, h.spoke, h.speaks = all[:n], all[n:2*n], all[2*n:3*n], all[3*n:4*n], all[4*n:]
	h.opaque = make([]bool, n)
	spoke := -1
	for i := range h.units {
		u := &h.units[i]
		h.begin[i], h.streak[i], h.spoke[i] = i, i, spoke
		if i > 0 && sideOf(u.Role) == sideOf(h.units[i-1].Role) {
			h.begin[i] = h.begin[i-1]
			if sideOf(u.Role) == person && h.units[i-1].holds(Result) {
				h.streak[i] = h.streak[i-1]
			}
		}
		if u.Raw != nil || u.holds(Opaque) {
			h.opaque[h.begin[i]] = true
		}
		if u.Role != System {
			spoke = i
		}
	}
	speaks := n
	for i := n - 1; i >= 0; i-- {
		h.end[i] = i + 1
		if i+1 < n && h.begin[i+1] == h.begin[i] {
			h.end[i] = h.end[i+1]
		}
		if h.units[i].Role != System {
			speaks = i
		}
		h.speaks[i] = speaks
	}
}

// isPair reports whether the uses of an id are what they should be: a call, and its result in a later unit.
func isPair(uses []use) bool {
	return len(uses) == 2 && !uses[0].result && uses[1].result && uses[0].at < uses[1].at
}
