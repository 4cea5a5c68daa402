package ambit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/anthropic"
	"ambit/unit"
	"ambit/view"
)

// view is what the next request shows: the agent's role, the baseline and the conversation. What only another wire or model
// than the present one understands is left out. A unit that comes after a request stands apart from what that one ended
// with. The caller holds mu.
func (s *Session) view(ctx context.Context) (view.View, error) {
	var v view.View
	for _, t := range s.setup.Agent.Tools {
		v.Tools = append(v.Tools, t.Tool)
	}
	system := func(layer view.Layer, ref, text string) {
		if text != "" {
			u := unit.Unit{Ref: ref, Role: unit.System, Parts: []unit.Part{{Kind: unit.Text, Text: text}}}
			v.Segments = append(v.Segments, view.Segment{Layer: layer, Unit: u})
		}
	}
	system(view.Role, "role", s.setup.Agent.Role)
	if b := s.own.Baseline; b != nil {
		text, err := s.text(ctx, b.Text)
		if err != nil && !errors.Is(err, journal.ErrPurged) { // purged it stays only with context.mode off
			return v, fmt.Errorf("read the baseline %s: %w", b.Seq.Ref(), err)
		}
		system(view.Stable, b.Seq.Ref(), text)
		mark(v.Segments)
		if text, err = s.text(ctx, b.Volatile); err != nil && !errors.Is(err, journal.ErrPurged) {
			return v, fmt.Errorf("read the baseline %s: %w", b.Seq.Ref(), err)
		}
		system(view.Working, b.Seq.Ref(), text)
	}
	ids := renaming{taken: make(map[string]bool), now: make(map[string]string)}
	told := make(map[string]string)                              // tools of calls that stand as text, by the ids of these
	kept, before, now := 0, entry.Seq(0), s.setup.Model.origin() // kept is where the newest request ended
	for i := range s.said {
		x := &s.said[i]
		if x.unit.Role == unit.System && s.own.Baseline != nil && x.seq < s.own.Baseline.Seq {
			continue // the baseline says it
		}
		u := ids.unique(x.unit)
		if u.Role == unit.Tool && ids.now[x.unit.Parts[0].ID] == "" {
			continue // its call was purged
		}
		if x.by != (origin{}) && x.by != now {
			if u = retold(provider.Public(u), told); len(u.Parts) == 0 {
				continue
			}
		}
		if u.Role == unit.Tool && told[u.Parts[0].ID] != "" {
			u = given(u, told)
		}
		apart := u.Role == unit.System || s.sent.between(before, x.seq) // what is told leaves again, and nothing else is to change then
		v.Segments = append(v.Segments, view.Segment{Layer: view.Working, Unit: u, Apart: apart})
		if x.seq < s.sent.last() {
			kept = len(v.Segments)
		}
		before = x.seq
	}
	mark(v.Segments[:kept])
	mark(v.Segments)
	return v, nil
}

// retold tells the calls of an answer that another model gave, or another session shares, as text: a provider wants the reasoning
// back that its own calls came with, and nobody imitates that. It notes whose results are to be told, too.
func retold(u unit.Unit, told map[string]string) unit.Unit {
	for i, p := range u.Parts {
		if p.Kind == unit.Call {
			told[p.ID] = p.Name
			u.Parts[i] = unit.Part{Kind: unit.Text, Text: fmt.Sprintf("[Here the tool %s was called: %s]", p.Name, p.Args)}
		}
	}
	return u
}

// given tells the result of such a call.
func given(u unit.Unit, told map[string]string) unit.Unit {
	p := u.Parts[0]
	how := "gave"
	if p.Failed {
		how = "failed with"
	}
	u.Role = unit.User
	u.Parts = []unit.Part{{Kind: unit.Text, Text: fmt.Sprintf("[What the tool %s %s, recorded text:]\n%s", told[p.ID], how, p.Text)}}
	return u
}

// renaming gives each call an id that no other call of the conversation has: some servers number them anew in each answer.
type renaming struct {
	taken map[string]bool   // ids that calls are called by
	now   map[string]string // what the newest call of an id is called
}

// unique renames the calls and results of a unit, where that is needed.
func (r *renaming) unique(u unit.Unit) unit.Unit {
	copied := false
	for i, p := range u.Parts {
		switch p.Kind {
		case unit.Call:
			r.now[p.ID] = r.free(p.ID)
		case unit.Result:
		default:
			continue
		}
		if id := r.now[p.ID]; id != "" && id != p.ID {
			if !copied {
				u.Parts, u.Raw, copied = slices.Clone(u.Parts), nil, true
			}
			u.Parts[i].ID, u.Parts[i].Raw = id, nil
		}
	}
	return u
}

// free is the id, or the first behind it that no call has: id_2 and on.
func (r *renaming) free(id string) string {
	name := id
	for n := 2; r.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", id, n)
	}
	r.taken[name] = true
	return name
}

// mark puts a cache marker behind the last segment.
func mark(list []view.Segment) {
	if n := len(list); n > 0 {
		list[n-1].Mark = view.FiveMinute
	}
}

// params are those of the next request. The caller holds mu.
func (s *Session) params() provider.LowerParams {
	m := &s.setup.Model
	p := provider.LowerParams{
		Type: m.Type, Model: m.Name, MaxTokens: m.Output, Stream: true, Rest: m.Rest,
		Wrap: m.Type == provider.TypeMessages && !anthropic.TakesSystem(m.Name),
	}
	if m.keyed() && !slices.ContainsFunc(m.Rest, func(r provider.Member) bool { return r.Name == cacheKey }) {
		p.Rest = append(slices.Clip(m.Rest), provider.Member{Name: cacheKey, Value: []byte(strconv.Quote(s.id))})
	}
	return p
}

// cacheKey is the member by which OpenAI finds the machine that has a prompt in its cache; since GPT-5.6 it finds it reliably by
// nothing else.
const cacheKey = "prompt_cache_key"

// keyed reports whether the model's requests say whose they are, so that the cache is found: those to Responses, and those to Chat
// Completions of OpenAI's own, since other servers may refuse what they do not know.
func (m *Model) keyed() bool {
	u, err := url.Parse(m.BaseURL)
	return m.Type == provider.TypeResponses || m.Type == provider.TypeChat && err == nil && strings.HasSuffix(u.Hostname(), ".openai.com")
}
