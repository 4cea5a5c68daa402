package providertest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/provider"
)

// talks is a protocol of messages with a role and a content, which it changes as the test wants.
type talks struct{ broken }

func (talks) Elements(_ provider.Request, body []byte) (e provider.Elements, err error) {
	r := provider.NewReader(body)
	r.Members(func(name string) {
		if name == "messages" {
			r.List("/messages", func(at string) { e.Messages = append(e.Messages, r.Element(at, provider.Form{})) })
		}
	})
	if err := r.End(); err != nil {
		return provider.Elements{}, err
	}
	return e, nil
}

func (talks) Message(_ provider.Request, raw []byte, at string) (m provider.Message) {
	found := provider.JSON(raw).Find("role", "content", "held")
	m.Role = found[0].Text()
	m.AddText(at+"/content", provider.SaidUser, found[1])
	m.FixIf(provider.Sealed, found[2])
	return m
}

func (p talks) Edit(req provider.Request, body []byte, e provider.Elements, changes []provider.Change) ([]byte, error) {
	if p.edit != nil {
		return p.broken.Edit(req, body, e, changes)
	}
	return talksEditor().Edit(body, e, changes)
}

func talksEditor() provider.Editor {
	return provider.Editor{
		Message: func(raw []byte, at string) provider.Message { return talks{}.Message(provider.Request{}, raw, at) },
		Texts: func(t *provider.Texts, message provider.Place) string {
			t.Replace(message.Member("content"), t.Of(""))
			return ""
		},
		User: func(dst, text []byte) []byte {
			return append(append(append(dst, `{"role":"user","content":`...), text...), '}')
		},
	}
}

const talk = `{"messages":[{"role":"user","content":"a"} , {"role":"user","content":"b","cache_control":{}}, {"role":"user","content":"c","held":"h"}],"x":[1, 2]}`

func TestTalks(t *testing.T) {
	Edits(t, talks{}, provider.Request{}, talk)
	Edits(t, talks{}, provider.Request{}, `{}`)
}

func TestBrokenEdits(t *testing.T) {
	sound := func(body []byte, changes []provider.Change) ([]byte, error) {
		e, err := talks{}.Elements(provider.Request{}, body)
		if err != nil {
			return nil, err
		}
		return talksEditor().Edit(body, e, changes)
	}
	with := func(old, now string) func([]byte, []provider.Change) ([]byte, error) {
		return func(body []byte, changes []provider.Change) ([]byte, error) {
			got, err := sound(body, changes)
			return bytes.Replace(got, []byte(old), []byte(now), 1), err
		}
	}
	calls := 0
	tests := map[string]struct {
		edit func(body []byte, changes []provider.Change) ([]byte, error)
		want string
	}{
		"sound":                 {sound, ""},
		"does nothing":          {func(body []byte, _ []provider.Change) ([]byte, error) { return bytes.Clone(body), nil }, "does not say what it should"},
		"returns the body":      {func(body []byte, _ []provider.Change) ([]byte, error) { return body, nil }, "then to"},
		"counts its calls":      {func([]byte, []provider.Change) ([]byte, error) { calls++; return []byte{byte('0' + calls)}, nil }, "then to"},
		"makes no JSON":         {with("]", ""), "no JSON"},
		"repeats a name":        {with(`"x":`, `"messages":`), "not understood"},
		"another message":       {with(`"a"`, `"q"`), "with another message /messages/0"},
		"another role":          {with(`"user","content":"new`, `"model","content":"new`), "something else beside its texts"},
		"another spelling":      {with(`"a"`, `"\u0061"`), "which also changes"},
		"changes the rest":      {with("1, 2", "1,2"), "which also changes"},
		"marks something":       {with(`"new"`, `"new","prompt_cache_breakpoint":{}`), "2 cache markers instead of 1"},
		"leaves a message out":  {with(`{"role":"user","content":"a"} , `, ""), "with another message"},
		"leaves the last out":   {with(`, {"role":"user","content":"c","held":"h"}`, ""), "too few"},
		"puts nothing behind":   {with(`,{"role":"user","content":"behind"}`, ""), "in a message that was put in"},
		"puts too much in":      {with(`"held":"h"}`, `"held":"h"},{}`), "too many"},
		"lets the model say it": {with(`"user","content":"behind"`, `"model","content":"behind"`), "in a message that was put in"},
		"fails in its own way":  {func([]byte, []provider.Change) ([]byte, error) { return nil, errors.New("oh") }, "want ErrNotUnderstood"},
		"fails with a body": {func([]byte, []provider.Change) ([]byte, error) {
			return []byte("x"), provider.ErrNotUnderstood
		}, "and none"},
		"blames another": {func([]byte, []provider.Change) ([]byte, error) {
			return nil, &provider.EditError{At: 0, Why: "no"}
		}, "is of no change"},
	}
	changes := []provider.Change{{At: 1, Texts: map[string]string{"": "new"}, Behind: []string{"behind"}}}
	for name, test := range tests {
		p := talks{broken{edit: test.edit}}
		got := complaint(func() {
			e, _ := p.Elements(provider.Request{}, []byte(talk))
			edit(stopped{}, p, Exchange{Body: talk}, e, changes)
		})
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
	fixed := talks{broken{edit: func(body []byte, _ []provider.Change) ([]byte, error) {
		return bytes.Replace(body, []byte(`"c"`), []byte(`"new"`), 1), nil
	}}}
	got := complaint(func() {
		e, _ := fixed.Elements(provider.Request{}, []byte(talk))
		edit(stopped{}, fixed, Exchange{Body: talk}, e, []provider.Change{{At: 2, Texts: map[string]string{"": "new"}}})
	})
	if !strings.Contains(got, "that is fixed") {
		t.Errorf("changes what is fixed: complaint %q", got)
	}
}

func TestArbitraryEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { arbitraryEdit(t, talks{}, []Exchange{{Body: talk}}) })
}
