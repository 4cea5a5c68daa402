package agent

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// command is one of those that a line runs.
type command struct {
	text  string   // as it stands in the line
	words []string // without their quotes
}

// plain is the command without what does not change what is run: quotes, assignments, the folder of the program.
func (c command) plain() string {
	words := c.words
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(append([]string{path.Base(words[0])}, words[1:]...), " ")
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, variable) == ""
}

// variable are the characters of a variable's name.
const variable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// structure are the words that make of the commands behind them something else than a list.
var structure = []string{
	"{", "}", "!", "[[", "if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do", "done", "case", "esac", "in", "function", "coproc",
}

// Why a line cannot be taken apart.
const (
	whyUnreadable = "the line holds characters that a shell may read in more than one way"
	whyQuote      = "a quotation in it does not end, or a line goes on behind a backslash"
	whyInside     = "it runs a command inside another, by $( ), backticks or < >( )"
	whyExpansion  = "it holds an expansion that is more than $NAME or ${NAME}"
	whyParen      = "it holds parentheses"
	whyComment    = `it holds a "#" that may begin a comment`
	whyHere       = "it holds a here-document"
	whyWrites     = `it writes to a file by ">"`
	whyRedirected = "a command in it does not begin with what is run"
	whyStructure  = "it holds a word of the shell's own, such as if, for or {"
)

// split takes a command line apart at its operators, for every shell that sh may be. Why is empty if it is certain that no
// other command is run than those that are returned, except by themselves; else it says what is in the way.
func split(line string) (commands []command, why string) {
	s := splitter{line: line}
	if !utf8.ValidString(line) {
		return nil, whyUnreadable
	}
	for s.at < len(line) && s.why == "" {
		s.next()
	}
	s.end()
	return s.commands, s.why
}

// splitter is how far a line is taken apart.
type splitter struct {
	line     string
	at       int
	begin    int             // of the command
	word     strings.Builder // the word so far, without quotes
	in       bool            // there is a word
	words    []string
	commands []command
	why      string
}

// stop gives up.
func (s *splitter) stop(why string) { s.why = why }

// add puts what stands up to a place into the word.
func (s *splitter) add(to int) {
	s.word.WriteString(s.line[s.at:to])
	s.in, s.at = true, to
}

// space ends a word.
func (s *splitter) space() {
	if s.in {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.in = false
}

// end ends a command.
func (s *splitter) end() {
	s.space()
	if text := strings.Trim(s.line[s.begin:s.at], " \t"); text != "" {
		s.commands = append(s.commands, command{text, s.words})
		switch first := strings.TrimLeft(text, "0123456789"); {
		case len(s.words) > 0 && slices.Contains(structure, s.words[0]), text[0] == '{':
			s.stop(whyStructure)
		case first != "" && (first[0] == '<' || first[0] == '>'):
			s.stop(whyRedirected)
		}
	}
	s.words = nil
}

// next takes one character, or one quotation.
func (s *splitter) next() {
	rest := s.line[s.at:]
	switch c := rest[0]; c {
	case ' ', '\t':
		s.space()
		s.at++
	case ';', '&', '|', '\n':
		s.end()
		s.at++
		s.begin = s.at
	case '\\':
		if len(rest) < 2 || rest[1] == '\n' {
			s.stop(whyQuote)
			return
		}
		s.at++
		s.add(s.at + 1)
	case '\'':
		to := strings.IndexByte(rest[1:], '\'')
		if to < 0 {
			s.stop(whyQuote)
			return
		}
		s.at++
		s.add(s.at + to)
		s.at++
	case '"':
		s.quotation()
	case '$':
		s.dollar(false)
	case '`':
		s.stop(whyInside)
	case '(', ')':
		s.stop(whyParen)
	case '#':
		s.stop(whyComment)
	case '<':
		s.input()
	case '>':
		s.output()
	default:
		if c < ' ' || c == 0x7f {
			s.stop(whyUnreadable)
			return
		}
		s.add(s.at + 1)
	}
}

// quotation takes what stands in double quotes.
func (s *splitter) quotation() {
	s.in = true
	for s.at++; s.at < len(s.line) && s.why == ""; {
		switch s.line[s.at] {
		case '"':
			s.at++
			return
		case '\\':
			if s.at+1 >= len(s.line) {
				s.stop(whyQuote)
				return
			}
			s.at++
			s.add(s.at + 1)
		case '`':
			s.stop(whyInside)
		case '$':
			s.dollar(true)
		default:
			s.add(s.at + 1)
		}
	}
	if s.why == "" {
		s.stop(whyQuote)
	}
}

// dollar takes a "$" and, if it is one, the variable in braces.
func (s *splitter) dollar(quoted bool) {
	rest := s.line[s.at+1:]
	switch {
	case rest == "":
	case rest[0] == '(':
		s.stop(whyInside)
		return
	case rest[0] == '[', !quoted && (rest[0] == '\'' || rest[0] == '"'):
		s.stop(whyExpansion)
		return
	case rest[0] == '{':
		name, _, ok := strings.Cut(rest[1:], "}")
		if !ok || name == "" || strings.Trim(name, variable) != "" {
			s.stop(whyExpansion)
			return
		}
		s.add(s.at + len("${}") + len(name))
		return
	}
	s.add(s.at + 1)
}

// input takes a "<" in front of a file's name.
func (s *splitter) input() {
	s.space()
	switch s.at++; {
	case s.at < len(s.line) && s.line[s.at] == '<':
		s.stop(whyHere)
	case s.at < len(s.line) && s.line[s.at] == '(':
		s.stop(whyInside)
	case s.at < len(s.line) && strings.IndexByte(">&", s.line[s.at]) >= 0:
		s.stop(whyWrites)
	}
}

// output takes a ">" that goes to another output or nowhere.
func (s *splitter) output() {
	rest := s.line[s.at+1:]
	if strings.HasPrefix(rest, "(") {
		s.stop(whyInside)
		return
	}
	if to, ok := strings.CutPrefix(rest, "&"); ok {
		to = strings.TrimLeft(to, "0123456789")
		if len(to) == len(rest)-1 || !bounded(to) {
			s.stop(whyWrites)
			return
		}
		s.add(len(s.line) - len(to))
		return
	}
	to, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(rest, ">"), " \t"), "/dev/null")
	if !ok || !bounded(to) {
		s.stop(whyWrites)
		return
	}
	s.add(len(s.line) - len(to))
}

// bounded reports whether a word ends where the rest of a line begins.
func bounded(rest string) bool { return rest == "" || strings.IndexByte(" \t\n;&|", rest[0]) >= 0 }
