package provider

// Object is a JSON object that is read member by member, so that it is known what nobody read.
type Object struct{ members []member }

type member struct {
	name  []byte // in canonical form
	value JSON
	taken bool
}

// Object returns v as an object, without members when it is none or not complete.
func (v JSON) Object() Object {
	s := v.open('{')
	if s == nil {
		return Object{}
	}
	members := make([]member, 0, 6)
	s.members(func(name []byte) { members = append(members, member{name: name, value: s.part()}) })
	if s.end(); s.err != nil {
		return Object{}
	}
	return Object{members}
}

// Take returns the member of the name, nil where there is none and where it was taken before. Of several with one name
// the last counts.
func (o Object) Take(name string) JSON {
	for i := len(o.members) - 1; i >= 0; i-- {
		if m := &o.members[i]; string(m.name) == name {
			if m.taken {
				return nil
			}
			m.taken = true
			return m.value
		}
	}
	return nil
}

// See returns the members of these names, nil where there is none, taken or not, and takes none.
func (o Object) See(names ...string) []JSON {
	found := make([]JSON, len(names))
	for _, m := range o.members {
		if at := index(names, m.name); at >= 0 {
			found[at] = m.value
		}
	}
	return found
}

// Rest reports whether a member holds a string, at any depth, that was not taken and is not among those named.
func (o Object) Rest(named map[string]bool) bool {
	for i := range o.members {
		if m := &o.members[i]; !m.taken && !named[string(m.name)] && m.value.HoldsText() {
			return true
		}
	}
	return false
}

// HoldsText reports whether a string that is not empty stands in v, at any depth. Names are none.
func (v JSON) HoldsText() bool {
	switch v.Kind() {
	case '"':
		return len(v) > len(`""`)
	case '{', '[':
		return v.open(v.Kind()).holdsText()
	}
	return false
}

func (s *scanner) holdsText() (found bool) {
	switch s.next() {
	case '{':
		s.members(func([]byte) { found = s.holdsText() || found })
	case '[':
		s.array(func(int) { found = s.holdsText() || found })
	case '"':
		from := s.pos
		s.value()
		found = s.pos-from > len(`""`)
	default:
		s.value()
	}
	return found
}
