// Package providertest holds the laws that every provider.Protocol must pass.
package providertest

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ambit/entry"
	"ambit/provider"
)

// Exchange is a written example of what a protocol must understand. Its Path is what follows the provider's name.
type Exchange struct {
	Method, Path, Request string
	ContentType, Response string
}

// Run checks the laws on arbitrary input, on the given exchanges and on damaged copies of them. Without exchanges
// nothing shows that the protocol understands anything, so a family gives one for each shape of answer it reads.
func Run(t *testing.T, p provider.Protocol, exchanges ...Exchange) {
	t.Run("Arbitrary", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { arbitrary(t, p, exchanges) }) })
	t.Run("Foreign", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { foreign(t, p) }) })
	t.Run("CutStream", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { cutStream(t, p, exchanges) }) })
	t.Run("NotJSON", func(t *testing.T) { notJSON(t, p, exchanges) })
	for i, x := range exchanges {
		t.Run(fmt.Sprintf("Exchange%d", i), func(t *testing.T) { exchange(t, p, x) })
	}
}

// arbitrary: any input gives an answer, the same one each time, from the arguments alone, and one that makes sense.
func arbitrary(t *rapid.T, p provider.Protocol, exchanges []Exchange) {
	x := Exchange{
		Method:      rapid.SampledFrom([]string{"GET", "POST", "HEAD", "DELETE", "", "post"}).Draw(t, "method"),
		Path:        drawText(t, "path", exchanges, func(x Exchange) string { return x.Path }),
		Request:     drawText(t, "request", exchanges, func(x Exchange) string { return x.Request }),
		ContentType: rapid.SampledFrom([]string{"text/event-stream", "application/json; charset=utf-8", "", "text/html"}).Draw(t, "content type"),
		Response:    drawText(t, "response", exchanges, func(x Exchange) string { return x.Response }),
	}
	req := request(t, p, x)
	if rapid.Bool().Draw(t, "another type") {
		req.Type = rapid.SampledFrom(types).Draw(t, "type")
	}
	response(t, p, req, x.ContentType, x.Response)
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
	text := drawText(t, "stream", exchanges, func(x Exchange) string { return x.Response })
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
}

// notJSON: a body that is no JSON, or too deep, says nothing.
func notJSON(t *testing.T, p provider.Protocol, exchanges []Exchange) {
	const levels = 1 << 20
	bodies := map[string]string{
		"empty": "", "html": "<html>502 Bad Gateway</html>", "null": "null", "number": "1e400", "open": `{"model":"m","usage":{`,
		"arrays":  `{"model":"m","stream":true,"x":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "}",
		"objects": strings.Repeat(`{"usage":`, levels), "array": strings.Repeat("[", levels),
	}
	for name, body := range bodies {
		for _, x := range append(exchanges[:len(exchanges):len(exchanges)], Exchange{Method: "POST", Path: "/"}) {
			x.Request = ""
			bare := request(t, p, x)
			x.Request = body
			if got := request(t, p, x); got != bare {
				t.Errorf("%s: request %+v, want what the path alone says, %+v", name, got, bare)
			}
			for _, contentType := range []string{"application/json", "text/event-stream", ""} {
				if got := response(t, p, bare, contentType, body); got != (provider.Response{}) {
					t.Errorf("%s as %q: response %+v, want nothing", name, contentType, got)
				}
			}
		}
	}
}

// exchange: an example is understood; cut anywhere it says no more than as a whole; line ends do not matter.
func exchange(t *testing.T, p provider.Protocol, x Exchange) {
	req := request(t, p, x)
	if req.Type == "" {
		t.Errorf("%s %q is not understood", x.Method, x.Path)
	}
	whole := response(t, p, req, x.ContentType, x.Response)
	for cut := range len(x.Response) {
		part := response(t, p, req, x.ContentType, x.Response[:cut])
		if part.Model != "" && part.Model != whole.Model {
			t.Errorf("cut at %d: model %q, the whole says %q", cut, part.Model, whole.Model)
		}
		if !atMost(part.Usage, whole.Usage) {
			t.Errorf("cut at %d: usage %+v, the whole says %+v", cut, part.Usage, whole.Usage)
		}
	}
	for _, end := range []string{"\r\n", "\r"} {
		other := strings.ReplaceAll(x.Response, "\n", end)
		if got := response(t, p, req, x.ContentType, other); !reflect.DeepEqual(got, whole) {
			t.Errorf("with line ends %q: %+v, want %+v", end, got, whole)
		}
	}
}

func atMost(part, whole *entry.Usage) bool {
	if part == nil || whole == nil {
		return part == nil
	}
	return part.Input <= whole.Input && part.Output <= whole.Output &&
		part.CacheRead <= whole.CacheRead && part.CacheWrite <= whole.CacheWrite
}

// failer is what *testing.T and *rapid.T share here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// request calls p.Request twice, the second time after the first body was spoiled.
func request(t failer, p provider.Protocol, x Exchange) (got provider.Request) {
	t.Helper()
	lent(t, x.Request, func(body []byte) { got = p.Request(x.Method, x.Path, body) })
	lent(t, x.Request, func(body []byte) {
		if again := p.Request(x.Method, x.Path, body); again != got {
			t.Fatalf("%s %q is %+v, then %+v", x.Method, x.Path, got, again)
		}
	})
	checkModel(t, got.Model)
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
		t.Fatalf("%q is no name of a model: too long or not UTF-8", model)
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
