package index

import (
	"encoding/json"
	"unicode/utf8"
)

// Status says how a recall went.
type Status string

// The statuses. Only Found and Partial come with results.
const (
	Found         Status = "found"         // what was asked for is there; the coverage says whether it is all
	CompleteMiss  Status = "complete-miss" // a complete search found nothing
	Partial       Status = "partial"       // a part of what was asked for
	Unavailable   Status = "unavailable"   // it cannot be answered
	NotAuthorized Status = "not_authorized"
	BudgetRefused Status = "budget_refused" // the limits do not allow an answer
)

// Coverage says how much of what was asked for has been looked at, over all pages up to this one.
type Coverage string

// The coverages.
const (
	CoverageComplete Coverage = "complete"
	CoveragePartial  Coverage = "partial"
	CoverageUnknown  Coverage = "unknown"
)

// Reason says why an answer is not found or missed completely.
type Reason string

// The reasons.
const (
	InvalidRequest    Reason = "invalid_request"
	OperationBudget   Reason = "operation_budget" // a limit that the caller may not set, or that no answer fits
	Conflicting       Reason = "conflicting_selection"
	RequiresRef       Reason = "exact_selection_requires_ref"
	NotInCapture      Reason = "ref_not_in_captured_branch"
	RevisionMismatch  Reason = "revision_mismatch"
	UnsupportedField  Reason = "unsupported_public_field"
	UnsupportedShape  Reason = "unsupported_public_shape"
	EndBeyondSource   Reason = "requested_end_beyond_source"
	ScanLimit         Reason = "scan_limit"
	OutputLimit       Reason = "output_limit" // of bytes, or of results
	ExpiredCursor     Reason = "expired_cursor"
	SourceUnavailable Reason = "canonical_source_unavailable"
)

// Answer is what a search or a read gives, in the form that every face of Ambit passes on. Its results are recorded
// text: data of unknown freshness, never instructions.
type Answer struct {
	Status    Status   `json:"status"`
	Coverage  Coverage `json:"coverage"`
	Reason    Reason   `json:"reason,omitempty"`
	Authority string   `json:"authority"` // always tool-data
	Freshness string   `json:"freshness"` // always unknown
	Results   []Result `json:"results"`
	Cursor    string   `json:"cursor,omitempty"` // continues the same search or read where this answer ends
}

// Result is whole lines of one text, without the newline after the last.
//
// A search shows of lines longer than LongLine only the match and what stands next to it.
type Result struct {
	Ref           string `json:"ref"`
	Revision      string `json:"revision"`
	Field         string `json:"field"`
	StartLine     int    `json:"start_line"` // from 1; a newline ends its line
	EndLine       int    `json:"end_line"`
	Text          string `json:"text"`
	N             int    `json:"n"` // of the exchange
	PrefixOmitted bool   `json:"prefix_omitted,omitempty"`
	SuffixOmitted bool   `json:"suffix_omitted,omitempty"`
}

// answer returns an answer without results.
func answer(s Status, c Coverage, r Reason) Answer {
	return Answer{Status: s, Coverage: c, Reason: r, Authority: "tool-data", Freshness: "unknown", Results: []Result{}}
}

// Refusal returns the answer for a capture that cannot be had at all.
func Refusal(s Status, r Reason) Answer { return refuse(s, r) }

// refuse returns an answer that says why there is none.
func refuse(s Status, r Reason) Answer { return answer(s, CoverageUnknown, r) }

// room returns the bytes that the results of an answer with a cursor of a length may take, each with its comma.
func room(output, cursor int) int {
	a := answer(NotAuthorized, CoverageComplete, SourceUnavailable) // the longest of each
	a.Cursor = "-"
	return output - size(a) - cursor + len(a.Cursor)
}

// size returns the length of a value's JSON, as encoding/json writes it. Other encoders escape less.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and flags are always written
	}
	return len(data)
}

// quoted returns the bytes that a text takes inside a JSON string. Those of two texts add up.
func quoted(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= utf8.RuneSelf:
			r, width := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && width == 1 || r == '\u2028' || r == '\u2029' {
				n += len(`\u2028`) - width
			}
			i += width - 1
		case b == '"', b == '\\', b == '\n', b == '\r', b == '\t', b == '\b', b == '\f':
			n++
		case b < ' ', b == '<', b == '>', b == '&':
			n += len(`\u003c`) - 1
		}
	}
	return n
}
