package provider

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// canonical returns the canonical form of a body taken as one element.
func canonical(body []byte, f Form) ([]byte, error) {
	r := NewReader(body)
	var form []byte
	r.Show = func(b []byte) { form = bytes.Clone(b) }
	r.Element("", f)
	return form, r.End()
}

// model is what canonical must give for a value whose top drops nothing, written as plainly as it can be.
func model(body []byte) ([]byte, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	form, ok := modelValue(dec)
	if !ok {
		return nil, false
	}
	_, err := dec.ReadToken()
	return form, err == io.EOF
}

func modelValue(dec *jsontext.Decoder) ([]byte, bool) {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		v, err := dec.ReadValue()
		return modelScalar(v), err == nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	seen := map[string]bool{}
	form := []byte{byte(kind)}
	for first := true; dec.PeekKind() != '}' && dec.PeekKind() != ']'; first = false {
		if !first {
			form = append(form, ',')
		}
		if kind == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return nil, false
			}
			plain := modelScalar(name)
			if seen[string(plain)] {
				return nil, false
			}
			seen[string(plain)] = true
			form = append(append(form, plain...), ':')
		}
		v, ok := modelValue(dec)
		if !ok {
			return nil, false
		}
		form = append(form, v...)
	}
	end, err := dec.ReadToken()
	if err != nil {
		return nil, false
	}
	return append(form, byte(end.Kind())), true
}

// modelScalar decodes a string into UTF-16 and bytes that are no UTF-8, and encodes it again.
func modelScalar(v []byte) []byte {
	if len(v) == 0 || v[0] != '"' {
		return bytes.Clone(v)
	}
	out := []byte{'"'}
	var units []uint16
	flush := func() {
		for i := 0; i < len(units); i++ {
			r := rune(units[i])
			if utf16.IsSurrogate(r) {
				if i+1 < len(units) && utf16.DecodeRune(r, rune(units[i+1])) != utf8.RuneError {
					out = utf8.AppendRune(out, utf16.DecodeRune(r, rune(units[i+1])))
					i++
				} else {
					out = fmt.Appendf(out, `\u%04x`, r)
				}
				continue
			}
			if at := strings.IndexRune("\"\\\n\r\t\b\f", r); at >= 0 {
				out = append(out, '\\', `"\nrtbf`[at])
			} else if r < ' ' {
				out = fmt.Appendf(out, `\u%04x`, r)
			} else {
				out = utf8.AppendRune(out, r)
			}
		}
		units = nil
	}
	for in := string(v[1 : len(v)-1]); in != ""; {
		r, size := utf8.DecodeRuneInString(in)
		switch {
		case r == utf8.RuneError && size == 1:
			flush()
			out = append(out, in[0])
		case r == '\\' && in[1] == 'u':
			var unit uint16
			fmt.Sscanf(in[2:6], "%x", &unit)
			units, size = append(units, unit), 6
		case r == '\\':
			c := in[1]
			if at := strings.IndexByte("nrtbf", c); at >= 0 {
				c = "\n\r\t\b\f"[at]
			}
			units, size = append(units, uint16(c)), 2
		default:
			flush()
			units = utf16.AppendRune(nil, r)
			flush()
		}
		in = in[size:]
	}
	flush()
	return append(out, '"')
}

func checkModel(t interface{ Fatalf(string, ...any) }, body []byte) {
	want, ok := model(body)
	r := NewReader(body)
	r.s.out.off = 0
	r.s.out.hash = nil
	r.s.value()
	err := r.End()
	if (err == nil) != ok || err != nil && !errors.Is(err, ErrNotUnderstood) {
		t.Fatalf("%q: error %v, the model says %v", body, err, ok)
	}
	if ok && !bytes.Equal(r.s.out.buf, want) {
		t.Fatalf("%q is %q, want %q", body, r.s.out.buf, want)
	}
	h := NewReader(body)
	if sum := h.element("", h.Skip).Hash; ok && sum != sha256.Sum256(want) {
		t.Fatalf("%q has another hash than its form", body)
	}
	if again, _ := model(want); ok && !bytes.Equal(again, want) {
		t.Fatalf("the form %q of %q has the form %q", want, body, again)
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+3,true,false,null,"x"],"\u0061":{}}`, `{"a":1,"b":{"a":1,"a":2}}`, `"\ud83d\ude00\ud83d\u0041\ude00\/\b\u000a\u001F"`,
		"\"\xff\xed\xa0\x80\\ud800\"", `{"\ud800":1,"\ud801":2}`, `[1,]`, `{"a":1,}`, `{,}`, `01`, `-`, `1.`, `1e`, `nul`, `"\x"`, `"\u12"`, `"` + "\n" + `"`,
		"\uFEFF{}", `{} {}`, "", " ", `"a`, `"a\`, `[[[[`, `{"a" 1}`, `{1:2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkModel(t, body) })
}

func TestScannerDrawn(t *testing.T) {
	pieces := []string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"`, `"a"`, `"\u0061"`, `""`, `\`, `\u`, `d83d`, `\ud83d`, `\uDE00`, `\/`, `\n`, `1`, `-`, `.`, `e`, `0`,
		`true`, `null`, ` `, "\n", "é", "😀", "\xff", "\x01", "plain text of some length",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkModel(t, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")))
	})
	rapid.Check(t, func(t *rapid.T) {
		inside := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces[10:])).Draw(t, "inside"), "")
		checkModel(t, []byte(`["`+inside+`"]`))
	})
}

func TestSpecial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.SampledFrom([]byte{'a', 'b', '"', '\\', '!', '#', '[', ']', 0x1f, 0x20, 0x7f, 0x80, 0xa2, 0xdc, 0xff, 0})).Draw(t, "bytes")
		i := rapid.IntRange(0, len(b)).Draw(t, "from")
		want := i
		for want < len(b) && b[want] >= ' ' && b[want] != '"' && b[want] != '\\' {
			want++
		}
		if got := special(b, i); got != want {
			t.Fatalf("special of %q from %d is %d, want %d", b, i, got, want)
		}
	})
}

func nested(levels int) []byte {
	return []byte(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

// linear is the time that any test of a body of a few megabytes may take; what takes the square takes hours.
const linear = 20 * time.Second

func understood(t *testing.T, body []byte) bool {
	t.Helper()
	start := time.Now()
	_, err := canonical(body, Form{})
	if took := time.Since(start); took > linear {
		t.Errorf("a body of %d bytes took %v", len(body), took)
	}
	return err == nil
}

// TestNotUnderstood holds the sentences of DESIGN 2 about what is understood.
//
// covers: J-14 part
func TestNotUnderstood(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+":0,", i)
		}
		return "{" + b.String() + `"last":0`
	}
	tests := []struct {
		name, body string
		want       bool
	}{
		{"lone surrogate", `"\ud800"`, true},
		{"invalid UTF-8", "\"\xff\"", true},
		{"text that is no JSON", `hello`, false},
		{"nothing", ``, false},
		{"two values", `{}{}`, false},
		{"duplicate names", `{"a":1,"b":2,"a":3}`, false},
		{"duplicate names, one escaped", `{"a":1,"\u0061":3}`, false},
		{"duplicate names that are a lone surrogate", `{"\ud800":1,"\uD800":3}`, false},
		{"names that differ in a lone surrogate only", `{"\ud800":1,"\ud801":3}`, true},
		{"name that spells an escape", `{"\ud800":1,"\\ud800":3}`, true},
		{"the same name in two objects", `{"a":{"a":1},"b":{"a":1}}`, true},
		{"duplicate names inside", `{"a":[{"b":{"c":1,"c":2}}]}`, false},
		{"duplicate names in what is dropped", `{"cache_control":{"c":1,"c":2}}`, false},
		{"10,000 levels", string(nested(10_000)), true},
		{"10,001 levels", string(nested(10_001)), false},
		{"10,000 levels of objects", strings.Repeat(`{"a":`, 9_999) + "{}" + strings.Repeat("}", 9_999), true},
		{"10,001 levels of objects", strings.Repeat(`{"a":`, 10_000) + "{}" + strings.Repeat("}", 10_000), false},
		{"4,000,000 levels", string(nested(4_000_000)), false},
		{"100,000 names", many(100_000, `"name%d"`) + "}", true},
		{"100,000 names and one twice", many(100_000, `"name%d"`) + `,"name7":1}`, false},
		{"100,000 escaped names", many(100_000, `"\u0061%d"`) + "}", true},
		{"sixteen names", many(15, `"n%d"`) + "}", true},
		{"sixteen names and one twice", many(15, `"n%d"`) + `,"n14":1}`, false},
		{"many names around many names", many(100, `"n%d"`) + `,"in":` + many(100, `"n%d"`) + `},"n99":1}`, false},
		{"many names behind many names", many(100, `"n%d"`) + `,"in":` + many(100, `"n%d"`) + `},"n100":1}`, true},
		{"many large objects", "[" + strings.Repeat(many(20, `"n%d"`)+"},", 20_000) + many(100_000, `"n%d"`) + "}," + strings.Repeat(many(20, `"n%d"`)+"},", 20_000) + "0]", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := understood(t, []byte(test.body)); got != test.want {
				t.Errorf("understood: %v", got)
			}
		})
	}
	t.Run("the reason is said", func(t *testing.T) {
		_, err := canonical([]byte(`{"a":1,"a":2}`), Form{})
		if want := "not understood: a name that stands twice at byte 10"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
}

// The fast reading of an object's members must find what the careful one finds.
func TestPeek(t *testing.T) {
	names := []string{"a", "b", "type"}
	values := []string{`1`, `"x\"}"`, `{"a":"]","b":[1,{}]}`, `[{"a":1},"\\"]`, `null`, `-1.5e3`, `true`, `""`}
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		spelled := rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061b"`, `"ty\u0070e"`, `"{"`}) // five names
		for _, name := range rapid.SliceOfNDistinct(spelled, 0, 5, rapid.ID).Draw(t, "names") {
			members = append(members, space.Draw(t, "s")+name+space.Draw(t, "s")+":"+space.Draw(t, "s")+rapid.SampledFrom(values).Draw(t, "value")+space.Draw(t, "s"))
		}
		body := space.Draw(t, "s") + "{" + strings.Join(members, ",") + "}" + space.Draw(t, "s")
		if !json.Valid([]byte(body)) {
			t.Fatalf("%q is no JSON", body)
		}
		if _, ok := model([]byte(body)); !ok {
			t.Fatalf("%q is not understood", body)
		}
		if got, want := peek([]byte(body), names), JSON(body).Find(names...); !reflect.DeepEqual(got, want) {
			t.Fatalf("in %q found %q, want %q", body, got, want)
		}
	})
}

func FuzzPeek(f *testing.F) {
	f.Add([]byte(`{"a":{"b":"c\"`))
	f.Add([]byte(`{"a"`))
	f.Add([]byte(`{"a":"\`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range peek(body, []string{"a", "b"}) {
			if len(v) > len(body) {
				t.Fatalf("%q holds %q", body, v)
			}
		}
	})
}
