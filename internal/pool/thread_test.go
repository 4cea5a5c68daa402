package pool_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"

	"github.com/google/go-cmp/cmp"
)

// related makes a pool of relations, one a word: thread:relation, then the parent's number, or the owner's behind an @,
// and behind a + how many messages it holds.
func related(t *testing.T, words ...string) *pool.Pool {
	t.Helper()
	p, seq := pool.New(), 0
	add := func(f entry.Fact) {
		seq++
		if err := p.Fold(frame(seq, f)); err != nil {
			t.Fatal(err)
		}
	}
	add(&entry.Session{ID: "a"})
	for i, word := range words {
		n := i + 1
		word, messages, _ := strings.Cut(word, "+")
		word, owner, _ := strings.Cut(word, "@")
		thread, rest, _ := strings.Cut(word, ":")
		how := strings.TrimRight(rest, "0123456789")
		r := &entry.Relation{N: n, Thread: thread, How: entry.Relating(how)}
		r.Parent, _ = strconv.Atoi(rest[len(how):])
		r.Owner, _ = strconv.Atoi(owner)
		r.Messages, _ = strconv.Atoi(messages)
		add(&entry.Request{N: n})
		add(r)
		add(&entry.Unit{N: n, Of: entry.PartMessage})
		add(&entry.Response{N: n})
		add(&entry.Unit{N: n, Of: entry.PartAnswer})
	}
	return p
}

func TestThreads(t *testing.T) {
	p := related(t, "t1:side", "t2:root", "t2:extends2", "t3:agent@3", "t3:extends4", "t2:again3", "t1:again1", "t4:side", "t4:extends8", ":count")
	want := []pool.Thread{
		{Name: "t1", How: entry.Side, Requests: []int{1, 7}},
		{Name: "t2", How: entry.Root, Requests: []int{2, 3, 6}},
		{Name: "t3", How: entry.Agent, Owner: 3, Requests: []int{4, 5}},
		{Name: "t4", How: entry.Root, Requests: []int{8, 9}},
	}
	if diff := cmp.Diff(want, p.Threads()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBehind knows what a rewind leaves behind: the branch that it goes back from, whoever works for it, and nothing
// else.
//
// covers: J-14 part
func TestBehind(t *testing.T) {
	for _, test := range []struct {
		name, requests, answers string
		words                   []string
	}{
		{"nothing is left", "", "", []string{"t1:root+1", "t1:extends1+3", "t1:again1+3", "t1:extends3+5", "t1:client-edit4+5", "t1:client-compaction5+1"}},
		{"a branch", "2 3", "", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:rewind1+3", "t1:extends4+5"}},
		{"its agents", "2 3 4", "", []string{"t1:root+1", "t1:extends1+3", "t2:agent@2+1", "t1:extends2+5", "t1:rewind1+3"}},
		{"not the agents of what stays", "3 4", "", []string{"t1:root+1", "t2:agent@1+1", "t1:extends1+3", "t1:extends3+5", "t1:rewind1+3"}},
		{"the answer is asked for again", "3 4", "2", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:extends3+7", "t1:rewind2+3"}},
		{"and who worked for it", "3 4", "2", []string{"t1:root+1", "t1:extends1+3", "t2:agent@2+1", "t1:extends2+5", "t1:rewind2+3"}},
		{"both go on", "", "", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:rewind1+3", "t1:extends3+7", "t1:extends4+5"}},
		{"back to the first branch", "4 5", "", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:rewind1+3", "t1:extends4+5", "t1:rewind3+7"}},
		{"an answer beside the way stays", "4 5", "", []string{"t1:root+1", "t1:extends1+3", "t1:again1+4", "t1:extends2+5", "t1:extends4+7", "t1:rewind2+5"}},
		{"back twice", "2 3 4", "", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:rewind1+3", "t1:rewind1+3"}},
		{"a count is no branch", "2 3", "", []string{"t1:root+1", "t1:extends1+3", "t1:extends2+5", "t1:rewind1+3", "t1:count3+5"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			requests, answers := related(t, test.words...).Behind()
			if got := numbers(requests); got != test.requests {
				t.Errorf("requests %s, want %s", got, test.requests)
			}
			if got := numbers(answers); got != test.answers {
				t.Errorf("answers %s, want %s", got, test.answers)
			}
		})
	}
}

func numbers(set map[int]bool) string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(set)) {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, " ")
}

// TestUntil takes a pool back to what it was.
func TestUntil(t *testing.T) {
	p := related(t, "t1:root+1", "t1:extends1+3") // entries 2 to 6 and 7 to 11
	for seq, want := range map[entry.Seq][3]int{1: {}, 2: {1}, 4: {1, 0, 1}, 5: {1, 1, 1}, 6: {1, 1, 2}, 11: {2, 2, 4}} {
		q := p.Until(seq)
		got := [3]int{len(q.Exchanges), 0, len(q.Units)}
		for _, x := range q.Exchanges {
			if x.Response != nil {
				got[1]++
			}
		}
		if got != want || q.Seq != seq {
			t.Errorf("at %d: requests, answers, units %v, want %v", seq, got, want)
		}
	}
	if len(p.Exchanges) != 2 || p.Exchanges[0].Response == nil {
		t.Error("the pool itself was changed")
	}
}

// TestShifted is told by decisions which requests held something that was sent before otherwise, or no more.
func TestShifted(t *testing.T) {
	p, seq := pool.New(), 0
	for _, f := range []entry.Fact{
		&entry.Session{ID: "a"},
		&entry.Request{N: 1}, &entry.Relation{N: 1, Thread: "t1", How: entry.Root},
		&entry.Request{N: 2}, &entry.Relation{N: 2, Thread: "t1", How: entry.Extends, Parent: 1},
		&entry.Decision{N: 2, Thread: "t1", Stage: entry.StagePrune},
		&entry.Request{N: 3}, &entry.Relation{N: 3, Thread: "t1", How: entry.Extends, Parent: 2},
		&entry.Decision{N: 3, Thread: "t1", Stage: entry.StageCut}, // nothing that was sent
		&entry.Decision{Thread: "t1", Stage: entry.StageCompact},   // a person asked
		&entry.Request{N: 4}, &entry.Relation{N: 4, Thread: "t1", How: entry.Count},
		&entry.Request{N: 5}, &entry.Relation{N: 5, Thread: "t1", How: entry.Extends, Parent: 3},
		&entry.Decision{Thread: "t1", Stage: entry.StageLift}, // nothing came of it yet
	} {
		seq++
		if err := p.Fold(frame(seq, f)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[int]bool{2: true, 5: true}, p.Shifted()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
