package provider

import "ambit/entry"

// Counts holds the numbers of tokens that one answer gives, by the provider's own names.
type Counts map[string]int64

// Add takes the named members of an object that are numbers of tokens. A later value replaces an earlier one; what
// the object leaves out, or gives as something absurd, stays as it was.
func (c Counts) Add(object JSON, names ...string) {
	if len(object) == 0 {
		return
	}
	for i, v := range object.Find(names...) {
		if n, ok := v.Count(); ok {
			c[names[i]] = n
		}
	}
}

// NewUsage returns a usage in which the cached parts fit into the input: one that does not counts as not given.
func NewUsage(input, read, write, output int64) *entry.Usage {
	if read > input {
		read = 0
	}
	if write > input-read {
		write = 0
	}
	return &entry.Usage{Input: input, CacheRead: read, CacheWrite: write, Output: output}
}

// KeptAnHour notes which part of what was written to the cache is kept for an hour. One that does not fit counts as not given.
func KeptAnHour(u *entry.Usage, tokens int64) *entry.Usage {
	if u != nil && tokens <= u.CacheWrite {
		u.CacheWriteHour = tokens
	}
	return u
}
