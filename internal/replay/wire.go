package replay

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/internal/pricing"
	"ambit/provider"
)

// wired reads one exchange in the way of its wire.
type wired struct {
	family provider.Protocol
	req    provider.Request
}

func wire(x *pool.Exchange) wired {
	if x == nil {
		return wired{family: ambit.Family("", "", "")}
	}
	family := ambit.Family(x.Request.Provider, x.Request.Method, x.Request.Path)
	req := family.Request(x.Request.Method, x.Request.Path, nil)
	req.Model = x.Request.Model
	return wired{family, req}
}

func (w wired) message(raw []byte, at string) provider.Message {
	return w.family.Message(w.req, raw, at)
}

// elements are the canonical messages of a body, each read when it is asked for.
func (w wired) elements(body []byte) []conversation.Element {
	e, err := w.family.Elements(w.req, body)
	if err != nil || e.Previous != "" {
		return nil // not understood, or no whole conversation
	}
	list := make([]conversation.Element, len(e.Messages))
	for i, el := range e.Messages {
		raw := body[el.Offset : el.Offset+el.Length]
		list[i] = conversation.Element{Hash: el.Hash, Message: func() provider.Message { return w.message(raw, el.At) }}
	}
	return list
}

// logged is what stands at a place of a log of raw requests: a body, which may be spelled as a JSON string. It is nil
// where the recording has none.
func logged(at *entry.Place, data []byte) []byte {
	if at == nil || at.Length == 0 || at.Offset < 0 || at.Offset+at.Length > int64(len(data)) {
		return nil
	}
	raw := data[at.Offset : at.Offset+at.Length]
	if v := provider.JSON(raw); v.Kind() == '"' {
		return []byte(v.Text())
	}
	return raw
}

func bodyIn(x *pool.Exchange, data []byte) []conversation.Element {
	body := logged(x.Request.Recorded, data)
	if body == nil {
		return nil
	}
	return wire(x).elements(body)
}

func answerIn(x *pool.Exchange, data []byte) provider.Answer {
	if x == nil || x.Response == nil {
		return provider.Answer{}
	}
	w := wire(x)
	return w.family.Response(w.req, x.Response.Headers["content-type"], logged(x.Response.Recorded, data)).Answer
}

// wireBlocks finds the blocks of a request whose body passed, with the marks that it has. Not ok is one without a body, or
// of a wire whose bodies are not read here.
func (f *File) wireBlocks(s *sizing, x *sent) (ok bool) {
	body := provider.JSON(f.Raw(x.t.N))
	if body == nil {
		return false
	}
	m := body.Find("tools", "system", "messages")
	if m[2].Kind() != '[' {
		return false
	}
	at := ""
	add := func(v provider.JSON, b pricing.Block) {
		b.Hash, b.Mark = s.wireHash(v, &b)
		x.blocks, x.labels = append(x.blocks, b), append(x.labels, label{of: at, bytes: len(v)})
	}
	at = "tools"
	for tool := range m[0].Elements() {
		add(tool, pricing.Block{Tier: pricing.Tools})
	}
	at = "system"
	if m[1].Kind() == '"' {
		add(m[1], pricing.Block{Tier: pricing.System})
	}
	for text := range m[1].Elements() {
		add(text, pricing.Block{Tier: pricing.System})
	}
	n := 0
	for message := range m[2].Elements() {
		at = "messages/" + strconv.Itoa(n)
		n++
		said := message.Find("role", "content")
		b := pricing.Block{Tier: pricing.Messages, Said: wireRoles[said[0].Text()]}
		if said[1].Kind() != '[' {
			add(said[1], b)
		}
		for part := range said[1].Elements() {
			b.Run = wireRuns[part.Find("type")[0].Text()]
			add(part, b)
		}
	}
	return true
}

var (
	wireRoles = map[string]pricing.Said{"user": pricing.User, "assistant": pricing.Assistant, "tool": pricing.Tool}
	wireRuns  = map[string]pricing.Run{"tool_use": pricing.Uses, "tool_result": pricing.Results}
)

// wireHash identifies a piece of a body without its mark, counts it, and returns its mark.
func (s *sizing) wireHash(v provider.JSON, b *pricing.Block) (hash [32]byte, mark time.Duration) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d:", b.Tier, b.Said)
	weight := 0
	if v.Kind() == '{' {
		for name, value := range v.Members() {
			switch name {
			case "cache_control":
				if mark = 5 * time.Minute; value.Find("ttl")[0].Text() == "1h" {
					mark = time.Hour
				}
				continue
			case "signature", "data":
			default:
				for _, text := range leaves(value) {
					weight += s.sizes.Model.Text(text)
				}
			}
			fmt.Fprintf(h, "%q:", name)
			h.Write(value)
		}
	} else {
		weight = s.sizes.Model.Text(v.Text())
		fmt.Fprintf(h, "%q:%q:", "type", "text")
		h.Write(v)
	}
	b.Fixed = v.Kind() == '{' && v.Find("type")[0].Text() == "thinking"
	b.Tokens = int(float64(weight)*s.sizes.Scale + 0.5)
	return [32]byte(h.Sum(nil)), mark
}
