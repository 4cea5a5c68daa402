package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of a text, from a place up to another.
type span struct{ from, to int }

// row is a line of a user's text: what it says, without indentation, quote and list marks, and what it looks like.
type row struct {
	span          // what it says; empty in a blank line
	indent int    // bytes before it, marks not counted
	item   bool   // of a list
	quote  bool   // quoted with >
	title  bool   // a heading with #
	fence  bool   // the line that opens or closes a block of code
	inside bool   // in a fenced block
	noise  bool   // it looks like code, a diff, a log or a stack trace
	edge   string // what stands behind a comment's mark, where the line is a comment
}

func (r row) blank() bool { return r.from == r.to }

// prose reports whether a row is told in words and may go on from the row before it.
func (r row) prose() bool { return !r.blank() && !r.fence && !r.inside && !r.noise }

// rows are the lines of a text.
func rows(text string) []row {
	var all []row
	for at := 0; at < len(text); {
		end := len(text)
		if nl := strings.IndexByte(text[at:], '\n'); nl >= 0 {
			end = at + nl
		}
		all = append(all, newRow(text, at, end))
		at = end + 1
	}
	markFences(text, all)
	markDiffs(text, all)
	return all
}

// newRow reads a line on its own.
func newRow(text string, from, to int) row {
	line := text[from:to]
	body := strings.TrimLeft(line, " \t")
	r := row{indent: len(line) - len(body)}
	for strings.HasPrefix(body, ">") {
		r.quote = true
		body = strings.TrimLeft(body[1:], " \t")
	}
	r.fence = strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~")
	if rest := strings.TrimLeft(body, "#"); len(rest) < len(body) && strings.HasPrefix(rest, " ") {
		r.title = true
		body = strings.TrimLeft(rest, " ")
	}
	for {
		rest, ok := afterMark(body)
		if !ok {
			break
		}
		r.item = true
		body = rest
	}
	start := to - len(body)
	body = strings.TrimRight(body, " \t\r")
	r.span = span{start, start + len(body)}
	r.edge = comment(body)
	r.noise = noisy(body)
	return r
}

// afterMark is what stands behind the mark of a list's item.
func afterMark(s string) (string, bool) {
	for _, mark := range [...]string{"- ", "* ", "+ ", "• ", "– ", "— ", "· ", "[ ] ", "[x] ", "[X] ", "✗ ", "✘ ", "❌ ", "✅ ", "⚠️ ", "→ ", "・", "•"} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			return strings.TrimLeft(rest, " \t"), true
		}
	}
	n := strings.TrimPrefix(s, "(")
	digits := 0
	for digits < len(n) && digits < 3 && (n[digits] >= '0' && n[digits] <= '9' || digits == 0 && n[0] >= 'a' && n[0] <= 'z' && len(n) > 1 && n[1] == ')') {
		digits++
	}
	if digits > 0 && digits < len(n) {
		r, size := utf8.DecodeRuneInString(n[digits:])
		rest := n[digits+size:]
		if r == '、' || (r == '.' || r == ')' || r == '．') && (strings.HasPrefix(rest, " ") || r == '．') {
			return strings.TrimLeft(rest, " \t"), true
		}
	}
	return s, false
}

// markFences marks what stands in fenced blocks. A fence that is never closed fences nothing.
func markFences(text string, all []row) {
	open, mark := -1, ""
	for i, r := range all {
		if !r.fence {
			continue
		}
		switch body := text[r.from:r.to]; {
		case open < 0:
			open, mark = i, body[:3]
		case strings.HasPrefix(body, mark):
			for k := open + 1; k < i; k++ {
				all[k].inside = true
			}
			open = -1
		}
	}
}

// markDiffs marks the lines of diffs, which may look like lists.
func markDiffs(text string, all []row) {
	in := false
	for i, r := range all {
		begin := r.from
		for begin > 0 && text[begin-1] != '\n' {
			begin--
		}
		line := text[begin:r.to]
		switch {
		case strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "@@ -") || strings.HasPrefix(line, "--- a/") || strings.HasPrefix(line, "+++ "):
			in = true
		case line == "" || !strings.ContainsRune(" +-\\", rune(line[0])) && !strings.HasPrefix(line, "index "):
			in = false
		}
		if in {
			all[i].noise, all[i].item, all[i].inside = true, false, true
		}
	}
}

// comment is what a comment of a program says; empty where a line is none.
func comment(s string) string {
	for _, mark := range [...]string{"///", "//", "/**", "/*", "<!--", ";;", "--", "#"} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// noisy reports whether a line looks like code, a log or a stack trace rather than like something that a person says.
func noisy(s string) bool {
	if s == "" || opens(s) {
		return false
	}
	if comment(s) != "" || logged(s) || s[0] == '|' {
		return true
	}
	if foreign(s) {
		return false
	}
	words, plain, neutral := tally(s)
	counted := words - neutral
	if counted <= 0 {
		return plain == 0
	}
	share := float64(plain) / float64(counted)
	return share < 0.4 || share < 0.75 && operators(s) || keyword(s) && operators(s)
}

// opens reports whether a line begins with a word that begins a rule, and no program.
func opens(s string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(s, "*_\"'“„«¡¿("), " ")
	switch strings.ToLower(strings.Trim(first, "*_:,")) {
	case "never", "always", "don't", "don’t", "dont", "must", "avoid", "ensure", "prefer", "please", "keep", "only", "do", "make", "no", "under", "remember", "important",
		"nie", "niemals", "immer", "bitte", "vermeide", "jamais", "toujours", "ne", "n'utilise", "évite", "évitez", "nunca", "siempre", "evita", "jamás":
		return !strings.HasSuffix(s, "{")
	}
	return false
}

// logged reports whether a line begins as a line of a log or of a stack trace does.
func logged(s string) bool {
	digits := 0
	for digits < len(s) && (s[digits] >= '0' && s[digits] <= '9' || digits > 0 && strings.IndexByte("-:./TZ,", s[digits]) >= 0) {
		digits++
	}
	if digits >= 8 && strings.ContainsAny(s[:digits], "-:") {
		return true
	}
	if strings.HasPrefix(s, "[") && len(s) > 1 && (s[1] >= '0' && s[1] <= '9' || level(s[1:])) {
		return true
	}
	for _, start := range [...]string{"Traceback (", "File \"", "goroutine ", "npm ERR", "$ ", "# pkg", "panic: ", "Caused by: ", "at Object.", "at async "} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return level(s) || strings.HasPrefix(s, "at ") && strings.HasSuffix(s, ")") && strings.ContainsRune(s, ':')
}

// level reports whether a line begins with the level of a log.
func level(s string) bool {
	for _, name := range [...]string{"ERROR", "WARN", "WARNING", "INFO", "DEBUG", "TRACE", "FATAL"} {
		if rest, ok := strings.CutPrefix(s, name); ok && rest != "" && strings.IndexByte(" :]|\t[", rest[0]) >= 0 {
			return true
		}
	}
	return false
}

// foreign reports whether a line has letters of a script that programs are not written in.
func foreign(s string) bool {
	for _, r := range s {
		if r >= 0x370 && unicode.IsLetter(r) {
			return true
		}
	}
	return false
}

// tally counts the words of a line, those that are plain, and those that say nothing either way: paths, names, code spans.
func tally(s string) (words, plain, neutral int) {
	for _, w := range strings.Fields(masked(s)) {
		words++
		w = strings.Trim(w, "*_,.;:!?\"'“”„«»()…")
		switch letters := strings.TrimFunc(w, unicode.IsLetter); {
		case w == "" || strings.ContainsAny(w, "{}[]=<>|&$;\\(\""):
		case letters == "" || strings.Trim(strings.Map(dropLetter, w), "'’-/") == "":
			plain++
		default:
			neutral++
		}
	}
	return words, plain, neutral
}

// dropLetter drops letters, for strings.Map.
func dropLetter(r rune) rune {
	if unicode.IsLetter(r) {
		return -1
	}
	return r
}

// operators reports whether a line has what only programs have.
func operators(s string) bool {
	if strings.IndexByte("{};,()[]\\", s[len(s)-1]) >= 0 {
		return true
	}
	for _, op := range [...]string{" = ", ":=", "=>", "->", "==", "!=", "&&", "||", "()", "();", "){", "</", "/>", "::", "\":"} {
		if strings.Contains(s, op) {
			return true
		}
	}
	return false
}

// keyword reports whether a line begins with a word that begins statements.
func keyword(s string) bool {
	first, _, _ := strings.Cut(s, " ")
	switch first {
	case "func", "def", "class", "return", "const", "let", "var", "public", "private", "protected", "static", "package", "import", "export", "from", "if", "for",
		"while", "else", "switch", "case", "type", "struct", "interface", "async", "await", "try", "catch", "throw", "raise", "use", "fn", "pub", "impl", "SELECT", "INSERT", "UPDATE":
		return true
	}
	return false
}

// masked is a line whose code spans are one plain word each.
func masked(s string) string {
	if strings.Count(s, "`") < 2 {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "`")
		code, after, closed := strings.Cut(rest, "`")
		if !found || !closed {
			b.WriteString(s)
			return b.String()
		}
		_ = code
		b.WriteString(before)
		b.WriteString("x")
		s = after
	}
}
