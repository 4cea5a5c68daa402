package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFind(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"member", `{"b":{"model":"inner"},"model":"m","a":[{"model":"x"}]}`, `"m"`},
		{"white space", " \r\n\t{ \"model\" :\t\"m\" } \n", `"m"`},
		{"the last of two", `{"model":"a","model":"b"}`, `"b"`},
		{"escaped name", `{"mod\u0065l":"m"}`, `"m"`},
		{"invalid UTF-8", "{\"\xff\":\"\xfe\",\"model\":\"m\"}", `"m"`},
		{"lone surrogate", `{"\udc00":"\ud800","model":"m"}`, `"m"`},
		{"10,000 levels", `{"x":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `,"model":"m"}`, `"m"`},
		{"10,001 levels", `{"model":"m","x":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`, ""},
		{"value cut", `{"model":"m`, ""},
		{"object cut", `{"model":"m"`, ""},
		{"cut behind a comma", `{"model":"m",`, ""},
		{"comma too many", `{"model":"m",}`, ""},
		{"name without value", `{"model"}`, ""},
		{"two objects", `{"model":"m"}{"model":"n"}`, ""},
		{"text behind it", `{"model":"m"} x`, ""},
		{"array", `[{"model":"m"}]`, ""},
		{"byte order mark", "\uFEFF" + `{"model":"m"}`, ""},
		{"null", `null`, ""},
		{"nothing", ``, ""},
		{"not JSON", `model=m`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := JSON(test.body).Find("absent", "model"); string(got[1]) != test.want || got[0] != nil {
				t.Errorf("found %q, want %q", got[1], test.want)
			}
		})
	}
}

// A reader that took the square of the depth would not come back.
func TestFindGivesUpOnDepth(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		body := JSON(`{"model":"m","x":` + strings.Repeat(open, 4<<20))
		if got := body.Find("model"); got[0] != nil {
			t.Errorf("found %q", got[0])
		}
		for v := range JSON("[" + string(body) + "]").Elements() {
			t.Errorf("element of %d bytes", len(v))
		}
	}
}

func TestText(t *testing.T) {
	tests := map[string]string{
		`"m"`: "m", `"\u006d\n"`: "m\n", `"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", "\"\xff\"": "\uFFFD",
		`5`: "", `null`: "", ``: "", `{"a":"b"}`: "",
	}
	for in, want := range tests {
		if got := JSON(in).Text(); got != want {
			t.Errorf("text of %s is %q, want %q", in, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "7": 7, "9007199254740991": 1<<53 - 1,
		"9007199254740992": -1, "99999999999999999999": -1, "1e400": -1, "1e2": -1, "1.0": -1, "1.5": -1, "-1": -1, "-0": -1,
		`"7"`: -1, "null": -1, "true": -1, "": -1,
	}
	for in, want := range tests {
		got, ok := JSON(in).Count()
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("count of %q is %d, %v", in, got, ok)
		}
	}
}

func TestNewUsageKeepsPartsInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 20)
		input, read, write := n.Draw(t, "input"), n.Draw(t, "read"), n.Draw(t, "write")
		u := NewUsage(input, read, write, 1)
		if u.Input != input || u.CacheRead+u.CacheWrite > input {
			t.Fatalf("usage %+v", u)
		}
		if read+write <= input && (u.CacheRead != read || u.CacheWrite != write) {
			t.Fatalf("usage %+v lost a part that fits", u)
		}
	})
}

func TestModelName(t *testing.T) {
	tests := map[string]string{"gpt-5": "gpt-5", "a\xffb": "a\uFFFDb", strings.Repeat("m", 257): ""}
	for in, want := range tests {
		if got := ModelName(in); got != want {
			t.Errorf("model name of %.20q is %q, want %q", in, got, want)
		}
	}
}

func TestSegments(t *testing.T) {
	tests := map[string][]string{
		"":                                 nil,
		"/":                                nil,
		"/v1":                              nil,
		"/v1/messages?beta=true":           {"messages"},
		"//v1//messages/":                  {"messages"},
		"/messages":                        {"messages"},
		"/openai/v1beta1/a/v1/b":           {"a", "v1", "b"},
		"/v1/a%2Fb/%zz":                    {"a/b", "%zz"},
		"/vision/version1/V1":              {"vision", "version1", "V1"},
		"/v1beta/models/g:generateContent": {"models", "g:generateContent"},
	}
	for in, want := range tests {
		if diff := cmp.Diff(want, Segments(in)); diff != "" {
			t.Errorf("segments of %q (-want +got):\n%s", in, diff)
		}
	}
}

func BenchmarkRequestModel(b *testing.B) {
	message := `{"role":"user","content":[{"type":"text","text":"` + strings.Repeat(`a line of source code\n`, 100) + `"}]},`
	body := []byte(`{"messages":[` + strings.Repeat(message, 1<<20/len(message)) + `{}],"model":"claude-opus-5-5","stream":true}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if found := JSON(body).Find("model", "stream"); found[0].Text() != "claude-opus-5-5" || !found[1].True() {
			b.Fatal("model or stream not found")
		}
	}
}
