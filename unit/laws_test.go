package unit_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ambit/unit"
)

// draw draws any units: sound conversations, and such in which anything may be missing, repeated or out of place.
func draw(t *rapid.T) []unit.Unit {
	if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
		return drawSound(t)
	}
	roles := []unit.Role{unit.System, unit.User, unit.Assistant, unit.Assistant, unit.Tool, unit.Tool, "narrator", ""}
	kinds := []unit.PartKind{unit.Text, unit.Call, unit.Call, unit.Result, unit.Result, unit.Opaque, "hologram", ""}
	units := make([]unit.Unit, rapid.IntRange(0, 12).Draw(t, "units"))
	for i := range units {
		units[i].Ref, units[i].Role = fmt.Sprint("e", i), rapid.SampledFrom(roles).Draw(t, "role")
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			units[i].Parts = append(units[i].Parts, unit.Part{
				Kind: rapid.SampledFrom(kinds).Draw(t, "part"), ID: rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id"),
			})
		}
	}
	return units
}

// drawSound draws a conversation as an agent has it, and then breaks it in a few places.
func drawSound(t *rapid.T) (units []unit.Unit) {
	add := func(role unit.Role, parts ...unit.Part) { units = append(units, unit.Unit{Role: role, Parts: parts}) }
	id := 0
	for range rapid.IntRange(0, 5).Draw(t, "turns") {
		switch rapid.IntRange(0, 3).Draw(t, "turn") {
		case 0:
			add(unit.User, unit.Part{Kind: unit.Text})
		case 1:
			add(unit.System, unit.Part{Kind: unit.Text})
		case 2:
			add(unit.Assistant, unit.Part{Kind: unit.Text})
		default:
			if rapid.Bool().Draw(t, "reasoning") {
				add(unit.Assistant, unit.Part{Kind: unit.Opaque})
			}
			var calls []string
			for range rapid.IntRange(1, 3).Draw(t, "calls") {
				id++
				calls = append(calls, fmt.Sprint(id))
			}
			one := rapid.Bool().Draw(t, "one unit")
			for _, kind := range []unit.PartKind{unit.Call, unit.Result} {
				role := map[unit.PartKind]unit.Role{unit.Call: unit.Assistant, unit.Result: unit.Tool}[kind]
				var parts []unit.Part
				for _, id := range rapid.Permutation(calls).Draw(t, "order") {
					parts = append(parts, unit.Part{Kind: kind, ID: id})
					if !one {
						add(role, parts...)
						parts = nil
					}
				}
				if one {
					add(role, parts...)
				}
			}
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "breaks") {
		if len(units) == 0 {
			break
		}
		at := rapid.IntRange(0, len(units)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "break") {
		case 0:
			units = slices.Delete(units, at, at+1)
		case 1:
			units = slices.Insert(units, at, units[at])
		default:
			to := rapid.IntRange(0, len(units)-1).Draw(t, "to")
			units[at], units[to] = units[to], units[at]
		}
	}
	for i := range units {
		units[i].Ref = fmt.Sprint("e", i)
	}
	return units
}

func drawContract(t *rapid.T) unit.Contract {
	return wires[rapid.SampledFrom(slices.Sorted(maps.Keys(wires))).Draw(t, "contract")]
}

// requires says, in the slowest and plainest way, whether unit i requires unit j.
func requires(units []unit.Unit, i, j int, c unit.Contract) bool {
	share := slices.ContainsFunc(slices.Concat(units[i].Calls(), units[i].Results()), func(id string) bool {
		return slices.Contains(slices.Concat(units[j].Calls(), units[j].Results()), id)
	})
	return share || c.Complete || sameAnswer(units, min(i, j), max(i, j), c)
}

func sameAnswer(units []unit.Unit, i, j int, c unit.Contract) bool {
	for _, u := range units[i : j+1] {
		if u.Role != unit.Assistant {
			return false
		}
	}
	if units[i].Calls() != nil && units[j].Calls() != nil {
		return true
	}
	first, last := i, j
	for first > 0 && units[first-1].Role == unit.Assistant {
		first--
	}
	for last+1 < len(units) && units[last+1].Role == unit.Assistant {
		last++
	}
	return c.Bound && slices.ContainsFunc(units[first:last+1], func(u unit.Unit) bool {
		return u.Raw != nil || slices.ContainsFunc(u.Parts, func(p unit.Part) bool { return p.Kind == unit.Opaque })
	})
}

// closed adds what is required until nothing is.
func closed(units []unit.Unit, chosen []bool, c unit.Contract) []bool {
	in := make([]bool, len(units))
	copy(in, chosen)
	for i := range in {
		in[i] = in[i] || c.Complete
	}
	for again := true; again; {
		again = false
		for i := range units {
			for j := range units {
				if in[i] && !in[j] && requires(units, i, j, c) {
					in[j], again = true, true
				}
			}
		}
	}
	return in
}

// whole reports whether every id in the units that are in has one call and, in a later unit, one result.
func whole(units []unit.Unit, in []bool) bool {
	return unit.Check(picked(units, in), unit.Contract{}) == nil
}

func picked(units []unit.Unit, in []bool) (list []unit.Unit) {
	for i, u := range units {
		if in[i] {
			list = append(list, u)
		}
	}
	return list
}

// A closed selection is the smallest that holds what is chosen and all that it requires; it is refused exactly where that
// holds a group that is not whole, with a reason that names units which are there; closing it again or closing more never
// takes anything away, and what was added says by which unit.
// covers: V-01
// covers: V-02
func TestCloseLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, c := draw(t), drawContract(t)
		chosen := rapid.SliceOfN(rapid.Bool(), 0, len(units)+1).Draw(t, "chosen")
		want := closed(units, chosen[:min(len(chosen), len(units))], c)
		s, err := unit.Close(units, chosen, c)
		if (err == nil) != whole(units, want) {
			t.Fatalf("closing %v of %+v gives %v; what is required is %v", chosen, units, err, want)
		}
		if err != nil {
			named(t, units, err)
			return
		}
		if !slices.Equal(s.In, want) {
			t.Fatalf("closed to %v, want %v", s.In, want)
		}
		again, err := unit.Close(units, s.In, c)
		if err != nil || !slices.Equal(again.In, s.In) || again.Added != nil {
			t.Fatalf("closed again: %+v, %v", again, err)
		}
		if len(units) > 0 {
			more := slices.Clone(s.In)
			more[rapid.IntRange(0, len(units)-1).Draw(t, "one more")] = true
			if larger, err := unit.Close(units, more, c); err == nil {
				for i := range units {
					if s.In[i] && !larger.In[i] {
						t.Fatalf("choosing more takes %d away", i)
					}
				}
			}
		}
		explained(t, units, chosen, s, c)
	})
}

// explained: each unit that was not chosen and is in is among the added, with one that is in and requires it.
func explained(t *rapid.T, units []unit.Unit, chosen []bool, s unit.Selection, c unit.Contract) {
	var added []int
	for _, a := range s.Added {
		added = append(added, a.At)
		if all := a.By == -1; all != (a.Why == unit.AllOrNone) || !all && (!s.In[a.By] || !requires(units, a.By, a.At, c)) {
			t.Fatalf("%+v was added for no reason", a)
		}
	}
	var want []int
	for i, in := range s.In {
		if in && (i >= len(chosen) || !chosen[i]) {
			want = append(want, i)
		}
	}
	if !slices.Equal(added, want) {
		t.Fatalf("added %v, want %v", added, want)
	}
}

// named: an error is a ContractError that names units which are there.
func named(t *rapid.T, units []unit.Unit, err error) {
	var e *unit.ContractError
	if !errors.As(err, &e) || e.Rule == "" || len(e.Refs) == 0 || e.Refs[0] != units[e.At].Ref {
		t.Fatalf("refused with %#v", err)
	}
	for _, ref := range e.Refs {
		if !slices.ContainsFunc(units, func(u unit.Unit) bool { return u.Ref == ref }) {
			t.Fatalf("%v names %q, which is not there", err, ref)
		}
	}
}

// A cut is legal exactly where what follows is legal by itself and no answer is cut that the contract binds.
// covers: V-02
func TestCutsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, c := draw(t), drawContract(t)
		var want []int
		for i := range units {
			err := unit.Check(units[i:], c)
			if err != nil {
				named(t, units[i:], err)
			}
			if err == nil && (i == 0 || !c.Complete && !bindsAcross(units, i, c)) {
				want = append(want, i)
			}
		}
		if got := unit.Cuts(units, c); !reflect.DeepEqual(got, want) {
			t.Fatalf("cuts of %+v are %v, want %v", units, got, want)
		}
	})
}

// bindsAcross reports whether the contract binds the answer on both sides of i by what in it is opaque. Parallel calls are
// another matter: without its call a result is not legal anyway.
func bindsAcross(units []unit.Unit, i int, c unit.Contract) bool {
	bare := slices.Clone(units)
	for at := range bare {
		bare[at].Parts = slices.DeleteFunc(slices.Clone(bare[at].Parts), func(p unit.Part) bool { return p.Kind == unit.Call })
	}
	return sameAnswer(bare, i-1, i, c)
}

// Groups are a partition, and each is what closing any of its units gives.
// covers: V-03 part
func TestGroupsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units, c := draw(t), drawContract(t)
		seen := make([]bool, len(units))
		for _, group := range unit.Groups(units, c) {
			want := closed(units, choose(len(units), group[0]), c)
			for _, at := range group {
				if seen[at] || !want[at] {
					t.Fatalf("%d is in two groups, or not in that of %d", at, group[0])
				}
				seen[at], want[at] = true, false
			}
			if slices.Contains(want, true) {
				t.Fatalf("group %v lacks %v", group, want)
			}
		}
		if slices.Contains(seen, false) {
			t.Fatalf("in no group: %v", seen)
		}
	})
}

// long are n units of an agent's work, with parallel calls, or n that are as bad as they can be.
func long(n int, bad string) (units []unit.Unit) {
	for i := 0; len(units) < n; i++ {
		switch bad {
		case "one id":
			units = append(units, unit.Unit{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Call}, {Kind: unit.Result}}})
		case "one answer":
			units = append(units, unit.Unit{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Text}}})
		default:
			a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
			units = append(
				units,
				unit.Unit{Role: unit.User, Parts: []unit.Part{{Kind: unit.Text}}},
				unit.Unit{Role: unit.Assistant, Parts: []unit.Part{{Kind: unit.Opaque}, {Kind: unit.Call, ID: a}, {Kind: unit.Call, ID: b}}},
				unit.Unit{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: b}}},
				unit.Unit{Role: unit.Tool, Parts: []unit.Part{{Kind: unit.Result, ID: a}}},
			)
		}
	}
	return units
}

// However bad they are, 100,000 units take a small part of the time allowed; what is quadratic in them would take
// more.
func TestManyUnits(t *testing.T) {
	for _, bad := range []string{"", "one id", "one answer"} {
		units := long(100_000, bad)
		for _, name := range []string{"messages", "strict", "stored"} {
			wire, began := wires[name], time.Now()
			_, err := unit.Close(units, choose(len(units), 0, 50_001, 99_998), wire)
			if (err != nil) != (bad == "one id") {
				t.Errorf("%s, %q: %v", name, bad, err)
			}
			unit.Cuts(units, wire)
			if len(unit.Groups(units, wire)) == 0 {
				t.Errorf("%s, %q: no groups", name, bad)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s, %q: %v", name, bad, took)
			}
		}
	}
}

func BenchmarkClose(b *testing.B) {
	units := long(10_000, "")
	for b.Loop() {
		if _, err := unit.Close(units, choose(len(units), 2, 5_001, 9_998), wires["messages"]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCuts(b *testing.B) {
	units := long(10_000, "")
	for b.Loop() {
		if len(unit.Cuts(units, wires["messages"])) != 2_500 {
			b.Fatal("wrong cuts")
		}
	}
}
