package provider

import "bytes"

// longestPreamble is how much of a stream is read for its first telling event, in bytes. Responses repeat the request's
// instructions and tools in their first events.
const longestPreamble = 4 << 20

// Preamble reads the beginning of a stream of events as it comes, for one who holds it back until it says something. The
// zero value stands before the stream.
type Preamble struct {
	rest []byte // of the stream, from the event on that did not end yet
	from int    // in rest, from where the end of the event is still to be looked for
	size int    // of what came
	told bool
}

// Telling reports whether what came of a stream holds more than a preamble, see Preamble.Add.
func Telling(stream []byte) bool {
	var p Preamble
	return p.Add(stream)
}

// Add reports whether, with this piece, more than a preamble came: an event that is no ping, does not only say that an
// answer begins, and is no piece of one without text, calls or an end. What is no stream of events, and what goes on for 4 MiB, is telling.
// Each byte is looked at a few times, however the stream is cut.
func (p *Preamble) Add(piece []byte) bool {
	if p.told {
		return true
	}
	p.rest = append(p.rest, piece...)
	p.size += len(piece)
	if p.size > longestPreamble || len(p.rest) == p.size && startsWith(p.rest, "{[<") {
		p.told, p.rest = true, nil
		return true
	}
	end := lastEnd(p.rest, p.from)
	if end == 0 {
		p.from = max(0, len(p.rest)-len("\n\r\n")+1)
		return false
	}
	for e := range Events(p.rest[:end]) {
		if !isPreamble(e.Name, e.Data) {
			p.told, p.rest = true, nil
			return true
		}
	}
	p.rest, p.from = append(p.rest[:0], p.rest[end:]...), 0
	return false
}

// lastEnd returns the position behind the last blank line from from on, or zero.
func lastEnd(b []byte, from int) (end int) {
	for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
		if at := bytes.LastIndex(b[from:], []byte(blank)); at >= 0 {
			end = max(end, from+at+len(blank))
		}
	}
	return end
}

// isPreamble reports whether an event comes before all that an answer says.
func isPreamble(event string, data []byte) bool {
	v := JSON(bytes.TrimSpace(data))
	if v.Kind() != '{' {
		return len(v) == 0
	}
	found := v.Find("type", "choices", "error", "object")
	if event == "" {
		event = found[0].Text()
	}
	switch event {
	case "ping", "message_start", "response.created", "response.in_progress", "response.queued":
		return found[2].Kind() != '{'
	case "", "message":
		return found[1].Kind() == '[' && !isSet(found[2]) && !holdsChoice(found[1])
	}
	return false
}

func isSet(v JSON) bool { return v.Kind() != 0 && v.Kind() != 'n' }

// holdsChoice reports whether one of a chat's choices says something or ends.
func holdsChoice(choices JSON) bool {
	for choice := range choices.Elements() {
		found := choice.Find("delta", "finish_reason")
		if isSet(found[1]) || found[0].Kind() != '{' {
			return true
		}
		o := found[0].Object()
		o.Take("role")
		if o.Rest(nil) {
			return true
		}
	}
	return false
}
