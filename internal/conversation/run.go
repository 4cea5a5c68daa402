package conversation

import "slices"

// run is a list: the first n of a line. Runs that begin alike share the memory of it, so that what the requests of a
// conversation held takes no more than it has messages, as long as each adds to the one before it.
type run struct {
	line *[]int
	n    int
}

// list is the run as a slice without room, so that who appends to it copies it.
func (r run) list() []int {
	if r.line == nil {
		return nil
	}
	return (*r.line)[:r.n:r.n]
}

// with is the run and more behind it. The first to go on from the end of a line makes it longer, all others copy it.
func (r run) with(more ...int) run {
	if len(more) == 0 {
		return r
	}
	if r.line == nil || r.n < len(*r.line) {
		all := slices.Concat(r.list(), more)
		return run{&all, len(all)}
	}
	*r.line = append(*r.line, more...)
	return run{r.line, len(*r.line)}
}

// first is how the run begins.
func (r run) first(n int) run { return run{r.line, n} }

// to is a run of these messages, which shares what it can with this one.
func (r run) to(list []int) run {
	old := r.list()
	n := 0
	for n < len(old) && n < len(list) && old[n] == list[n] {
		n++
	}
	return r.first(n).with(list[n:]...)
}

// marks are a set of messages that is emptied at once.
type marks struct {
	of   []int // by message: in which walk it was marked
	walk int
}

// set marks these messages and no others.
func (k *marks) set(list []int) {
	k.walk++
	for _, m := range list {
		k.add(m)
	}
}

// add marks a message, and reports whether it was not marked.
func (k *marks) add(m int) bool {
	if m >= len(k.of) {
		k.of = append(k.of, make([]int, m+1-len(k.of))...)
	}
	fresh := k.of[m] != k.walk
	k.of[m] = k.walk
	return fresh
}

// has reports whether a message is marked.
func (k *marks) has(m int) bool { return m < len(k.of) && k.of[m] == k.walk }
