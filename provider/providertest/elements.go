package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/provider"
)

// FuzzElements checks the laws of Elements and Message on the bodies of the exchanges and on what the fuzzer makes of
// them.
func FuzzElements(f *testing.F, p provider.Protocol, exchanges ...Exchange) {
	for _, x := range exchanges {
		f.Add(x.Request.Type, x.Body)
	}
	f.Fuzz(func(t *testing.T, kind, body string) { elements(t, p, provider.Request{Type: kind}, body) })
}

// elements calls p.Elements twice, and p.Message for each message. What comes back must make sense.
func elements(t failer, p provider.Protocol, req provider.Request, text string) (got provider.Elements, understood bool) {
	t.Helper()
	var err error
	lent(t, text, func(body []byte) { got, err = p.Elements(req, body) })
	lent(t, text, func(body []byte) {
		if again, _ := p.Elements(req, body); !reflect.DeepEqual(again, got) {
			t.Fatalf("elements %+v, then %+v, of the same %q", got, again, text)
		}
	})
	if err != nil && (!errors.Is(err, provider.ErrNotUnderstood) || !reflect.DeepEqual(got, provider.Elements{})) {
		t.Fatalf("error %v with elements %+v, want ErrNotUnderstood and none", err, got)
	}
	if err == nil && !json.Valid([]byte(text)) {
		t.Fatalf("%q is no JSON and was understood", text)
	}
	if err != nil && isStrict(text) {
		t.Fatalf("%q was not understood: %v", text, err)
	}
	for _, e := range all(got) {
		raw := element(t, p, req, text, e)
		if slices.Contains(got.Messages, e) {
			message(t, p, req, text, raw, e.At)
		}
	}
	return got, err == nil
}

// isStrict reports whether a text is JSON without a repeated name, also when lone surrogates are taken for the same.
func isStrict(text string) bool {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowInvalidUTF8(true))
	if dec.SkipValue() != nil {
		return false
	}
	_, err := dec.ReadToken()
	return errors.Is(err, io.EOF)
}

// all returns the elements of all lists.
func all(e provider.Elements) []provider.Element {
	return slices.Concat(e.Tools, e.Deferred, e.System, e.Messages)
}

// element: an element stands where it says, and is the same when it stands alone.
func element(t failer, p provider.Protocol, req provider.Request, text string, e provider.Element) (raw string) {
	t.Helper()
	if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(text) {
		t.Fatalf("element %+v is not in a body of %d bytes", e, len(text))
	}
	raw = text[e.Offset : e.Offset+e.Length]
	if at, ok := resolve([]byte(text), e.At); !ok || string(at) != raw {
		t.Fatalf("at %s stands %q, the element is %q", e.At, at, raw)
	}
	alone, at := wrap(raw, e.At)
	again, err := p.Elements(req, []byte(alone))
	if err != nil {
		t.Fatalf("element alone, %q: %v", alone, err)
	}
	found := slices.IndexFunc(all(again), func(other provider.Element) bool { return other.At == at })
	if found < 0 || all(again)[found].Hash != e.Hash {
		t.Fatalf("element %s of %q has another hash in %q", e.At, text, alone)
	}
	return raw
}

// wrap returns a body in which raw stands as at the pointer, but as the first of each list, and the pointer to it.
func wrap(raw, pointer string) (body, at string) {
	body = raw
	parts := strings.Split(pointer, "/")[1:]
	for i := len(parts) - 1; i >= 0; i-- {
		if strings.Trim(parts[i], "0123456789") == "" {
			body, parts[i] = "["+body+"]", "0"
		} else {
			body = `{"` + parts[i] + `":` + body + "}"
		}
	}
	return body, "/" + strings.Join(parts, "/")
}

// message calls p.Message twice. Public texts stand where they say.
func message(t failer, p provider.Protocol, req provider.Request, text, raw, at string) (got provider.Message) {
	t.Helper()
	lent(t, raw, func(b []byte) { got = p.Message(req, b, at) })
	lent(t, raw, func(b []byte) {
		if again := p.Message(req, b, at); !reflect.DeepEqual(again, got) {
			t.Fatalf("message %+v, then %+v, of the same %q", got, again, raw)
		}
	})
	if got.Unknown && got.Fixed == "" {
		t.Fatalf("message %+v of %q holds what is not known and may be changed", got, raw)
	}
	for _, c := range got.Calls {
		if c.Args != nil && !json.Valid(c.Args) {
			t.Fatalf("arguments %q of %+v are not JSON", c.Args, c)
		}
	}
	if text != "" {
		stands(t, text, got.Texts)
	}
	return got
}

var said = []string{provider.SaidUser, provider.SaidAssistant, provider.SaidTool, provider.SaidArgument}

// stands: each public text stands in the document where its field points.
func stands(t failer, document string, texts []provider.Text) {
	t.Helper()
	for _, text := range texts {
		v, ok := resolve([]byte(document), text.Field)
		if !ok || v.Text() != text.Text {
			t.Fatalf("at %s of %q stands %q, the text is %q", text.Field, document, v, text.Text)
		}
		if !slices.Contains(said, text.Said) || text.Text == "" || !utf8.ValidString(text.Text) {
			t.Fatalf("text %+v is nobody's, empty or not UTF-8", text)
		}
	}
}

// resolve returns the value at a JSON pointer, which may go on inside a string that holds JSON.
func resolve(document []byte, pointer string) (provider.JSON, bool) {
	v := provider.JSON(bytes.Trim(document, " \t\r\n"))
	for i, step := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		if v.Kind() == '"' {
			v = provider.JSON(strings.Trim(v.Text(), " \t\r\n"))
		}
		next := provider.JSON(nil)
		n := 0
		for e := range v.Elements() {
			if strconv.Itoa(n) == step {
				next = e
			}
			n++
		}
		for name, member := range v.Members() {
			if provider.PointerName(name) == step && next == nil {
				next = member
			}
		}
		if v = next; v == nil {
			return nil, false
		}
	}
	return v, true
}

// answerTexts: the public texts of an answer stand in it.
func answerTexts(t failer, a provider.Answer) {
	t.Helper()
	type call struct {
		Args json.RawMessage `json:"args"`
	}
	document := struct {
		Text    string   `json:"text"`
		Results []string `json:"results"`
		Others  []string `json:"others"`
		Calls   []call   `json:"calls"`
	}{Text: a.Text, Results: a.Results, Others: a.Others}
	for _, c := range a.Calls {
		if c.Args != nil && !json.Valid(c.Args) {
			t.Fatalf("arguments %q of %+v are not JSON", c.Args, c)
		}
		document.Calls = append(document.Calls, call{c.Args})
	}
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatalf("answer %+v: %v", a, err)
	}
	stands(t, string(raw), a.Texts())
}

// respelled: however a body is spelled, wherever its cache markers stand and whichever nulls it has, its elements are
// the same and its messages say the same.
func respelled(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	x, was := drawElements(t, p, exchanges)
	body := parse(x.Body)
	for _, n := range tops(body, was) {
		n.decorate(t)
	}
	text := body.spell(t)
	now, understood := elements(t, p, x.Request, text)
	if !understood {
		t.Fatalf("%q is understood, %q is not", x.Body, text)
	}
	if diff := cmp.Diff(places(was), places(now)); diff != "" {
		t.Fatalf("%s\nspelled as\n%s\nhas other elements (-was +now):\n%s", x.Body, text, diff)
	}
	for i, e := range was.Messages {
		a := p.Message(x.Request, []byte(x.Body[e.Offset:e.Offset+e.Length]), e.At)
		b := p.Message(x.Request, []byte(text[now.Messages[i].Offset:][:now.Messages[i].Length]), e.At)
		for i := range a.Calls {
			a.Calls[i].Args, b.Calls[i].Args = nil, nil
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("%s\nspelled as\n%s\nsays something else (-was +now):\n%s", x.Body, text, diff)
		}
	}
}

// places are elements without offset and length.
func places(e provider.Elements) provider.Elements {
	for _, list := range []*[]provider.Element{&e.Tools, &e.Deferred, &e.System, &e.Messages} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Offset, (*list)[i].Length = 0, 0
		}
	}
	return e
}

// changed: any change inside an element is a change of what it says, null in an argument, a result or a schema too.
func changed(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	x, was := drawElements(t, p, exchanges)
	body := parse(x.Body)
	top := tops(body, was)
	var inside []*node
	for _, e := range all(was) {
		inside = append(inside, body.at(e.At).inside(top, x.Request.Type, e.At)...)
	}
	rapid.SampledFrom(inside).Draw(t, "node").change(t, top)
	text := body.spell(nil)
	now, err := p.Elements(x.Request, []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if slices.Equal(hashes(was), hashes(now)) {
		t.Fatalf("%s\nchanged to\n%s\nhas the same elements", x.Body, text)
	}
	rereads(t, p, x.Request, x.Body, text)
}

// rereads: what is known of another body changes nothing.
func rereads(t failer, p provider.Protocol, req provider.Request, known, body string) {
	was, err := p.Elements(req, []byte(known))
	if err != nil {
		return
	}
	plain, wrong := p.Elements(req, []byte(body))
	req.Before = &provider.Known{Body: []byte(known), Elements: was}
	again, err := p.Elements(req, []byte(body))
	if (err == nil) != (wrong == nil) || !reflect.DeepEqual(plain, again) {
		t.Fatalf("%s\nis read, when one knows\n%s\nas %+v, %v\nand else as %+v, %v", body, known, again, err, plain, wrong)
	}
}

// reread: whatever stands in the one body and in the other, and wherever it is cut off.
func reread(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	x, y := rapid.SampledFrom(exchanges).Draw(t, "known"), rapid.SampledFrom(exchanges).Draw(t, "exchange")
	cut := rapid.IntRange(0, len(y.Body)).Draw(t, "cut")
	rereads(t, p, y.Request, x.Body, y.Body)
	rereads(t, p, y.Request, y.Body, y.Body)
	rereads(t, p, y.Request, y.Body, y.Body[:cut])
	rereads(t, p, y.Request, y.Body, y.Body[:cut]+" "+y.Body[cut:])
}

func hashes(e provider.Elements) (list []string) {
	for _, e := range all(e) {
		list = append(list, string(e.Hash[:]))
	}
	slices.Sort(list)
	return list
}

// withElements returns the exchanges whose bodies have elements.
func withElements(p provider.Protocol, exchanges []Exchange) (list []Exchange) {
	for _, x := range exchanges {
		if e, _ := p.Elements(x.Request, []byte(x.Body)); len(all(e)) > 0 {
			list = append(list, x)
		}
	}
	return list
}

// drawElements draws an exchange and returns it with its elements.
func drawElements(t *rapid.T, p provider.Protocol, exchanges []Exchange) (Exchange, provider.Elements) {
	x := rapid.SampledFrom(exchanges).Draw(t, "exchange")
	e, err := p.Elements(x.Request, []byte(x.Body))
	if err != nil {
		t.Fatalf("%q: %v", x.Body, err)
	}
	return x, e
}

// Forms returns the canonical forms of a body's elements, as a family takes them, a line each: list, place, form.
func Forms(t testing.TB, body string, take func(*provider.Reader) (provider.Elements, error)) string {
	t.Helper()
	byHash := make(map[provider.Hash]string)
	r := provider.NewReader([]byte(body))
	r.Show = func(form []byte) { byHash[sha256.Sum256(form)] = string(form) }
	e, err := take(r)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var b strings.Builder
	for _, l := range []struct {
		name string
		list []provider.Element
	}{{"tool", e.Tools}, {"deferred", e.Deferred}, {"system", e.System}, {"message", e.Messages}} {
		for _, el := range l.list {
			fmt.Fprintf(&b, "%s %s %s\n", l.name, el.At, byHash[el.Hash])
		}
	}
	if e.Previous != "" {
		fmt.Fprintf(&b, "previous %s\n", e.Previous)
	}
	return b.String()
}
