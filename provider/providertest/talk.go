package providertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/unit"
	"ambit/view"
)

// Talk has a conversation with a provider over HTTP, as an agent's loop has it, and posts request after request made of the
// units of the answers, streamed and not, each time with a scripted provider of its own that is as strict as the real ones and
// refuses none of them. Under is what stands between its address and Endpoint. A request whose answer it breaks off is sent
// again. Of a wire with thoughts, some answer must have one.
func Talk(t *testing.T, w Wire, under, model string) {
	for name, params := range map[string]provider.LowerParams{
		"Whole":    {Model: model, MaxTokens: 4096},
		"Streamed": {Model: model, MaxTokens: 4096, Stream: true},
		"Wrapped":  {Model: model, MaxTokens: 4096, Stream: true, Wrap: true},
	} {
		params.Type, params.Rest = w.Type, w.Thinking
		t.Run(name, func(t *testing.T) {
			k := talking{w: w, base: serve(t) + under, params: params}
			k.view.Tools = []view.Tool{{Name: "read", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
			k.say(view.Role, unit.System, "You fix bugs.")
			k.say(view.Stable, unit.System, "Be brief.")
			k.say(view.Working, unit.System, "It is Monday.")
			k.say(view.Working, unit.User, "fix it")
			for range len(thinker().Conversations[0].Turns) {
				k.turn(t)
			}
			if (k.thoughts > 0) != (w.Thought != "") || k.parallel == 0 {
				t.Errorf("%d thoughts and %d parallel calls in\n%s", k.thoughts, k.parallel, k.view)
			}
		})
	}
}

// thinker is a provider that thinks, speaks, calls, and breaks one answer off.
func thinker() scripted.Script {
	read := func(path string) scripted.Call {
		return scripted.Call{Name: "read", Args: map[string]any{"path": path}}
	}
	return scripted.Script{Conversations: []scripted.Conversation{{
		Match: "fix it",
		Turns: []scripted.Turn{
			{Thought: "Two files matter.", Text: "Reading.", Calls: []scripted.Call{read("a <b> & é"), read("c")}},
			{Thought: "One is left.", Calls: []scripted.Call{read("d")}},
			{Thought: "I know.", Text: "Done 😀."},
			{Text: "Once more.", Calls: []scripted.Call{{Name: "read"}}, Fault: &scripted.Fault{Drop: true}},
			{Thought: "Nothing is left.", Calls: []scripted.Call{read("e"), read("f"), read("g")}},
			{Text: "Bye."},
		},
	}}}
}

// serve starts a provider and returns its address.
func serve(t *testing.T) string {
	p := scripted.NewWith(thinker(), scripted.Options{Strict: true})
	srv := httptest.NewServer(p)
	t.Cleanup(func() {
		srv.Close()
		if refused := p.Refusals(); len(refused) > 0 {
			t.Errorf("refused: %+v", refused)
		}
	})
	return srv.URL
}

// talking is a conversation so far.
type talking struct {
	w        Wire
	base     string
	params   provider.LowerParams
	view     view.View
	before   []byte // the body of the request before
	thoughts int
	parallel int // answers with several calls
}

func (k *talking) say(layer view.Layer, role unit.Role, text string) {
	k.add(layer, unit.Unit{Role: role, Parts: []unit.Part{{Kind: unit.Text, Text: text}}})
}

func (k *talking) add(layer view.Layer, u unit.Unit) {
	k.view.Segments = append(k.view.Segments, view.Segment{Layer: layer, Unit: u})
}

// turn asks, and adds the answer with what follows it: results of which one failed and a system message, or a system
// message and the user.
func (k *talking) turn(t *testing.T) {
	t.Helper()
	body := k.w.lower(t, k.view, k.params)
	if begin := bytes.TrimSuffix(k.before, []byte("]}")); !bytes.HasPrefix(body, begin) {
		t.Fatalf("the request\n%s\ndoes not go on with\n%s", body, k.before)
	}
	k.before = body
	r := k.ask(t, body)
	k.add(view.Working, r.Unit)
	for _, p := range r.Unit.Parts {
		if p.Kind == unit.Opaque || p.Kind == unit.Call && p.Raw != nil {
			k.thoughts++
		}
	}
	calls := r.Unit.Calls()
	var results []unit.Part
	for i, id := range calls {
		results = append(results, unit.Part{Kind: unit.Result, ID: id, Text: strings.Repeat("no such file", i), Failed: i != 1})
	}
	switch {
	case (r.Stop == provider.StopCalls) != (len(calls) > 0):
		t.Fatalf("it stopped for %s with the calls %q", r.Stop, calls)
	case results == nil:
		k.say(view.Working, unit.System, "It is Tuesday.")
		k.say(view.Working, unit.User, "go on")
		return
	case len(results) > 1:
		k.parallel++
	}
	k.add(view.Working, unit.Unit{Role: unit.Tool, Parts: results})
	k.say(view.Working, unit.System, "It is <Wednesday> & late.")
}

// ask posts a body until its answer came whole, twice at most.
func (k *talking) ask(t *testing.T, body []byte) provider.Reply {
	t.Helper()
	for range 2 {
		contentType, answer, broke := k.post(t, body)
		req := k.w.Protocol.Request("POST", k.w.Protocol.Endpoint(k.params), body)
		r, err := reply(t, k.w.Protocol, req, contentType, string(answer))
		if broke {
			if e, ok := errors.AsType[*provider.ReplyError](err); !ok || e.Fault != provider.ReplyBroke {
				t.Fatalf("an answer that broke off is read as %+v, %v: %s", r, err, answer)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		if u := k.w.Protocol.Response(req, contentType, answer).Usage; u == nil || u.Input == 0 || u.Output == 0 {
			t.Fatalf("usage %+v in %s", u, answer)
		}
		return r
	}
	t.Fatalf("no answer to %s", body)
	return provider.Reply{}
}

// post sends a body and reports whether its answer broke off.
func (k *talking) post(t *testing.T, body []byte) (contentType string, answer []byte, broke bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, k.base+k.w.Protocol.Endpoint(k.params), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range k.w.Protocol.Headers("a-key") {
		req.Header.Set(h.Name, h.Value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s\nto\n%s", res.Status, answer, body)
	}
	return res.Header.Get("content-type"), answer, err != nil
}
