package provider

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces are of strings, as JSON spells them.
var pieces = []string{
	"a", "ü", "한", "😀", " ", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00fc`, `\ud83d`, `\ude00`, `\ud83d\ude00`, `\uD83D`, `\u0000`, `\u001F`, `\u2028`,
	`\b`, `\f`, `\t`, `\r`, "\xff", "\xed", "\xed\x9f", "\x7f", "<", "&",
}

func TestTextsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spelled := `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), "") + `"`
		want, err := AppendMinimal(nil, JSON(spelled))
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendText(nil, DecodeText(JSON(spelled))); string(got) != string(want) {
			t.Fatalf("%q says %q and comes back as %q, want %q", spelled, DecodeText(JSON(spelled)), got, want)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.SampledFrom([]string{"", "\xed\xa0\xbd", "\xed\xa0\xbd\xed\xb8\x80", "\xed\xb8\x80x"}).Draw(t, "surrogates")
		spelled := AppendText([]byte("x"), text)
		if got, err := AppendMinimal(nil, spelled[1:]); err != nil || string(got) != string(spelled[1:]) {
			t.Fatalf("%q is written as %q, whose canonical form is %q, %v", text, spelled, got, err)
		}
		if again := AppendText(nil, DecodeText(spelled[1:])); string(again) != string(spelled[1:]) {
			t.Fatalf("%q comes back as %q", spelled, again)
		}
	})
}

func TestDecodeText(t *testing.T) {
	tests := map[string]string{
		`"a\ud83d\ude00\u00fc\n\/"`: "a😀ü\n/", `"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd😀", `"\ude00"`: "\xed\xb8\x80", `""`: "", `5`: "", `"`: "",
	}
	for spelled, want := range tests {
		if got := DecodeText(JSON(spelled)); got != want {
			t.Errorf("%s says %q, want %q", spelled, got, want)
		}
	}
}

func TestAppendWithout(t *testing.T) {
	tests := map[string]string{
		`{"a":1,"b":{"a":2},"c":"\/"}`: `{"b":{"a":2},"c":"/"}`, `{ "a" : 1 }`: `{}`, `{"b":1,"\u0061":null}`: `{"b":1}`, `[{"a":1}]`: `[{"a":1}]`, `{}`: `{}`,
	}
	for v, want := range tests {
		if got, err := AppendWithout([]byte("x"), JSON(v), "a"); err != nil || string(got) != "x"+want {
			t.Errorf("%s without a is %s, %v", v, got, err)
		}
	}
	for _, v := range []string{``, `{`, `{"a":1,"a":2}`, `{}x`, `{"b"}`} {
		if got, err := AppendWithout(nil, JSON(v), "a"); !errors.Is(err, ErrNotUnderstood) {
			t.Errorf("%s gives %s, %v", v, got, err)
		}
		if _, err := RestOf(JSON(v)); !errors.Is(err, ErrNotUnderstood) {
			t.Errorf("the rest of %s is %v", v, err)
		}
	}
}

func TestRestOf(t *testing.T) {
	rest, err := RestOf(JSON(`{"a": 1, "\ud800": [ 2 ], "b":3, "c":"x" }`), "a", "b")
	if err != nil || len(rest) != 2 || rest[0].Name != "\xed\xa0\x80" || string(rest[0].Value) != "[ 2 ]" || rest[1].Name != "c" {
		t.Errorf("the rest is %+v, %v", rest, err)
	}
	if _, err := RestOf(JSON(`[]`)); !errors.Is(err, ErrNotUnderstood) {
		t.Errorf("the rest of an array: %v", err)
	}
}

func BenchmarkAppendText(b *testing.B) {
	text := strings.Repeat("\tif err := s.open(\"file.go\"); err != nil {\n", 1<<20/43)
	b.SetBytes(int64(len(text)))
	var dst []byte
	for b.Loop() {
		dst = AppendText(dst[:0], text)
	}
}
