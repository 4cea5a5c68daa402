package unit_test

import (
	"errors"
	"reflect"
	"testing"

	"ambit/unit"
)

// wires are contracts as the known protocols have them, and two that take every rule to its end.
var wires = map[string]unit.Contract{
	"none":      {},
	"messages":  {Bound: true, Results: unit.Next, Begin: unit.User, System: unit.AfterUser},
	"chat":      {Results: unit.Directly},
	"responses": {Bound: true},
	"generate":  {Bound: true, Results: unit.Directly, Together: true, Begin: unit.User, System: unit.Leading},
	"stored":    {Complete: true},
	"strict":    {Bound: true, Results: unit.Directly, Together: true, Alternate: true, Begin: unit.User, System: unit.Leading},
	"loose":     {Results: unit.Next, Together: true, System: unit.Leading},
}

// Each rule by itself, and then which of several is named.
// covers: V-02 part
func TestCheck(t *testing.T) {
	tests := []struct {
		name, talk string
		c          unit.Contract
		want       string // empty for none
	}{
		{"whole", "s- u- ac1c2 tr2r1 a- u-", wires["messages"], ""},
		{"nothing", "", wires["strict"], ""},
		{"missing", "u- ac1 u-", unit.Contract{}, `a call has no result (call "1"): "e1"`},
		{"one of two missing", "u- ac1c2 tr2", unit.Contract{}, `a call has no result (call "1"): "e1"`},
		{"without call", "u- tr1 a-", unit.Contract{}, `a result has no call (call "1"): "e1"`},
		{"two calls", "u- ac1 tr1 ac1 tr1", unit.Contract{}, `two calls have one id (call "1"): "e3", "e1"`},
		{"two calls in one", "u- ac1c1 tr1", unit.Contract{}, `two calls have one id (call "1"): "e1"`},
		{"two results", "u- ac1 tr1 tr1", unit.Contract{}, `a call has two results (call "1"): "e3", "e2"`},
		{"backwards", "u- tr1 ac1", unit.Contract{}, `a result does not stand behind its call (call "1"): "e1", "e2"`},
		{"within", "u- ac1r1", unit.Contract{}, `a result does not stand behind its call (call "1"): "e1"`},
		{"later", "u- ac1 a- u- a- tr1", unit.Contract{}, ""},
		{"later, but next", "u- ac1 a- u- a- tr1", wires["messages"], `a result stands too far from its call (call "1"): "e5", "e1"`},
		{"text first, next", "u- ac1 u- tr1", wires["messages"], ""},
		{"text first, directly", "u- ac1 u- tr1", wires["chat"], `a result stands too far from its call (call "1"): "e3", "e1"`},
		{"text among results, directly", "u- ac1c2 tr1 u- tr2", wires["chat"], `a result stands too far from its call (call "2"): "e4", "e1"`},
		{"answer goes on", "u- ac1 a- tr1", wires["chat"], ""},
		{"system between", "u- ac1 s- tr1", unit.Contract{Results: unit.Next}, `a result stands too far from its call (call "1"): "e3", "e1"`},
		{"system among", "u- ac1c2 tr1 s- tr2", unit.Contract{Results: unit.Next}, `a result stands too far from its call (call "2"): "e4", "e1"`},
		{"directly, from the first unit", "ac1 u- tr1", wires["chat"], `a result stands too far from its call (call "1"): "e2", "e0"`},
		{"scattered, from the first unit", "ac1c2 tr1 u- tr2", wires["loose"], `other units stand between the results of one answer (call "1"): "e1", "e3"`},
		{"system behind the first unit", "a- s-", unit.Contract{System: unit.Leading}, `a system unit may not stand here: "e1", "e0"`},
		{"scattered", "u- ac1c2 tr1 u- tr2", wires["loose"], `other units stand between the results of one answer (call "1"): "e2", "e4"`},
		{"together", "u- ac1 ac2 tr2 tr1", wires["generate"], ""},
		{"in a row", "u- u-", unit.Contract{Alternate: true}, `one side speaks twice in a row: "e1", "e0"`},
		{"in a row around the system", "u- s- u- a-", unit.Contract{Alternate: true}, `one side speaks twice in a row: "e2", "e0"`},
		{"in turns", "u- a- u- s- a-", unit.Contract{Alternate: true}, ""},
		{"beginning", "s- a- u-", wires["messages"], `a conversation may not begin with this role: "e1"`},
		{"only system", "s- s-", wires["messages"], `a conversation may not begin with this role: "e1"`},
		{"system leads", "s- s- u- a-", wires["generate"], ""},
		{"system in the middle", "s- u- s- a-", wires["generate"], `a system unit may not stand here: "e2", "e1"`},
		{"system behind user", "u- s- a- u-", wires["messages"], ""},
		{"system behind system", "u- s- s- a- u-", wires["messages"], ""},
		{"system behind results", "u- ac1 tr1 s-", wires["messages"], ""},
		{"system behind assistant", "u- a- s- u-", wires["messages"], `a system unit may not stand here: "e2", "e1"`},
		{"unknown parts and roles", "u! ?! a! t!", unit.Contract{}, ""},
		{"the first of several", "a- ac1 u- s- s-", wires["strict"], `a conversation may not begin with this role: "e0"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := unit.Check(talk(test.talk), test.c)
			var e *unit.ContractError
			switch {
			case err == nil && test.want != "", err != nil && err.Error() != test.want:
				t.Errorf("got %v, want %s", err, test.want)
			case err != nil && (!errors.As(err, &e) || e.Refs[0] != talk(test.talk)[e.At].Ref):
				t.Errorf("%#v does not name the unit first", err)
			}
		})
	}
}

// covers: V-02 part
func TestCuts(t *testing.T) {
	tests := []struct {
		name, talk string
		c          unit.Contract
		want       []int
	}{
		{"any place between groups", "u- a- u- ac1 tr1 a-", unit.Contract{}, []int{0, 1, 2, 3, 5}},
		{"only where a user speaks", "u- a- u- ac1 tr1 a- u-", wires["messages"], []int{0, 2, 6}},
		{"leading system stays with what follows", "s- u- s- a- u-", wires["messages"], []int{0, 1, 4}},
		{"no answer in two", "u- ax ac1 tr1", wires["responses"], []int{0, 1}},
		{"not between parallel calls", "ac1 ac2 tr1 tr2 u-", unit.Contract{}, []int{0, 4}},
		{"behind a broken group", "u- ac1 u- ac2 tr2 u-", wires["messages"], []int{2, 5}},
		{"an id used again", "u- ac1 tr1 u- ac1 tr1", wires["messages"], []int{3}},
		{"complete", "u- a- u-", wires["stored"], []int{0}},
		{"complete and broken", "u- ac1 u-", wires["stored"], nil},
		{"nothing", "", wires["messages"], nil},
	}
	for _, test := range tests {
		if got := unit.Cuts(talk(test.talk), test.c); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: cuts %v, want %v", test.name, got, test.want)
		}
	}
}
