package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/journal"
)

// grown draws the tree of a pool of requests, one a word: thread:relation, then the number of the parent, or behind an @
// that of the owner, or of the request that it is about; behind a + how many messages it holds, behind a ! the status of
// its answer, and behind a = the tokens. Nothing is said in them.
func grown(t *testing.T, words ...string) string {
	t.Helper()
	p, seq := pool.New(), 0
	add := func(f entry.Fact) {
		seq++
		frame := journal.Frame{Entry: entry.Entry{Seq: entry.Seq(seq), Fact: f}, Sum: fmt.Sprintf("%064d", seq), Prev: fmt.Sprintf("%064d", seq-1)}
		if err := p.Fold(frame); err != nil {
			t.Fatal(err)
		}
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	add(&entry.Session{ID: "a"})
	for i, word := range words {
		n := i + 1
		word, tokens, _ := strings.Cut(word, "=")
		word, answered, _ := strings.Cut(word, "!")
		word, messages, _ := strings.Cut(word, "+")
		word, owner, _ := strings.Cut(word, "@")
		thread, rest, related := strings.Cut(word, ":")
		if !related {
			add(&entry.Request{N: n, Method: "GET", Path: word + "?key=redacted"})
			continue
		}
		how := strings.TrimRight(rest, "0123456789")
		r := &entry.Relation{N: n, Thread: thread, How: entry.Relating(how), Parent: number(rest[len(how):]), Messages: number(messages)}
		if r.How == entry.Side {
			r.About = number(owner)
		} else {
			r.Owner = number(owner)
		}
		add(&entry.Request{N: n, Type: map[bool]string{true: "count_tokens", false: "messages"}[r.How == entry.Count]})
		add(r)
		if answered == "none" {
			continue
		}
		a := &entry.Response{N: n, Status: 200, End: entry.EndComplete}
		if answered == "dropped" {
			a.End = entry.EndDropped
		} else if answered != "" {
			a.Status = number(answered)
		}
		if tokens != "" {
			a.Usage = &entry.Usage{Input: int64(number(tokens))}
		}
		add(a)
	}
	e, out, _ := testEnv(nil)
	s := &talk{env: e, pool: p, units: make(map[int][]*pool.Unit), pruned: p.Pruned()}
	s.requests, s.answers = p.Behind()
	g := s.grow(t.Context())
	s.draw(g.threads(g.roots), "", true)
	s.draw(s.rest(), "", true)
	return out.String()
}

// TestTree draws what hangs on what, in sessions of a few requests.
func TestTree(t *testing.T) {
	for _, test := range []struct {
		name, want string
		words      []string
	}{
		{"nothing", "", nil},
		{"one conversation", `
t1, 3 requests
└─ #1–3  (no prompt)
`, []string{"t1:root", "t1:extends1", "t1:extends2"}},
		{"two roots", `
t1, 2 requests
└─ #1–3  (no prompt)
t2, 1 request
└─ #2  (no prompt)
`, []string{"t1:root", "t2:root", "t1:extends1"}},
		{"no threads", `
in no thread, 4 requests
├─ 2×  GET /models
├─ 1×  count_tokens
└─ 1×  GET /me
`, []string{"/models", ":count", "/models", "/me"}},
		{"a sub-agent of a sub-agent", `
t1, 2 requests
└─ #1–6  (no prompt)
   └─ t2, a sub-agent of #1, 3 requests
      ├─ #2–4  (no prompt)
      │  └─ t3, a sub-agent of #2, 1 request
      │     └─ #3  (no prompt)
      └─ #5    goes on from #2
`, []string{"t1:root", "t2:agent@1", "t3:agent@2", "t2:extends2", "t2:extends2", "t1:extends1"}},
		{"an agent of nobody, or of what came later", `
t1, a sub-agent, 1 request
└─ #1  (no prompt)
t2, a sub-agent of #3, 1 request
└─ #2  (no prompt)
t3, 1 request
└─ #3  (no prompt)
t4, a sub-agent of #9, 1 request
└─ #4  (no prompt)
`, []string{"t1:agent", "t2:agent@3", "t3:root", "t4:agent@9"}},
		{"side requests", `
t1, 1 request
└─ #1  (no prompt)
   └─ #2  t2, a side request, about #1: (no prompt)                                         8 tokens
#3  t3, a side request: (no prompt)
t4, 2 requests
└─ #4–5  (no prompt)
t5, a side request, 1 request
└─ #6  (no prompt)
   └─ #6  answered with 500
`, []string{"t1:root", "t2:side@1=8", "t3:side", "t4:side@1", "t4:extends4", "t5:side!500"}},
		{"attempts", `
t1, 8 requests
└─ #1–8  (no prompt)
   ├─ #2–3  answered with 529, tried again as #4
   ├─ #5    dropped, tried again as #6
   ├─ #7    answered with 400
   └─ #8    no response is recorded
`, []string{"t1:root", "t1:extends1!529", "t1:again2!529", "t1:again3", "t1:extends4!dropped", "t1:again5", "t1:extends6!400", "t1:extends7!none"}},
		{"counts are in no stretch", `
t1, 4 requests, 2 of them only to count tokens
└─ #1–4  (no prompt)
`, []string{"t1:root", "t1:count1", "t1:count1", "t1:extends1"}},
		{"changed", `
t1, 5 requests
└─ #1–5  (no prompt)
   ├─ #2–3  earlier messages changed by the client
   └─ #5    earlier messages changed by the client
`, []string{"t1:root", "t1:client-edit1", "t1:client-edit2", "t1:extends3", "t1:client-edit4"}},
		{"went back", `
t1, 5 requests
├─ #1    (no prompt)                                                                       10 tokens
├─ #2–3  (left behind) goes on from #1                                                  3,000 tokens
│  └─ t2, a sub-agent of #2, 1 request
│     └─ #4  (left behind) (no prompt)
└─ #5–6  went back to #1                                                                   20 tokens
`, []string{"t1:root+1=10", "t1:extends1+3", "t1:extends2+5=3000", "t2:agent@2+1", "t1:rewind1+3=20", "t1:extends5+5"}},
		{"asked again", `
t1, 3 requests
├─ #1–2  (no prompt)
│  └─ #2  the answer was left behind
└─ #3    went back to #2
`, []string{"t1:root+1", "t1:extends1+3", "t1:rewind2+3"}},
		{"both go on", `
t1, 4 requests
├─ #1–2  (no prompt)
├─ #3    goes on from #1
└─ #4    goes on from #2
`, []string{"t1:root+1", "t1:extends1+3", "t1:extends1+3", "t1:extends2+5"}},
		{"compacted", `
t1, 3 requests
├─ #1  (no prompt)                                                                     70,000 tokens
├─ #2  compacted, 70,000 tokens to 1,000                                                1,000 tokens
└─ #3  compacted
`, []string{"t1:root=70000", "t1:client-compaction1=1000", "t1:client-compaction2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, want := grown(t, test.words...), strings.TrimPrefix(test.want, "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestShortened: a text becomes one line, and says that it was cut.
func TestShortened(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " a\n\tb ": "a b", "1234567890": "1234567890", "12345678901": "123456789…", "éèê ëéèê ë12": "éèê ëéèê…",
	} {
		if got := shortened(text, 10); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
