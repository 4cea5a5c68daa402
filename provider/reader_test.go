package provider

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCanonicalElement holds the sentences of DESIGN 2 that are about no wire.
//
// covers: J-14 part
func TestCanonicalElement(t *testing.T) {
	message := Form{Blocks: "content", Text: "text"}
	for _, test := range []struct {
		name, body string
		form       Form
		want       string
	}{
		{"strings are decoded", `{"a":"\u0041\u00e9\/\ud83d\ude00"}`, Form{}, `{"a":"Aé/😀"}`},
		{"and rewritten minimally", `["\"\\\n\r\t\b\f\u0000\u001F\u007f\u2028"]`, Form{}, `["\"\\\n\r\t\b\f\u0000\u001f` + "\x7f\u2028" + `"]`},
		{"however they were escaped", `["\u0022\u005C\u000a\u000D\u0009\u0008\u000C"]`, Form{}, `["\"\\\n\r\t\b\f"]`},
		{"names too", `{"\u0061\n":1}`, Form{}, `{"a\n":1}`},
		{"a lone surrogate keeps its escape", `["\uD83D","\uDE00\uD83D","\uD83Dx"]`, Form{}, `["\ud83d","\ude00\ud83d","\ud83dx"]`},
		{"invalid UTF-8 stays", "[\"\xff\xed\xa0\x80\\/\"]", Form{}, "[\"\xff\xed\xa0\x80/\"]"},
		{"numbers are kept as spelled", `[1.0,1e2,1E+2,-0,0.10,12345678901234567890]`, Form{}, `[1.0,1e2,1E+2,-0,0.10,12345678901234567890]`},
		{"member order is kept", `{"b":1,"a":2}`, Form{}, `{"b":1,"a":2}`},
		{"no spaces", " { \"a\" :\n[ 1 ,\t2 ] , \"b\":{ } ,\"c\":[ ]\r} ", Form{}, `{"a":[1,2],"b":{},"c":[]}`},
		{"spaces in strings stay", `{"a b":" c "}`, Form{}, `{"a b":" c "}`},
		{"cache_control and nulls are dropped at the top", `{"cache_control":{"x":1},"a":null,"b":1,"cache\u005fcontrol2":2}`, Form{}, `{"b":1,"cache_control2":2}`},
		{"however cache_control is spelled", `{"cache\u005fcontrol":{"x":1}}`, Form{}, `{}`},
		{"and in content blocks", `{"content":[{"a":null,"b":1},{"cache_control":[]},null,"x",[null]]}`, message, `{"content":[{"b":1},{},null,"x",[null]]}`},
		{"never deeper", `{"content":[{"a":{"b":null,"cache_control":1}}],"c":{"d":null,"content":[{"e":null}]}}`, message, `{"content":[{"a":{"b":null,"cache_control":1}}],"c":{"d":null,"content":[{"e":null}]}}`},
		{"content string equals one block", `{"content":"x\/"}`, message, `{"content":[{"type":"text","text":"x/"}]}`},
		{"where the wire has a text type", `{"content":"x"}`, Form{Blocks: "content"}, `{"content":"x"}`},
		{"content in the form of one block", `{"parts":{"a":null,"text":"x"}}`, Form{Blocks: "parts"}, `{"parts":{"text":"x"}}`},
		{"members that the form drops", `{"id":1,"a":{"id":2},"status":"x"}`, Form{Drop: []string{"id", "status"}}, `{"a":{"id":2}}`},
		{"an element that is no object", `[null,"x"]`, message, `[null,"x"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			form, err := canonical([]byte(test.body), test.form)
			if err != nil || string(form) != test.want {
				t.Errorf("%s is %s, %v, want %s", test.body, form, err, test.want)
			}
			r := NewReader([]byte(test.body))
			e := r.Element("", test.form)
			if err := r.End(); err != nil || e.Hash != sha256.Sum256([]byte(test.want)) {
				t.Errorf("identity is not the SHA-256 of that: %v", err)
			}
			if at := test.body[e.Offset : e.Offset+e.Length]; at != strings.Trim(test.body, " ") {
				t.Errorf("it stands at %q", at)
			}
		})
	}
}

// A form is hashed in parts; where they end must not matter.
func TestLongForms(t *testing.T) {
	for _, n := range []int{flushAt - 20, flushAt - 1, flushAt, flushAt + 1, 3*flushAt + 7} {
		for _, piece := range []string{"a", `\n`, `\u0041`, `\/`, "é", `","`, `",1,[null],{"x":2},"`} {
			body := []byte(`["` + strings.Repeat(piece, n/len(piece)) + strings.Repeat("y", n%len(piece)) + `"]`)
			form, err := canonical(body, Form{})
			if err != nil {
				t.Fatal(err)
			}
			r := NewReader(bytes.Join([][]byte{[]byte("["), body, []byte(","), body, []byte(",0]")}, nil))
			var got []Hash
			r.List("", func(at string) { got = append(got, r.Element(at, Form{}).Hash) })
			want := []Hash{sha256.Sum256(form), sha256.Sum256(form), sha256.Sum256([]byte("0"))}
			if diff := cmp.Diff(want, got); diff != "" || r.End() != nil {
				t.Errorf("%d bytes of %s: %s", n, piece, diff)
			}
		}
	}
}

func TestReader(t *testing.T) {
	body := ` {"skipped":{"a":[1]},"text":"x\n","list":[1,{"k":"v"},[2]],"again":{"k":1},"other":5,"wrapped":"w"} `
	r := NewReader([]byte(body))
	got := map[string]any{}
	r.Members(func(name string) {
		switch name {
		case "text":
			got["text"] = r.Text()
		case "list":
			r.List("/list", func(at string) {
				got[at] = string(r.Peek("k")[0])
				if at == "/list/1" {
					e := r.Element(at, Form{})
					got["element"] = body[e.Offset : e.Offset+e.Length]
				}
			})
		case "again":
			mark := r.Mark()
			r.Members(func(name string) { got["first"] = name })
			r.Back(mark)
			r.Members(func(name string) { got["second"] = name })
		case "other":
			r.Members(func(string) { t.Error("a number has members") })
		case "wrapped":
			got["kind"] = r.Kind()
			got["wrapped"] = r.Wrapped("/w", `{"t":`, "}").Hash
		}
	})
	if err := r.End(); err != nil {
		t.Error(err)
	}
	want := map[string]any{
		"text": "x\n", "/list/0": "", "/list/1": `"v"`, "/list/2": "", "element": `{"k":"v"}`, "first": "k", "second": "k",
		"kind": byte('"'), "wrapped": Hash(sha256.Sum256([]byte(`{"t":"w"}`))),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
