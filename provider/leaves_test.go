package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAddLeaves(t *testing.T) {
	named := map[string]bool{"id": true}
	for in, want := range map[string][]string{
		`"x"`: {"/r x"}, `7`: nil, `true`: nil, `null`: nil, ``: nil, `""`: nil, `{}`: nil,
		`{"a/b~":["x",{"c":"y"},"",[[]]],"id":{"deep":"no"},"n":1}`: {"/r/a~1b~0/0 x", "/r/a~1b~0/1/c y"},
		`{"type":"image","data":"AAAA"}`:                            nil,
		`{"data":"AAAA","mimeType":"image/png"}`:                    {"/r/mimeType image/png"},
		`{"data":"AAAA","mimeType":"text/plain"}`:                   {"/r/data AAAA", "/r/mimeType text/plain"},
		`{"data":"a b","type":"image"}`:                             {"/r/data a b"},
		`{"data":"AAAA"}`:                                           {"/r/data AAAA"},
		`{"type":"text","text":"x"}`:                                {"/r/text x"},
		`{"type":"file","text":"x"}`:                                {"/r/type file", "/r/text x"},
		`{"u":"data:image/png;base64,AAAA","v":"data: none"}`:       {"/r/v data: none"},
		`{"encrypted_content":"e","cache_control":{"type":"e"},"in":{"cache_control":{"x":"y"}}}`: {"/r/in/cache_control/x y"},
		`{"cache_control":"no-cache"}`: {"/r/cache_control no-cache"},
	} {
		var m Message
		m.AddLeaves("/r", SaidTool, JSON(in), named)
		var got []string
		for _, text := range m.Texts {
			got = append(got, text.Field+" "+text.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" || m.Unknown {
			t.Errorf("%s, unknown %v (-want +got):\n%s", in, m.Unknown, diff)
		}
	}
}

// Pointers can be as long as a body, and there can be as many: then it is not known what is there.
func TestManyLongPointers(t *testing.T) {
	texts := strings.TrimSuffix(strings.Repeat(`"x",`, 100_000), ",")
	for name, in := range map[string]string{
		"a long name": fmt.Sprintf(`{"%s":[%s]}`, strings.Repeat("n", 100_000), texts),
		"deep":        strings.Repeat(`{"name":`, 9_000) + "[" + texts + "]" + strings.Repeat("}", 9_000),
	} {
		start := time.Now()
		var m Message
		m.AddLeaves("", SaidTool, JSON(in), nil)
		if took := time.Since(start); !m.Unknown || took > linear {
			t.Errorf("%s: unknown %v, took %v", name, m.Unknown, took)
		}
	}
	var m Message
	if m.AddLeaves("/messages/1000/content/10/content", SaidTool, JSON("["+texts+"]"), nil); m.Unknown || len(m.Texts) != 100_000 {
		t.Errorf("plain texts: unknown %v, %d of them", m.Unknown, len(m.Texts))
	}
}

func TestObject(t *testing.T) {
	o := JSON(`{"a":"1","b":{"c":["x"]},"d":"","e":[{"f":1}],"a":"2"}`).Object()
	if got := o.Take("a").Text() + o.Take("a").Text(); got != "2" {
		t.Errorf("a is %q", got)
	}
	if !o.Rest(map[string]bool{"b": true}) || !o.Rest(map[string]bool{"a": true}) || o.Rest(map[string]bool{"a": true, "b": true}) {
		t.Error("the rest is something else")
	}
	for _, in := range []string{`[]`, ``, `{"a":"x"`, `{"a":"x"}y`, `5`} {
		if o := JSON(in).Object(); o.Take("a") != nil || o.Rest(nil) {
			t.Errorf("%q is an object", in)
		}
	}
}

func TestHoldsText(t *testing.T) {
	for in, want := range map[string]bool{
		`"x"`: true, `""`: false, `5`: false, ``: false, `{"name":[1,{"a":null}]}`: false, `[[["x"]]]`: true, `{"a":"","b":{"c":"x"}}`: true,
	} {
		if got := JSON(in).HoldsText(); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}
