package unit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ambit/unit"
)

// talk makes units of a short notation, one a word: the role's first letter, then its parts. "c1" is the call 1, "r1" its
// result, "x" an opaque part, "-" a text; "s", "u", "a" and "t" are the roles. So "u- ac1c2 tr1r2" is a user's text, two
// parallel calls and their results. Refs are e0, e1 and so on.
func talk(text string) (units []unit.Unit) {
	roles := map[byte]unit.Role{'s': unit.System, 'u': unit.User, 'a': unit.Assistant, 't': unit.Tool, '?': "narrator"}
	for i, word := range strings.Fields(text) {
		u := unit.Unit{Ref: fmt.Sprint("e", i), Role: roles[word[0]]}
		for j := 1; j < len(word); j++ {
			switch word[j] {
			case '-':
				u.Parts = append(u.Parts, unit.Part{Kind: unit.Text, Text: word})
			case 'x':
				u.Parts = append(u.Parts, unit.Part{Kind: unit.Opaque, Raw: []byte("{}")})
			case '!':
				u.Parts = append(u.Parts, unit.Part{Kind: "hologram", ID: "1"})
			case 'c', 'r':
				kind := unit.Call
				if word[j] == 'r' {
					kind = unit.Result
				}
				j++
				u.Parts = append(u.Parts, unit.Part{Kind: kind, ID: word[j : j+1], Name: "run", Args: []byte("{}")})
			}
		}
		units = append(units, u)
	}
	return units
}

func TestUnitSays(t *testing.T) {
	u := talk("ac1-c2x")[0]
	if got := u.Calls(); !reflect.DeepEqual(got, []string{"1", "2"}) {
		t.Errorf("calls %q", got)
	}
	if got := u.Results(); got != nil {
		t.Errorf("results %q", got)
	}
	if got := talk("tr2r1")[0].Results(); !reflect.DeepEqual(got, []string{"2", "1"}) {
		t.Errorf("results %q", got)
	}
	if got, want := u.Bytes(), 2*len("run{}")+len("ac1-c2x")+len("{}"); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	u = unit.Unit{Parts: []unit.Part{{Kind: unit.Text, Text: "ä", Raw: []byte(`{"type":"text","text":"ä"}`)}}}
	if u.Bytes() != 2 {
		t.Errorf("%d bytes: the wire's spelling is not what a text says", u.Bytes())
	}
}

func Example() {
	units := talk("u- ac1c2 tr1 tr2 a- u-")
	s, err := unit.Close(units, []bool{false, false, true}, unit.Contract{Results: unit.Next})
	fmt.Println(s.In, err)
	for _, a := range s.Added {
		fmt.Println(a.Ref, a.Why, units[a.By].Ref)
	}
	fmt.Println(unit.Cuts(units, unit.Contract{Begin: unit.User}))
	fmt.Println(unit.Check(units[:3], unit.Contract{}))
	// Output:
	// [false true true true false false] <nil>
	// e1 its_call e2
	// e3 its_result e1
	// [0 5]
	// a call has no result (call "2"): "e1"
}
