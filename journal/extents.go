package journal

import (
	"cmp"
	"slices"

	"ambit/entry"
)

func (x extent) end() uint64 { return x.start + x.length }

// both is what two extents have in common; of length 0 when that is nothing.
func both(a, b extent) extent {
	start, end := max(a.start, b.start), min(a.end(), b.end())
	if end <= start {
		return extent{}
	}
	return extent{start, end - start}
}

// merged puts extents in order, those that touch as one. It may change the list.
func merged(list []extent) []extent {
	slices.SortFunc(list, func(a, b extent) int { return cmp.Compare(a.start, b.start) })
	out := list[:0]
	for _, x := range list {
		if n := len(out); x.length > 0 && n > 0 && x.start <= out[n-1].end() {
			out[n-1].length = max(out[n-1].end(), x.end()) - out[n-1].start
		} else if x.length > 0 {
			out = append(out, x)
		}
	}
	return out
}

// from is the place of the first extent of a merged list that ends behind an address.
func from(list []extent, at uint64) int {
	i, _ := slices.BinarySearchFunc(list, at, func(x extent, at uint64) int {
		if x.end() <= at {
			return -1
		}
		return 1
	})
	return i
}

// within is what a merged list has of an extent.
func within(list []extent, x extent) []extent {
	var out []extent
	for _, y := range list[from(list, x.start):] {
		if y.start >= x.end() {
			break
		}
		if c := both(x, y); c.length > 0 {
			out = append(out, c)
		}
	}
	return out
}

// without is what a merged list has that another does not have.
func without(list, other []extent) []extent {
	var out []extent
	for _, x := range list {
		at := x.start
		for _, y := range within(other, x) {
			if y.start > at {
				out = append(out, extent{at, y.start - at})
			}
			at = y.end()
		}
		if at < x.end() {
			out = append(out, extent{at, x.end() - at})
		}
	}
	return out
}

// total is how long extents are, together.
func total(list []extent) (n int64) {
	for _, x := range list {
		n += int64(x.length)
	}
	return n
}

// touch reports whether one of some extents has something of a merged list.
func touch(list, extents []extent) bool {
	return slices.ContainsFunc(extents, func(x extent) bool { return len(within(list, x)) > 0 })
}

// runsOf spells a merged list as an entry has it, extentsOf reads that.
func runsOf(list []extent) []entry.Run {
	runs := make([]entry.Run, len(list))
	for i, x := range list {
		runs[i] = entry.Run{At: x.start, Length: x.length}
	}
	return runs
}

func extentsOf(runs []entry.Run) []extent {
	var list []extent
	for _, r := range runs {
		if r.At+r.Length > r.At { // an address beyond all others means nothing
			list = append(list, extent{r.At, r.Length})
		}
	}
	return merged(list)
}
