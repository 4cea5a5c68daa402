package excerpt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// YAML is a checkpoint as YAML: the sections in their order, in block style, each text plain or in single
// quotes where that is safe, as it is on lines of its own where it can be, else in double quotes. It is valid for any text; what is not UTF-8 becomes U+FFFD.
// Parse reads it back.
func (c Checkpoint) YAML() string {
	var b strings.Builder
	for _, section := range sections {
		b.WriteString(section + ":")
		if text := c.text(section); text != nil {
			b.WriteString(" " + scalar(*text, 2) + "\n")
			continue
		}
		list := c.list(section)
		if list == nil {
			writeFiles(&b, c.ImportantFiles)
			continue
		}
		if len(*list) == 0 {
			b.WriteString(" []")
		}
		b.WriteByte('\n')
		for _, entry := range *list {
			b.WriteString("  - " + scalar(entry, 4) + "\n")
		}
	}
	return b.String()
}

func writeFiles(b *strings.Builder, files []File) {
	if len(files) == 0 {
		b.WriteString(" []")
	}
	b.WriteByte('\n')
	for _, f := range files {
		b.WriteString("  - path: " + scalar(f.Path, 6) + "\n    reason: " + scalar(f.Reason, 6) + "\n")
	}
}

// scalar is a text as a YAML scalar whose further lines are indented.
func scalar(text string, indent int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	switch {
	case plain(text):
		return text
	case literal(text) && !strings.ContainsAny(text, "'\n"):
		return "'" + text + "'"
	case literal(text):
		margin := "\n" + strings.Repeat(" ", indent)
		return "|-" + margin + strings.ReplaceAll(text, "\n", margin)
	}
	return quoted(text)
}

// plain reports whether a text is a plain scalar that every version of YAML reads as this string.
func plain(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) && first != '/' || strings.HasSuffix(text, ":") || strings.HasSuffix(text, " ") {
		return false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.ContainsFunc(text, control) {
		return false
	}
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf":
		return false
	}
	return true
}

// literal reports whether a text can stand as it is, line by line.
func literal(text string) bool {
	if text == "" || strings.HasSuffix(text, "\n") || text[0] == ' ' || text[0] == '\t' || text[0] == '\n' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return control(r) && r != '\n' && r != '\t' })
}

// control reports whether a character may not stand in YAML as it is, or ends a line in one of its versions.
func control(r rune) bool {
	return r < ' ' || r >= 0x7F && r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r >= 0xFFFE && r <= 0xFFFF || r > 0xFFFF && !unicode.IsPrint(r)
}

// quoted is a text in double quotes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r > 0xFFFF && control(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		case control(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
