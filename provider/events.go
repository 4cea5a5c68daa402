package provider

import (
	"bytes"
	"iter"
	"strings"
)

// Event is one server-sent event. Its data is a part of the body it was read from, unless it had several lines.
type Event struct {
	Name string // empty when the stream gave none
	Data []byte // lines joined by \n; not to be written to
}

// Events reads a recorded text/event-stream body as the HTML standard says. Lines end in LF, CRLF or CR; an event
// without a data line, or without the blank line that ends it, is not yielded.
func Events(body []byte) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		lines := lineReader{rest: bytes.TrimPrefix(body, []byte("\uFEFF")), lf: -1, cr: -1}
		var e Event
		data := 0 // lines of data in e
		for line, ok := lines.next(); ok; line, ok = lines.next() {
			if len(line) == 0 {
				if data > 0 && !yield(e) {
					return
				}
				e, data = Event{}, 0
				continue
			}
			switch field, value := splitField(line); string(field) {
			case "data":
				e.Data = joinData(e.Data, value, data)
				data++
			case "event":
				e.Name = eventName(value)
			}
		}
	}
}

// joinData adds the line after the n that data already holds. The first stays where it is; the second makes a copy.
func joinData(data, line []byte, n int) []byte {
	switch n {
	case 0:
		return line[:len(line):len(line)]
	case 1:
		joined := make([]byte, 0, 2*(len(data)+len(line)+1))
		data = append(joined, data...)
	}
	return append(append(data, '\n'), line...)
}

// splitField cuts a line at its first colon and takes one space off the value. A comment has no field name.
func splitField(line []byte) (field, value []byte) {
	const longest = len("event:")
	at := bytes.IndexByte(line[:min(len(line), longest)], ':')
	if at < 0 {
		if len(line) < longest {
			return line, nil
		}
		return nil, nil // a longer name, which is none that matters
	}
	field, value = line[:at], line[at+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return field, value
}

// eventName makes the strings that the frequent events share constants, so that reading a stream allocates nothing.
func eventName(b []byte) string {
	switch string(b) {
	case "content_block_delta":
		return "content_block_delta"
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.function_call_arguments.delta":
		return "response.function_call_arguments.delta"
	}
	return string(b)
}

// lineReader cuts text into lines. It remembers where the next LF and CR stand, so that each byte is searched for
// each of them once.
type lineReader struct {
	rest   []byte
	lf, cr int // positions in rest, len(rest) for none, negative when not known
}

// next returns the next line without its end; the text behind the last line end is no line.
func (r *lineReader) next() ([]byte, bool) {
	if r.lf < 0 {
		r.lf = find(r.rest, '\n')
	}
	if r.cr < 0 {
		r.cr = find(r.rest, '\r')
	}
	end := min(r.lf, r.cr)
	if end == len(r.rest) {
		return nil, false
	}
	line, skip := r.rest[:end], end+1
	if end == r.cr && r.lf == end+1 && r.lf < len(r.rest) {
		skip++
	}
	r.rest = r.rest[skip:]
	r.lf -= skip
	r.cr -= skip
	return line, true
}

func find(b []byte, c byte) int {
	if i := bytes.IndexByte(b, c); i >= 0 {
		return i
	}
	return len(b)
}

// Parts yields the JSON values that an answer consists of, with the names of the events they came in: the data of
// each event of a stream, the elements of an array that have come, or the body as the only one.
func Parts(contentType string, body []byte) iter.Seq2[string, JSON] {
	return func(yield func(string, JSON) bool) {
		if isStream(contentType, body) {
			for e := range Events(body) {
				if !yield(e.Name, JSON(e.Data)) {
					return
				}
			}
			return
		}
		if !startsWith(body, "[") {
			yield("", JSON(body))
			return
		}
		for v := range JSON(body).Elements() {
			if !yield("", v) {
				return
			}
		}
	}
}

// isStream decides by the content type; where that names neither wire, a body that could start JSON is JSON.
func isStream(contentType string, body []byte) bool {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "text/event-stream":
		return true
	case "application/json":
		return false
	}
	return !startsWith(body, "{[")
}

// startsWith reports whether the first byte that is not white space is one of these.
func startsWith(body []byte, bytesOf string) bool {
	start := bytes.TrimLeft(body, " \t\r\n")
	return len(start) > 0 && strings.IndexByte(bytesOf, start[0]) >= 0
}
