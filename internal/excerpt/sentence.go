package excerpt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longSentence is from where on a sentence also ends at semicolons, in bytes: what stands behind one mostly belongs to
// what stands before it.
const longSentence = 300

// passages are the parts of a text within which sentences are sought: a line, or lines that one sentence goes on over, as
// in text that is wrapped at a width. The index of the first row of each is told.
func passages(text string, all []row) (spans []span, first []int) {
	for i := 0; i < len(all); i++ {
		if all[i].blank() {
			continue
		}
		s, from := all[i].span, i
		for i+1 < len(all) && all[i].to-s.from < maxPassage && goesOn(text, all[i], all[i+1]) {
			i++
			s.to = all[i].to
		}
		spans, first = append(spans, s), append(first, from)
	}
	return spans, first
}

// maxPassage is how long a passage is that goes on in the next line, in bytes: a longer one is a log, or a list.
const maxPassage = 1500

// wrapped is the shortest line behind which a sentence may go on, in bytes; text is wrapped at widths well above it.
const wrapped = 30

// goesOn reports whether a sentence of a row goes on in the next.
func goesOn(text string, a, b row) bool {
	if !a.prose() || !b.prose() || a.title || b.title || b.item || b.quote || a.to-a.from < wrapped {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(text[a.from:a.to])
	if strings.ContainsRune(".!?:;。！？：；…", end) {
		return false
	}
	start, _ := utf8.DecodeRuneInString(text[b.from:b.to])
	return end == ',' || unicode.IsLower(start) || start == '`' || start == '(' || unicode.IsDigit(start) || pending(text[a.from:a.to])
}

// pending reports whether a line ends with a word behind which a sentence cannot end.
func pending(s string) bool {
	switch strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:]) {
	case "the", "a", "an", "of", "to", "in", "with", "and", "or", "not", "be", "for", "on", "by", "is", "are", "that", "never", "only", "must", "no", "from", "than", "as", "at",
		"der", "die", "das", "und", "oder", "nicht", "mit", "von", "le", "la", "les", "de", "et", "ou", "el", "los", "y", "con":
		return true
	}
	return false
}

// sentences are those of a passage.
func sentences(text string, p span) []span {
	var all []span
	code := strings.Count(text[p.from:p.to], "`")%2 == 0
	quoted, from := false, p.from
	for i := p.from; i < p.to; {
		r, n := utf8.DecodeRuneInString(text[i:p.to])
		if r == '`' && code {
			quoted = !quoted
		}
		i += n
		if quoted {
			continue
		}
		if end := endOf(text, span{from, p.to}, i, r); end > 0 {
			all = appendSentence(all, text, span{from, end})
			i, from = end, end
		}
	}
	return appendSentence(all, text, span{from, p.to})
}

// endOf is where a sentence ends whose character r ends at i; 0 where it goes on.
func endOf(text string, s span, i int, r rune) int {
	switch r {
	case '。', '！', '？', '；':
		return closing(text, i, s.to)
	case '.', '!', '?':
		end := closing(text, i, s.to)
		if end < s.to && !space(text[end]) && !wide(text[end:s.to]) || r == '.' && abbreviation(text[s.from:i-1], text[end:s.to]) {
			return 0
		}
		return end
	}
	return 0
}

// closing is the place behind quotes and brackets that close behind a sentence.
func closing(text string, at, to int) int {
	for at < to {
		r, n := utf8.DecodeRuneInString(text[at:to])
		if !strings.ContainsRune(".!?\"')]*_”’»」』）", r) {
			break
		}
		at += n
	}
	return at
}

func space(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// wide reports whether a text begins with a character of a script that has no spaces.
func wide(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// abbreviation reports whether the full stop behind a text ends no sentence: that of an abbreviation, of an initial or of
// a number that begins the text.
func abbreviation(before, after string) bool {
	word := before[strings.LastIndexAny(before, " \n\t(")+1:]
	switch lower := strings.ToLower(word); lower {
	case "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "resp", "incl", "excl", "nr", "z.b", "d.h", "u.a", "bzw", "usw", "ca", "ggf", "evtl", "inkl",
		"dr", "mr", "mrs", "prof", "fig", "sec", "p.ex", "p.ej", "ej", "sr", "sra", "max", "min", "ver", "z", "b", "d", "h":
		return strings.TrimSpace(after) != ""
	case "no":
		after = strings.TrimLeft(after, " ")
		return after != "" && after[0] >= '0' && after[0] <= '9'
	default:
		return len(strings.TrimSpace(before)) <= 2 && lower != "" && strings.Trim(lower, "0123456789") == ""
	}
}

// appendSentence adds a sentence without the space around it; a long one in its parts between semicolons.
func appendSentence(all []span, text string, s span) []span {
	for long := s.to-s.from > longSentence; long; {
		at := strings.Index(text[s.from:s.to], "; ")
		if at < 0 {
			break
		}
		all = appendTrimmed(all, text, span{s.from, s.from + at + 1})
		s.from += at + 1
	}
	return appendTrimmed(all, text, s)
}

// appendTrimmed adds a part of a text without the space around it, if anything is left.
func appendTrimmed(all []span, text string, s span) []span {
	for s.from < s.to && space(text[s.from]) {
		s.from++
	}
	for s.to > s.from && space(text[s.to-1]) {
		s.to--
	}
	if s.from == s.to {
		return all
	}
	return append(all, s)
}
