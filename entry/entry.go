// Package entry holds the durable facts of a session and their codec.
//
// An Entry is immutable: it is appended to a session's journal once and never changed. What it says is its Fact,
// one of a closed set of types. The package is pure: it reads no clock and no file, and uses the standard library
// only. All its values may be shared between goroutines as long as nobody writes to them.
package entry

import (
	"strconv"
	"strings"
	"time"
)

// Seq numbers the entries of one session from 1, without gaps.
type Seq uint64

// Ref is the short name of an entry inside its session, such as e412.
func (s Seq) Ref() string { return "e" + strconv.FormatUint(uint64(s), 10) }

// ParseRef reads a short name such as e412. What is not one gives 0.
func ParseRef(ref string) Seq {
	digits, ok := strings.CutPrefix(ref, "e")
	n, err := strconv.ParseUint(digits, 10, 63)
	if !ok || err != nil || digits[0] < '1' || digits[0] > '9' {
		return 0
	}
	return Seq(n)
}

// Entry is one immutable durable fact.
type Entry struct {
	Seq  Seq
	Time time.Time // when it was appended, UTC
	Fact Fact
}

// Body names the exact bytes of a request or a response in the session's literal log.
type Body struct {
	At     int64  `json:"at"`     // offset of its record in the literal log, in bytes
	Size   int64  `json:"bytes"`  // length of the body, in bytes
	SHA256 string `json:"sha256"` // of the body, 64 lower-case hexadecimal digits
}

// Usage is what a provider says that a request took, in tokens.
type Usage struct {
	Input      int64 `json:"input_tokens"`       // everything sent, the read and written parts included
	CacheRead  int64 `json:"cache_read_tokens"`  // the part of Input that the provider's prompt cache held
	CacheWrite int64 `json:"cache_write_tokens"` // the part of Input that was written to the cache
	Output     int64 `json:"output_tokens"`

	CacheWriteHour int64 `json:"cache_write_1h_tokens,omitempty"` // the part of CacheWrite that is kept for an hour; the rest is for the provider's usual time
}
