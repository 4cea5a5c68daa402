package providertest

import (
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"ambit/provider"
)

// Told checks that nothing is dropped without a word. At every place of every message and answer, one after another,
// it puts a text of its own: as a string, inside an object or an array, and as a member that no API has. The text must be
// among the public texts, or what it stands in must be Unknown, unless its JSON pointer into the message, the answer or
// the event is private: matches a pattern as of path.Match, or stands below one that does. A pattern that begins with **/
// matches at any depth. A pointer into a message that has a type begins with that; one into an answer with /answer; one
// into an event with /event and its type. /thought is added where a part says that it is one. What the system and the developer say is private anyway.
func Told(t *testing.T, p provider.Protocol, private []string, exchanges ...Exchange) {
	for _, x := range exchanges {
		t.Run(x.Name, func(t *testing.T) {
			for _, problem := range dropped(p, private, x) {
				t.Error(problem)
			}
		})
	}
}

// dropped says where a text is dropped.
func dropped(p provider.Protocol, private []string, x Exchange) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	e, _ := p.Elements(x.Request, []byte(x.Body))
	for _, el := range e.Messages {
		toldMessage(say, p, x, el, private)
	}
	toldAnswer(say, p, x, private)
	return problems
}

func toldMessage(say func(string, ...any), p provider.Protocol, x Exchange, el provider.Element, private []string) {
	n := parse(x.Body[el.Offset : el.Offset+el.Length])
	n.mark(n, n.kind(), func(at string) {
		raw := n.spell(nil)
		m := p.Message(x.Request, []byte(raw), el.At)
		if m.Role != "system" && m.Role != "developer" && !m.Unknown && !isTold(m.Texts) && !isPrivate(at, private) {
			say("message %s: at %q a text is dropped, in\n%s", el.At, at, raw)
		}
	})
}

func toldAnswer(say func(string, ...any), p provider.Protocol, x Exchange, private []string) {
	if reflect.DeepEqual(x.Response.Answer, provider.Answer{}) {
		return
	}
	check := func(at, body string) {
		a := p.Response(x.Request, x.ContentType, []byte(body)).Answer
		if !a.Unknown && !isTold(a.Texts()) && !isPrivate(at, private) {
			say("answer: at %q a text is dropped, in\n%s", at, body)
		}
	}
	if !strings.HasPrefix(x.ContentType, "text/event-stream") {
		if isStrict(x.Answer) {
			n := parse(x.Answer)
			n.mark(n, "/answer", func(at string) { check(at, n.spell(nil)) })
		}
		return
	}
	for event := range provider.Events([]byte(x.Answer)) {
		if !isStrict(string(event.Data)) {
			continue
		}
		before, after, _ := strings.Cut(x.Answer, string(event.Data))
		n := parse(string(event.Data))
		n.mark(n, "/event"+n.kind(), func(at string) { check(at, before+n.spell(nil)+after) })
	}
}

// kind is the step that a type adds to pointers into a value.
func (n *node) kind() string {
	if v := n.member("type"); v != nil && v.open == 0 && v.text[0] == '"' {
		return "/" + provider.JSON(v.text).Text()
	}
	return ""
}

// marker is a text that no example has.
const marker = "m4rk"

func isTold(texts []provider.Text) bool {
	for _, text := range texts {
		if strings.Contains(text.Text, marker) {
			return true
		}
	}
	return false
}

func isPrivate(at string, private []string) bool {
	for ; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		for _, pattern := range private {
			deep, anywhere := strings.CutPrefix(pattern, "**")
			if ok, _ := path.Match(pattern, at); ok && !anywhere {
				return true
			}
			for rest := at; anywhere && rest != ""; {
				if ok, _ := path.Match(deep, rest); ok {
					return true
				}
				next := strings.IndexByte(rest[1:], '/')
				if next < 0 {
					break
				}
				rest = rest[1+next:]
			}
		}
	}
	return false
}

// mark puts the marker at each place in a value, calls check with the pointer to it, and restores what was there.
func (n *node) mark(top *node, at string, check func(at string)) {
	was := *n
	for step, spelled := range map[string]string{"": `"` + marker + `"`, "/hologram": `{"hologram":"` + marker + `"}`, "/0": `["` + marker + `"]`} {
		if n != top || n.open == 0 {
			*n = *parse(spelled)
			check(at + step)
			*n = was
		}
	}
	if n.open == '{' {
		n.names = append(n.names[:len(n.names):len(n.names)], `"hologram"`)
		n.kids = append(n.kids[:len(n.kids):len(n.kids)], parse(`"`+marker+`"`))
		check(at + "/hologram")
		*n = was
	}
	if v := n.member("thought"); v != nil && v.text == "true" {
		at += "/thought"
	}
	for i, kid := range n.kids {
		step := strconv.Itoa(i)
		if n.open == '{' {
			step = provider.PointerName(n.name(i))
		}
		kid.mark(top, at+"/"+step, check)
	}
}
