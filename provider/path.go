package provider

import (
	"net/url"
	"strings"
)

// Segments splits the path of a request into its unescaped segments behind the API's version, without the query:
// [messages count_tokens] for /v1/messages/count_tokens?beta=true. What stands before the version, such as the
// prefix of a gateway, is left out; a path without a version is taken whole. Empty segments do not count.
func Segments(path string) []string {
	path, _, _ = strings.Cut(path, "?")
	var segments []string
	versioned := false
	for s := range strings.SplitSeq(path, "/") {
		switch {
		case s == "":
		case !versioned && isVersion(s):
			versioned, segments = true, nil
		default:
			if plain, err := url.PathUnescape(s); err == nil {
				s = plain
			}
			segments = append(segments, s)
		}
	}
	return segments
}

// isVersion reports whether a segment is an API version such as v1, v1beta or v1beta1.
func isVersion(s string) bool {
	if len(s) < 2 || s[0] != 'v' || s[1] < '0' || s[1] > '9' {
		return false
	}
	for _, c := range []byte(s[2:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
