package transcript

import (
	"bytes"
	"cmp"
	"fmt"
	"unicode/utf8"

	"ambit/provider"
)

// sniffed is how much of a file is looked at to tell what it is, in bytes, unless its first records are longer.
const sniffed = 1 << 20

// sniff tells the format of a recording by its first records.
func sniff(data []byte) (string, error) {
	text := bytes.TrimPrefix(data, byteOrderMark)
	text = bytes.TrimLeft(text, " \t\r\n")
	head := bytes.ReplaceAll(text[:min(len(text), 4096)], []byte{0}, nil) // a crash leaves zeros
	if len(head) == 0 || !mostlyText(head) {
		return "", fmt.Errorf("%w: it is binary", ErrFormat)
	}
	if format := historyFormat(text); format != "" {
		return format, nil
	}
	format, refused := valueFormat(text)
	if format != "" {
		return format, nil
	}
	looked, other := 0, refused
	for n := 0; n < 50 && looked < sniffed && len(text) > 0; n++ {
		line := text
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		v, _, ok := provider.Cut(line)
		if !ok && n == 0 { // one object of many lines
			if format := exportFormat(text); format != "" {
				return format, nil
			}
			other = cmp.Or(other, foreign(text))
		}
		if ok {
			if n == 0 && v.Kind() == '{' && len(v.Find("info")[0]) > 0 && v.Find("messages")[0].Kind() == '[' {
				return OpenCode, nil
			}
			if format := formatOf(v); format != "" {
				return format, nil
			}
			if certain := foreignRecord(v); certain != "" {
				return "", fmt.Errorf("%w: it looks like %s", ErrFormat, certain)
			}
			other = cmp.Or(other, foreign(v))
		}
		looked += len(line)
		text = bytes.TrimLeft(text[len(line):], " \t\r\n")
	}
	if other != "" {
		return "", fmt.Errorf("%w: it looks like %s", ErrFormat, other)
	}
	return "", ErrFormat
}

// mostlyText reports whether a text is UTF-8, but for a few bytes.
func mostlyText(head []byte) bool {
	wrong, n := 0, 0
	for i := 0; i < len(head); n++ {
		r, size := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			wrong++
		}
		i += size
	}
	return wrong*20 <= n
}

// formatOf tells the format whose record this is.
func formatOf(v provider.JSON) string {
	f := v.Find("type", "payload", "timestamp", "message", "uuid", "sessionId", "request", "response", "messages", "request_params", "id", "record_type", "instructions", "cwd", "leafUuid", "data", "history", "instance_id", "$set", "systemPayload", "content")
	kind := f[0].Text()
	switch {
	case f[6].Kind() == '{' && f[6].Find("body")[0].Kind() == '{':
		return exchangeFormat(f[6].Find("body")[0], f[6].Find("url")[0].Text())
	case f[9].Kind() == '{' && f[9].Find("messages")[0].Kind() == '[', f[8].Kind() == '[' && f[7].Kind() == '{':
		return OpenAI
	case kind == "session_meta" || f[1].Kind() == '{' && (kind == "response_item" || kind == "event_msg" || kind == "turn_context" || kind == "compacted"):
		return Codex
	case kind == "" && f[10].Text() != "" && f[2].Text() != "" && f[12] != nil:
		return Codex
	case kind == "session" && f[13] != nil && f[1] == nil:
		return Pi
	case f[15].Kind() == '{' && f[10] != nil && f[2] != nil && copilotEvent(kind):
		return CopilotCLI
	case f[16].Kind() == '[' && f[17] != nil:
		return OpenHands
	case f[15] != nil && kind != "progress":
		return "" // an event stream of another client
	case f[4] != nil && f[5] != nil && (f[19].Kind() == '{' || f[3].Find("parts")[0].Kind() == '['):
		return Qwen
	case f[18].Find("lastUpdated")[0] != nil, kind == "gemini" && f[2] != nil && f[10] != nil && f[20] != nil:
		return GeminiLine
	case (kind == "user" || kind == "assistant") && f[3].Kind() == '{' && f[3].Find("content")[0] != nil:
		return ClaudeCode
	case kind == "summary" && f[14] != nil, kind != "" && f[4] != nil && f[5] != nil, kind == "file-history-snapshot" && f[3] == nil, kind != "" && f[5] != nil && silentClaude[kind]:
		return ClaudeCode
	}
	return ""
}

// exportFormat tells whether one object of many lines is an export of OpenCode.
func exportFormat(text []byte) string {
	if text[0] != '{' {
		return ""
	}
	head := text[:min(len(text), 64<<10)]
	info, messages := bytes.Index(head, []byte(`"info"`)), bytes.Index(head, []byte(`"messages"`))
	if info >= 0 && info < 16 && (messages > info || bytes.Contains(head, []byte(`"projectID"`)) || bytes.Contains(head, []byte(`"ses_`))) {
		return OpenCode
	}
	return ""
}

// foreign names what a file looks like that is not read here.
func foreign(text []byte) string {
	head := text[:min(len(text), 4096)]
	switch {
	case bytes.Contains(head, []byte(`"role"`)) && bytes.Contains(head, []byte(`"content"`)):
		return "a list of messages without the program that made it, which is not imported yet"
	}
	return ""
}

// foreignRecord names what certainly has such a record, and is not read here.
func foreignRecord(v provider.JSON) string {
	f := v.Find("frame", "entry", "sum", "field", "text", "ref", "body")
	switch {
	case f[0] != nil && f[1] != nil && f[2] != nil, f[6].Find("sha256")[0] != nil:
		return "an export of Ambit with a damaged beginning"
	case f[3] != nil && f[4] != nil && f[5] != nil:
		return "the public text of a session of Ambit, without what proves it; export it without --public"
	}
	return ""
}
