package unit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ambit/unit"
)

// choose marks the units of these indexes.
func choose(n int, at ...int) []bool {
	chosen := make([]bool, n)
	for _, i := range at {
		chosen[i] = true
	}
	return chosen
}

// covers: V-01 part
// covers: V-02 part
func TestClose(t *testing.T) {
	tests := []struct {
		name, talk string
		chosen     []int
		c          unit.Contract
		want       string // what was added, or the refusal
	}{
		{"nothing", "u- ac1 tr1", nil, unit.Contract{}, ""},
		{"a text alone", "u- ac1 tr1 a-", []int{3}, unit.Contract{}, ""},
		{"a call", "u- ac1 tr1 a-", []int{1}, unit.Contract{}, "2 its_result 1"},
		{"a result", "u- ac1 tr1 a-", []int{2}, unit.Contract{}, "1 its_call 2"},
		{"parallel calls", "u- ac1c2 tr1 u- tr2", []int{2}, unit.Contract{}, "1 its_call 2; 4 its_result 1"},
		{"parallel calls in two units", "u- ac1 a- ac2 tr1 tr2", []int{4}, unit.Contract{}, "1 its_call 4; 3 same_answer 1; 5 its_result 3"},
		{"calls one after another", "u- ac1 tr1 ac2 tr2", []int{2}, unit.Contract{}, "1 its_call 2"},
		{"reasoning", "u- ax a- ac1 tr1", []int{4}, wires["responses"], "1 same_answer 3; 2 same_answer 3; 3 its_call 4"},
		{"reasoning that is not bound", "u- ax a- ac1 tr1", []int{4}, wires["chat"], "3 its_call 4"},
		{"an image", "ux u- a-", []int{1}, wires["messages"], ""},
		{"results of two calls in one", "u- ac1 u- ac2 tr1r2", []int{1}, unit.Contract{}, "3 its_call 4; 4 its_result 1"},
		{"complete", "s- u- a-", []int{1}, wires["stored"], "0 complete -1; 2 complete -1"},
		{"complete, nothing chosen", "u- a-", nil, wires["stored"], "0 complete -1; 1 complete -1"},
		{"missing result", "u- ac1 u-", []int{1}, unit.Contract{}, `a call has no result (call "1"): "e1"`},
		{"missing parallel result", "u- ac1c2 tr1 u-", []int{2}, unit.Contract{}, `a call has no result (call "2"): "e1"`},
		{"missing, and not chosen", "u- ac1 u-", []int{0, 2}, unit.Contract{}, ""},
		{"missing, under a complete context", "u- ac1 u-", []int{0}, wires["stored"], `a call has no result (call "1"): "e1"`},
		{"result alone", "u- tr1 u-", []int{1}, unit.Contract{}, `a result has no call (call "1"): "e1"`},
		{"two calls", "ac1 tr1 ac1 tr1", []int{0}, unit.Contract{}, `two calls have one id (call "1"): "e2", "e0"`},
		{"two results", "ac1 tr1 tr1", []int{0}, unit.Contract{}, `a call has two results (call "1"): "e2", "e1"`},
		{"result first", "tr1 ac1", []int{1}, unit.Contract{}, `a result does not stand behind its call (call "1"): "e0", "e1"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			units := talk(test.talk)
			s, err := unit.Close(units, choose(len(units), test.chosen...), test.c)
			var got []string
			for _, a := range s.Added {
				got = append(got, fmt.Sprint(a.At, " ", a.Why, " ", a.By))
				if a.Ref != units[a.At].Ref {
					t.Errorf("%+v has another's ref", a)
				}
			}
			if err != nil {
				got = append(got, err.Error())
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
			if err != nil && s.In != nil {
				t.Errorf("a refusal comes with %v", s.In)
			}
		})
	}
}

// covers: V-03 part
func TestGroups(t *testing.T) {
	units := talk("s- u- ax ac1c2 tr1 u- tr2 a- u- ac3 u-")
	tests := map[string][][]int{
		"chat":      {{0}, {1}, {2}, {3, 4, 6}, {5}, {7}, {8}, {9}, {10}},
		"responses": {{0}, {1}, {2, 3, 4, 6}, {5}, {7}, {8}, {9}, {10}},
		"stored":    {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
	}
	for name, want := range tests {
		if got := unit.Groups(units, wires[name]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := unit.Groups(nil, wires["stored"]); got != nil {
		t.Errorf("groups of nothing are %v", got)
	}
}
