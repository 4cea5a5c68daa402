package anthropic

import (
	"cmp"
	"strings"

	"ambit/provider"
)

// Elements reads tools, system and messages. Tools with defer_loading are outside the prefix.
func (Protocol) Elements(req provider.Request, body []byte) (provider.Elements, error) {
	return elements(req, provider.After(req.Before, body))
}

func elements(req provider.Request, r *provider.Reader) (provider.Elements, error) {
	var e provider.Elements
	switch req.Type {
	case provider.TypeMessages, provider.TypeCountTokens:
		r.Members(func(name string) {
			switch name {
			case "tools":
				r.List("/tools", func(at string) {
					list := &e.Tools
					if r.Peek("defer_loading")[0].True() {
						list = &e.Deferred
					}
					*list = append(*list, r.Element(at, provider.Form{}))
				})
			case "system":
				e.System = system(r)
			case "messages":
				r.List("/messages", func(at string) {
					e.Messages = append(e.Messages, r.Element(at, provider.Form{Blocks: "content", Text: "text"}))
				})
			}
		})
	default:
		r.Skip()
	}
	if err := r.End(); err != nil {
		return provider.Elements{}, err
	}
	return e, nil
}

func system(r *provider.Reader) (blocks []provider.Element) {
	if r.Kind() == '"' {
		return []provider.Element{r.Wrapped("/system", `{"type":"text","text":`, `}`)}
	}
	r.List("/system", func(at string) { blocks = append(blocks, r.Element(at, provider.Form{})) })
	return blocks
}

// session returns the session's id in a metadata.user_id: a member of the JSON that it holds, or in older clients
// what stands behind the last _session_.
func session(metadata provider.JSON) string {
	id := metadata.Find("user_id")[0]
	text := cmp.Or(id.Text(), string(id))
	if strings.HasPrefix(text, "{") {
		return provider.Key(provider.JSON(text).Find("session_id")[0])
	}
	at := strings.LastIndex(text, "_session_")
	if at < 0 || !strings.HasPrefix(text, "user_") {
		return ""
	}
	if session := text[at+len("_session_"):]; isUUID(session) {
		return session
	}
	return ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}
