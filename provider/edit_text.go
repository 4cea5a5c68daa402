package provider

import "slices"

// markers are the members by which a client marks what a provider is to cache: cache_control of Anthropic, which others took
// over, and prompt_cache_breakpoint of OpenAI.
var markers = []string{"cache_control", "prompt_cache_breakpoint"}

// plainBlock are the members that a block of text may have and still be one text.
var plainBlock = map[string]bool{
	"type": true, "text": true, "id": true, "phase": true, "cache_control": true, "prompt_cache_breakpoint": true, "logprobs": true,
}

// SetOwn puts a text, given as a JSON string, in place of all that a content says which isText: the content itself where it is
// a string, or the first such block, whose text is its member text. The others are left out; a cache marker of one
// that the first does not have moves to it. It says why it cannot.
func (s *Splice) SetOwn(content Place, text []byte, isText func(block Place) bool) (why string) {
	if content.Kind() == '"' {
		s.Replace(content, text)
		return ""
	}
	var first Place
	held := map[string]Place{} // markers of blocks that are left out
	for block := range content.Elements() {
		switch {
		case !isText(block):
			continue
		case block.Object().Rest(plainBlock):
			return "its text has citations or holds something else"
		case first.JSON == nil:
			first = block
			continue
		}
		s.Drop(block)
		for _, name := range markers {
			if m := block.Member(name); isMarker(m) {
				held[name] = m
			}
		}
	}
	if first.JSON == nil {
		return "it has no text of its own"
	}
	s.Set(first, "text", text)
	s.mark(first, held)
	return ""
}

// SetResult puts a text, given as a JSON string, in place of the member of an object that holds a result: as a string, but
// where it is a list of texts with a cache marker, as one of these.
func (s *Splice) SetResult(object Place, member string, text []byte, isText func(block Place) bool) (why string) {
	content := object.Member(member)
	texts, marked := 0, false
	for block := range content.Elements() {
		if !isText(block) {
			texts = -1
			break
		}
		texts++
		marked = marked || slices.ContainsFunc(markers, func(name string) bool { return isMarker(block.Member(name)) })
	}
	if texts > 0 && marked {
		return s.SetOwn(content, text, isText)
	}
	s.Set(object, member, text)
	return ""
}

// Hoist puts a text, given as a JSON string, in place of an object's member. A cache marker of a block in the member, which
// goes, moves to the object, if that has none.
func (s *Splice) Hoist(object Place, member string, text []byte) {
	held := map[string]Place{}
	for block := range object.Member(member).Elements() {
		if m := block.Member(markers[0]); isMarker(m) {
			held[markers[0]] = m
		}
	}
	s.Set(object, member, text)
	s.mark(object, held)
}

// mark gives an object those of the markers that it does not have.
func (s *Splice) mark(object Place, held map[string]Place) {
	for _, name := range markers {
		if m, ok := held[name]; ok && !isMarker(object.Member(name)) {
			s.Set(object, name, m.JSON)
		}
	}
}

// isMarker reports whether a member is there and is not null.
func isMarker(p Place) bool { return p.Kind() != 0 && p.Kind() != 'n' }
