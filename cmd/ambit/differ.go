package main

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// sharedPrefix is how many bytes a and b have in common from their start.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// pointerAt says in which member of a JSON body the byte at an offset stands, as a JSON pointer; empty for the top, for
// an offset behind the end, and for what is not JSON.
func pointerAt(body []byte, offset int) string {
	if offset >= len(body) {
		return ""
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for dec.InputOffset() <= int64(offset) {
		if _, err := dec.ReadToken(); err != nil {
			return ""
		}
	}
	return string(dec.StackPointer())
}
