package scripted

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"sync"

	json "github.com/go-json-experiment/json/v1"

	"ambit/entry"
)

// bytesPerToken is the whole tokenizer of this package, unless Options have another.
const bytesPerToken = 4

// prefix is a request as a prompt cache sees it: its elements in render order, the markers left out. Index k of a
// slice tells of the first k elements.
type prefix struct {
	sums  [][sha256.Size]byte // chained, so that a sum names everything before it as well
	sizes []int64             // in bytes
	last  int                 // elements that the last cache_control marker covers
	marks int                 // cache_control markers in all
	per   int64               // bytes of a token
}

// tokens is the size of the first k elements.
func (p *prefix) tokens(k int) int64 { return p.sizes[k] / p.per }

// all is the number of elements.
func (p *prefix) all() int { return len(p.sums) - 1 }

// add appends one element. The tier keeps a tool and a system block of the same spelling apart.
func (p *prefix) add(tier byte, raw []byte) {
	prev := p.sums[len(p.sums)-1]
	p.sums = append(p.sums, sha256.Sum256(append(append(prev[:], tier), raw...)))
	p.sizes = append(p.sizes, p.sizes[len(p.sizes)-1]+int64(len(raw)))
}

// newPrefix is the prefix of no elements, for a model.
func newPrefix(model string) prefix {
	return prefix{sums: [][sha256.Size]byte{sha256.Sum256([]byte(model))}, sizes: []int64{0}, per: bytesPerToken}
}

// elements splits a request: each tool, each system block, each message.
func (r *request) elements() (prefix, error) {
	p := newPrefix(r.Model)
	system, err := blockList(r.System)
	if err != nil {
		return p, fmt.Errorf("system: %w", err)
	}
	for _, tier := range []struct {
		letter byte
		list   []json.RawMessage
	}{{'t', r.Tools}, {'s', system}} {
		for _, raw := range tier.list {
			bare, marks, err := strip(raw)
			if err != nil {
				return p, err
			}
			p.add(tier.letter, bare)
			if marks > 0 {
				p.last = p.all()
			}
			p.marks += marks
		}
	}
	for _, raw := range r.Messages {
		if err := p.addMessage(raw); err != nil {
			return p, err
		}
	}
	if isSet(r.Cache) {
		p.last = p.all()
		p.marks++
	}
	if p.marks > 4 {
		return p, fmt.Errorf("at most 4 blocks may carry cache_control, and %d do", p.marks)
	}
	return p, nil
}

// addMessage adds one message. Only a marker on its last block covers it whole; any other covers what stands before
// the message.
func (p *prefix) addMessage(raw json.RawMessage) error {
	list, err := members(raw)
	if err != nil {
		return err
	}
	for i, m := range list {
		if m.name != "content" || m.value[0] == '[' && !mayMark(m.value) && !bytes.Contains(m.value, []byte("null")) {
			continue // as it is: a list of blocks that hold no marker
		}
		blocks, err := blockList(m.value)
		if err != nil {
			return err
		}
		for j, b := range blocks {
			bare, marks, err := strip(b)
			if err != nil {
				return err
			}
			blocks[j] = bare
			p.marks += marks
			if marks > 0 {
				p.last = p.all()
				if j == len(blocks)-1 {
					p.last++
				}
			}
		}
		list[i].value = array(blocks)
	}
	p.add('m', object(list))
	return nil
}

// cache is the simulated prompt cache: the prefixes that earlier requests have written.
type cache struct {
	mu   sync.Mutex
	held map[[sha256.Size]byte]bool
}

// charge says what a request costs and writes what its markers cover.
func (c *cache) charge(p *prefix) entry.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := p.last
	for read > 0 && !c.held[p.sums[read]] {
		read--
	}
	for k := read + 1; k <= p.last; k++ {
		c.held[p.sums[k]] = true
	}
	return entry.Usage{
		Input:      p.tokens(p.all()),
		CacheRead:  p.tokens(read),
		CacheWrite: p.tokens(p.last) - p.tokens(read),
	}
}

// member is one member of a JSON object, in its place.
type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of an object in their order. The text is valid JSON: it came out of a decoder.
func members(raw json.RawMessage) ([]member, error) {
	raw = bytes.TrimLeft(raw, spaces)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, fmt.Errorf("%s is not an object", clip(string(raw), 40))
	}
	var out []member
	for rest := bytes.TrimLeft(raw[1:], spaces); rest[0] != '}'; {
		var m member
		end := valueEnd(rest)
		if err := json.Unmarshal(rest[:end], &m.name); err != nil {
			return nil, err
		}
		rest = bytes.TrimLeft(rest[end:], spaces)
		rest = bytes.TrimLeft(rest[1:], spaces) // behind the colon
		end = valueEnd(rest)
		m.value = json.RawMessage(rest[:end:end])
		out = append(out, m)
		rest = bytes.TrimLeft(rest[end:], spaces+",")
	}
	return out, nil
}

// spaces are what may stand between the parts of a JSON text.
const spaces = " \t\r\n"

// valueEnd is where the value ends with which valid JSON begins.
func valueEnd(raw []byte) int {
	depth := 0
	for at := 0; at < len(raw); at++ {
		switch raw[at] {
		case '"':
			at = stringEnd(raw, at)
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return at
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
		}
	}
	return len(raw)
}

// stringEnd is where the string ends that begins at a place, its last quote.
func stringEnd(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at
}

// strip removes cache_control from a tool or a block, and from the blocks inside a tool result, and counts what it
// removed. Arguments and schemas stay as they are.
func strip(raw json.RawMessage) (bare json.RawMessage, marks int, err error) {
	list, err := members(raw)
	if err != nil {
		return nil, 0, err
	}
	if !mayMark(raw) {
		return object(list), 0, nil
	}
	kept := list[:0]
	for _, m := range list {
		switch {
		case m.name == "cache_control":
			if isSet(m.value) {
				marks++
			}
			continue
		case m.name == "content" && m.value[0] == '[':
			inner, err := blockList(m.value)
			if err != nil {
				return nil, 0, err
			}
			for i := range inner {
				n := 0
				if inner[i], n, err = strip(inner[i]); err != nil {
					return nil, 0, err
				}
				marks += n
			}
			m.value = array(inner)
		}
		kept = append(kept, m)
	}
	return object(kept), marks, nil
}

// mayMark reports whether a JSON text can have a cache_control in it, however that is spelled. Most have none, and need not be
// taken apart for it.
func mayMark(raw []byte) bool {
	return bytes.Contains(raw, []byte(`cache`)) || bytes.Contains(raw, []byte(`\u00`))
}

// blockList reads content or a system: a string is one block of text, as Anthropic has it.
func blockList(raw json.RawMessage) ([]json.RawMessage, error) {
	if !isSet(raw) {
		return nil, nil
	}
	if raw[0] == '"' {
		return []json.RawMessage{object([]member{{"type", json.RawMessage(`"text"`)}, {"text", raw}})}, nil
	}
	var out []json.RawMessage
	err := json.Unmarshal(raw, &out)
	return out, err
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// object writes members as one object, without spaces.
func object(list []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := marshal(m.name) // a string always encodes
		b.Write(name)
		b.WriteByte(':')
		_ = json.Compact(&b, m.value) // it came out of a decoder, so it is valid
	}
	b.WriteByte('}')
	return b.Bytes()
}

// array writes values that are compact already as one array.
func array(list []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, raw := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	return b.Bytes()
}
