package provider

import "bytes"

// manyNames is from how many names on an object's names are looked up instead of compared.
const manyNames = 16

// names are the names of the objects that are open, each once.
type names struct {
	list [][]byte
	many []map[string]struct{} // of those open objects that have many names, from the outside in
	of   []int                 // where the names of these objects begin in list
	free bool                  // names may stand twice, and are not kept
}

// enter begins an object. What it returns is for add and leave.
func (n *names) enter() (from int) { return len(n.list) }

// add adds a name to the innermost object, unless it is there already.
func (n *names) add(from int, name []byte) bool {
	if n.free {
		return true
	}
	count := len(n.list) - from
	if count < manyNames {
		for _, other := range n.list[from:] {
			if bytes.Equal(other, name) {
				return false
			}
		}
		n.list = append(n.list, name)
		return true
	}
	if last := len(n.of) - 1; last < 0 || n.of[last] != from {
		seen := make(map[string]struct{}, 2*manyNames)
		for _, other := range n.list[from:] {
			seen[string(other)] = struct{}{}
		}
		n.many, n.of = append(n.many, seen), append(n.of, from)
	}
	seen := n.many[len(n.many)-1]
	if _, twice := seen[string(name)]; twice {
		return false
	}
	seen[string(name)] = struct{}{}
	return true
}

// leave ends the innermost object.
func (n *names) leave(from int) {
	if last := len(n.of) - 1; last >= 0 && n.of[last] == from {
		n.many[last] = nil
		n.many, n.of = n.many[:last], n.of[:last]
	}
	n.list = n.list[:from]
}
