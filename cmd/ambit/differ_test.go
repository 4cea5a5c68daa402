package main

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSharedPrefix(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 0}, {"", "b", 0}, {"abc", "abd", 2}, {"abc", "abc", 3}, {"abc", "abcd", 3}, {"xbc", "abc", 0}} {
		if got := sharedPrefix([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("sharedPrefix(%q, %q) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestPointerAt(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"one"},{"role":"user","content":[{"text":"two ~ / three"}]}],"a/b~c":{"d":7}}`
	for part, want := range map[string]string{
		`{"model`:   "",
		`"m"`:       "/model",
		`one`:       "/messages/0/content",
		`two`:       "/messages/1/content/0/text",
		`/ three`:   "/messages/1/content/0/text",
		`7`:         "/a~1b~0c/d",
		`[{"role"`:  "/messages",
		`{"d"`:      "/a~1b~0c",
		`"a/b~c":{`: "/a~1b~0c",
	} {
		at := strings.Index(body, part)
		if got := pointerAt([]byte(body), at); got != want {
			t.Errorf("%q at %d stands in %q, want %q", part, at, got, want)
		}
	}
	for _, c := range []struct {
		body string
		at   int
	}{{"", 0}, {body, len(body)}, {body, len(body) + 10}, {"no JSON", 3}, {`{"a":`, 4}, {`{"a":"b`, 6}, {"[1] ", 3}, {"\xff\xfe", 1}, {strings.Repeat("[", 20000), 19999}} {
		if got := pointerAt([]byte(c.body), c.at); got != "" {
			t.Errorf("%.20q at %d stands in %.40q, want none", c.body, c.at, got)
		}
	}
}

// TestPointerAtLaw: at every offset of every text it answers, and in a JSON body what it answers is a place in it.
func TestPointerAtLaw(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Int(), func(n int) any { return n }), rapid.Just[any](nil))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(a []any) any { return a }),
			rapid.Map(rapid.MapOfN(rapid.String(), value(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := value(3).Draw(t, "value")
		body, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for at := range len(body) + 2 {
			if p := pointerAt(body, at); !leads(doc, p) {
				t.Fatalf("%s at %d: %q leads nowhere", body, at, p)
			}
		}
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		cut := rapid.IntRange(0, len(body)).Draw(t, "cut")
		for _, odd := range [][]byte{raw, body[:cut], append(body[:cut:cut], raw...)} {
			for at := range len(odd) + 2 {
				pointerAt(odd, at)
			}
		}
	})
}

// leads reports whether a JSON pointer leads to a value.
func leads(v any, pointer string) bool {
	if pointer == "" {
		return true
	}
	token, rest, _ := strings.Cut(pointer[1:], "/")
	if rest != "" || strings.HasSuffix(pointer[1:], "/") {
		rest = "/" + rest
	}
	switch v := v.(type) {
	case map[string]any:
		member, ok := v[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		return ok && leads(member, rest)
	case []any:
		for i := range v {
			if s, _ := json.Marshal(i); string(s) == token {
				return leads(v[i], rest)
			}
		}
	}
	return false
}
