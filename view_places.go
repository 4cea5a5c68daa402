package ambit

import (
	"slices"

	"ambit/entry"
	"ambit/internal/thread"
	"ambit/provider"
)

// notTheirs is the place of a message that Ambit put into a request.
const notTheirs = -1

// places says of each message that went which of the client's it is, or notTheirs. The edits say it where all of them can be
// read; otherwise the messages themselves do.
func (k *makings) places(list []came, elements []provider.Element, went []provider.Message) []int {
	if at, ok := k.told(list, elements, went); ok {
		return at
	}
	return k.alike(list, elements, went)
}

// told makes of the client's messages what the edits make of them, and reports whether that is what went.
func (k *makings) told(list []came, elements []provider.Element, went []provider.Message) (at []int, ok bool) {
	hashes := make([]thread.Hash, len(list))
	for i := range list {
		hashes[i] = thread.Hash(list[i].hash)
	}
	for i, shown := range k.edits.Apply(hashes).Shown {
		if !shown.Gone {
			n := len(at)
			if n >= len(went) || len(shown.Texts) == 0 && elements[n].Hash != list[i].hash || !slices.Equal(went[n].Results, list[i].message.Results) {
				return nil, false
			}
			at = append(at, i)
		}
		for _, placed := range shown.Behind {
			if n := len(at); n >= len(went) || !says(went[n], placed.Text) {
				return nil, false
			}
			at = append(at, notTheirs)
		}
	}
	return at, len(at) == len(went)
}

// alike finds the client's messages by what they say, and where their text was replaced, by the calls whose results they hold
// or by a change that is known. It goes from the end: of messages that are the same an edit leaves out the first.
func (k *makings) alike(list []came, elements []provider.Element, went []provider.Message) []int {
	at := make([]int, len(went))
	next := len(list)
	for i := len(went) - 1; i >= 0; i-- {
		at[i] = notTheirs
		for j := next - 1; j >= 0; j-- {
			if list[j].hash == elements[i].Hash || k.replaced(&list[j], went[i]) {
				at[i], next = j, j
				break
			}
		}
	}
	return at
}

// replaced reports whether a message of the client's went otherwise as this one.
func (k *makings) replaced(c *came, went provider.Message) bool {
	if len(went.Results) > 0 {
		return slices.Equal(c.message.Results, went.Results)
	}
	return slices.ContainsFunc(k.changes, func(m made) bool {
		return m.How == entry.ChangeCut && m.Call == "" && m.Element == c.hex && says(went, m.Text)
	})
}
