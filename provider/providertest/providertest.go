// Package providertest holds the laws that every provider.Protocol must pass.
package providertest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ambit/entry"
	"ambit/provider"
)

// Exchange is a written example, and what a protocol must understand of it.
type Exchange struct {
	Name         string
	Method, Path string // the path is what follows the provider's name, with query
	Body         string
	Request      provider.Request // what Method, Path and Body mean

	ContentType string
	Answer      string
	Response    provider.Response // what ContentType and Answer mean
}

// Run checks the laws on arbitrary input, on the given exchanges and on damaged copies of them. Without exchanges
// nothing shows that the protocol understands anything, so a family gives one for each shape that it reads.
func Run(t *testing.T, p provider.Protocol, exchanges ...Exchange) {
	for _, x := range exchanges {
		t.Run("Exchange/"+x.Name, func(t *testing.T) {
			understood(t, p, x)
			cutAnswer(t, p, x)
			lineEnds(t, p, x)
			replied(t, p, x)
		})
	}
	t.Run("Arbitrary", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { arbitrary(t, p, exchanges) }) })
	t.Run("ArbitraryEdit", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { arbitraryEdit(t, p, exchanges) }) })
	t.Run("Foreign", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { foreign(t, p) }) })
	t.Run("CutStream", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { cutStream(t, p, exchanges) }) })
	if telling := withElements(p, exchanges); len(telling) > 0 {
		t.Run("Respelled", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { respelled(t, p, telling) }) })
		t.Run("Edited", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x, e := drawElements(t, p, telling)
				edited(t, p, x, e)
			})
		})
		t.Run("Reread", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { reread(t, p, telling) }) })
		t.Run("Changed", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { changed(t, p, telling) }) })
	}
	t.Run("Contracts", func(t *testing.T) { contracts(t, p) })
	t.Run("NotJSON", func(t *testing.T) { notJSON(t, p, exchanges) })
}

// FuzzResponse checks the laws of Response and Reply on the answers of the exchanges and on what the fuzzer makes of them.
func FuzzResponse(f *testing.F, p provider.Protocol, exchanges ...Exchange) {
	for _, x := range exchanges {
		f.Add(x.Request.Type, x.ContentType, x.Answer)
	}
	f.Fuzz(func(t *testing.T, kind, contentType, answer string) {
		response(t, p, provider.Request{Type: kind}, contentType, answer)
		_, _ = reply(t, p, provider.Request{Type: kind}, contentType, answer)
	})
}

// understood: an example means what is written beside it.
func understood(t *testing.T, p provider.Protocol, x Exchange) {
	req := request(t, p, x.Method, x.Path, x.Body)
	if req.Type == "" {
		t.Errorf("%s %q is not understood", x.Method, x.Path)
	}
	if diff := cmp.Diff(x.Request, req); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if x.Body != "" {
		elements(t, p, req, x.Body)
	}
	resp := response(t, p, req, x.ContentType, x.Answer)
	if diff := cmp.Diff(x.Response, resp); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

// cutAnswer: an answer that ends early says no more than the whole.
func cutAnswer(t *testing.T, p provider.Protocol, x Exchange) {
	whole := response(t, p, x.Request, x.ContentType, x.Answer)
	for cut := range len(x.Answer) {
		part := response(t, p, x.Request, x.ContentType, x.Answer[:cut])
		if part.Model != "" && part.Model != whole.Model {
			t.Errorf("cut at %d: model %q, the whole says %q", cut, part.Model, whole.Model)
		}
		if !atMost(part.Usage, whole.Usage) {
			t.Errorf("cut at %d: usage %+v, the whole says %+v", cut, part.Usage, whole.Usage)
		}
		if err := goesOn(part.Answer, whole.Answer); err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

// goesOn says what is in the answer that came that is not in the whole.
func goesOn(part, whole provider.Answer) error {
	switch {
	case part.ID != "" && part.ID != whole.ID:
		return fmt.Errorf("id %q, the whole says %q", part.ID, whole.ID)
	case !strings.HasPrefix(whole.Text, part.Text):
		return fmt.Errorf("text %q, the whole says %q", part.Text, whole.Text)
	case part.Whole && (!whole.Whole || part.Text != whole.Text || len(part.Calls) != len(whole.Calls)):
		return fmt.Errorf("%+v is said to be the whole, which is %+v", part, whole)
	case len(part.Calls) > len(whole.Calls):
		return fmt.Errorf("%d calls, the whole has %d", len(part.Calls), len(whole.Calls))
	case len(part.Elements) > len(whole.Elements) || !slices.Equal(part.Elements, whole.Elements[:len(part.Elements)]):
		return fmt.Errorf("elements %x, the whole has %x", part.Elements, whole.Elements)
	case len(part.Results) > len(whole.Results) || !slices.Equal(part.Results, whole.Results[:len(part.Results)]):
		return fmt.Errorf("results %q, the whole has %q", part.Results, whole.Results)
	case len(part.Others) > len(whole.Others):
		return fmt.Errorf("further choices %q, the whole has %q", part.Others, whole.Others)
	}
	for i, text := range part.Others {
		if !strings.HasPrefix(whole.Others[i], text) {
			return fmt.Errorf("further choice %q, the whole says %q", text, whole.Others[i])
		}
	}
	for i, c := range part.Calls {
		w := whole.Calls[i]
		came := provider.JSON(c.Args).Text()
		if c.ID != w.ID || c.Name != w.Name || !bytes.Equal(c.Args, w.Args) &&
			(provider.JSON(c.Args).Kind() != '"' || !strings.HasPrefix(string(w.Args), came) && !strings.HasPrefix(provider.JSON(w.Args).Text(), came)) {
			return fmt.Errorf("call %+v, the whole says %+v", c, w)
		}
	}
	return nil
}

func atMost(part, whole *entry.Usage) bool {
	if part == nil || whole == nil {
		return part == nil
	}
	return part.Input <= whole.Input && part.Output <= whole.Output &&
		part.CacheRead <= whole.CacheRead && part.CacheWrite <= whole.CacheWrite
}

// lineEnds: however the lines of an answer end, it says the same.
func lineEnds(t *testing.T, p provider.Protocol, x Exchange) {
	whole := response(t, p, x.Request, x.ContentType, x.Answer)
	for _, end := range []string{"\r\n", "\r"} {
		got := response(t, p, x.Request, x.ContentType, strings.ReplaceAll(x.Answer, "\n", end))
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Errorf("with line ends %q (-want +got):\n%s", end, diff)
		}
	}
}

// arbitrary: any input gives an answer, the same one each time, from the arguments alone, and one that makes sense.
func arbitrary(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	method := rapid.SampledFrom([]string{"GET", "POST", "HEAD", "DELETE", "", "post"}).Draw(t, "method")
	path := drawText(t, "path", exchanges, func(x Exchange) string { return x.Path })
	body := drawText(t, "body", exchanges, func(x Exchange) string { return x.Body })
	req := request(t, p, method, path, body)
	if rapid.Bool().Draw(t, "another type") {
		req.Type = rapid.SampledFrom(types).Draw(t, "type")
	}
	elements(t, p, req, body)
	message(t, p, req, "", body, "/at/0")
	contentType := rapid.SampledFrom([]string{"text/event-stream", "application/json; charset=utf-8", "", "text/html"}).Draw(t, "content type")
	answer := drawText(t, "answer", exchanges, func(x Exchange) string { return x.Answer })
	response(t, p, req, contentType, answer)
	_, _ = reply(t, p, req, contentType, answer)
}

var types = []string{
	"", "other", provider.TypeMessages, provider.TypeResponses, provider.TypeChat, provider.TypeGenerate, provider.TypeCompact,
	provider.TypeEmbeddings, provider.TypeCompletions, provider.TypeCountTokens, provider.TypeBatches, provider.TypeModels,
	provider.TypeFiles, provider.TypeStored,
}

// drawText draws arbitrary bytes, or pieces of the examples in any order with arbitrary bytes between them.
func drawText(t *rapid.T, label string, exchanges []Exchange, of func(Exchange) string) string {
	noise := rapid.SliceOfN(rapid.Byte(), 0, 40)
	if len(exchanges) == 0 || rapid.IntRange(0, 3).Draw(t, label+" kind") == 0 {
		return string(noise.Draw(t, label))
	}
	var b strings.Builder
	for range rapid.IntRange(1, 3).Draw(t, label+" pieces") {
		text := of(rapid.SampledFrom(exchanges).Draw(t, label+" example"))
		from := rapid.IntRange(0, len(text)).Draw(t, label+" from")
		to := rapid.IntRange(from, len(text)).Draw(t, label+" to")
		if rapid.Bool().Draw(t, label+" whole") {
			from, to = 0, len(text)
		}
		b.WriteString(text[from:to])
		if rapid.Bool().Draw(t, label+" noisy") {
			b.Write(noise.Draw(t, label+" noise"))
		}
	}
	return b.String()
}

// foreign: a path that no API has is not understood, whatever stands around the part that is wrong.
func foreign(t *rapid.T, p provider.Protocol) {
	before := rapid.SampledFrom([]string{"", "/", "/v1", "/v1beta", "//"}).Draw(t, "before")
	word := rapid.StringMatching(`nowhere-[a-z%:.0-9]{0,12}`).Draw(t, "word")
	after := rapid.SampledFrom([]string{"", "/", "/messages", "/responses", "/chat/completions", "?path=/v1/messages"}).Draw(t, "after")
	path := before + "/" + word + after
	method := rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method")
	if got := p.Request(method, path, []byte(`{"model":"m","stream":true}`)); got.Type != "" {
		t.Fatalf("%s %q is understood as %q; no API has that path", method, path, got.Type)
	}
}

// cutStream: what a stream says before a cut, it says as a whole too. The stream itself need not be sound.
func cutStream(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	text := drawText(t, "stream", exchanges, func(x Exchange) string { return x.Answer })
	req := provider.Request{Type: rapid.SampledFrom(types).Draw(t, "type")}
	cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
	whole := response(t, p, req, "text/event-stream", text)
	part := response(t, p, req, "text/event-stream", text[:cut])
	if part.Usage != nil && whole.Usage == nil {
		t.Fatalf("the first %d bytes of %q have usage %+v, the whole has none", cut, text, *part.Usage)
	}
	if part.Model != "" && part.Model != whole.Model {
		t.Fatalf("the first %d bytes of %q name model %q, the whole %q", cut, text, part.Model, whole.Model)
	}
	if !strings.HasPrefix(whole.Answer.Text, part.Answer.Text) {
		t.Fatalf("the first %d bytes of %q have text %q, the whole %q", cut, text, part.Answer.Text, whole.Answer.Text)
	}
}

// notObject are the bodies of notJSON that are JSON.
var notObject = map[string]bool{"null": true, "number": true}

// notJSON: a body that is no JSON, or too deep, says nothing.
func notJSON(t *testing.T, p provider.Protocol, exchanges []Exchange) {
	const levels = 1 << 14
	bodies := map[string]string{
		"empty": "", "html": "<html>502 Bad Gateway</html>", "null": "null", "number": "1e400", "open": `{"model":"m","usage":{`,
		"arrays":  `{"model":"m","stream":true,"x":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "}",
		"objects": strings.Repeat(`{"usage":`, levels), "array": strings.Repeat("[", levels),
	}
	asked := append(exchanges[:len(exchanges):len(exchanges)], Exchange{Method: "POST", Path: "/"})
	for name, body := range bodies {
		for _, x := range asked {
			bare := request(t, p, x.Method, x.Path, "")
			if got := request(t, p, x.Method, x.Path, body); got != bare {
				t.Errorf("%s: request %+v, want what the path alone says, %+v", name, got, bare)
			}
			if _, err := p.Elements(bare, []byte(body)); (err == nil) != notObject[name] {
				t.Errorf("%s: elements with error %v", name, err)
			}
			for _, contentType := range []string{"application/json", "text/event-stream", ""} {
				if got := response(t, p, bare, contentType, body); !reflect.DeepEqual(got, provider.Response{}) {
					t.Errorf("%s as %q: response %+v, want nothing", name, contentType, got)
				}
			}
		}
	}
}

// failer is what *testing.T and *rapid.T share here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// request calls p.Request twice, the second time after the first body was spoiled.
func request(t failer, p provider.Protocol, method, path, text string) (got provider.Request) {
	t.Helper()
	lent(t, text, func(body []byte) { got = p.Request(method, path, body) })
	lent(t, text, func(body []byte) {
		if again := p.Request(method, path, body); again != got {
			t.Fatalf("%s %q is %+v, then %+v", method, path, got, again)
		}
	})
	for _, name := range []string{got.Model, got.Session, got.CacheKey} {
		checkModel(t, name)
	}
	return got
}

// response calls p.Response twice, the second time after the first body was spoiled.
func response(t failer, p provider.Protocol, req provider.Request, contentType, text string) (got provider.Response) {
	t.Helper()
	lent(t, text, func(body []byte) { got = p.Response(req, contentType, body) })
	lent(t, text, func(body []byte) {
		again := p.Response(req, contentType, body)
		if !reflect.DeepEqual(again, got) {
			t.Fatalf("response %+v, then %+v, to the same %q", got, again, text)
		}
		if got.Usage != nil && got.Usage == again.Usage {
			t.Fatalf("two answers share one usage")
		}
	})
	checkModel(t, got.Model)
	answerTexts(t, got.Answer)
	if u := got.Usage; u != nil {
		if min(u.Input, u.CacheRead, u.CacheWrite, u.Output) < 0 || u.CacheRead > u.Input-u.CacheWrite {
			t.Fatalf("usage %+v: no count is negative, and the cached parts are parts of the input", *u)
		}
	}
	return got
}

// checkModel holds names to what a journal entry can take.
func checkModel(t failer, model string) {
	t.Helper()
	if len(model) > 1024 || !utf8.ValidString(model) {
		t.Fatalf("%q is no name: too long or not UTF-8", model)
	}
}

// lent passes a body with spare room behind it, checks that neither was touched, and then spoils the body so that an
// answer which kept a part of it changes.
func lent(t failer, text string, use func(body []byte)) {
	t.Helper()
	const guard = "guard"
	memory := []byte(text + guard)
	use(memory[:len(text)])
	if string(memory) != text+guard {
		t.Fatalf("a body was changed: %q became %q", text+guard, memory)
	}
	copy(memory, bytes.Repeat([]byte{'#'}, len(memory)))
}
