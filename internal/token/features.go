package token

import (
	"unicode"
	"unicode/utf8"
)

// Features are what the tokens of a text are estimated from: how many pieces of each kind it has, by the index
// constants. They add up: those of two texts are those of both together, but for a piece that the cut goes through.
//
// The pieces are, from left to right and each as long as it can be,
//
//	a word     [A-Z]?[a-z]+ or [A-Z]+(?![a-z]), ASCII letters only
//	digits     [0-9]+
//	white      [ \t\r\n]+
//	marks      the other ASCII characters, control characters too
//	a sign     one character that is not ASCII, or one byte that is not UTF-8
//
// A tokenizer's own pieces are not far from these, and its vocabulary has most of the words. So a short program in any
// language counts the same, without that vocabulary.
type Features [width]int

// The kinds of pieces. Lengths are in bytes, which are characters where it is ASCII.
const (
	Words   = iota // words
	Long           // their letters behind the fourth of each
	Inner          // words that do not follow a space
	Capital        // letters of words of two and more that are all capitals
	Digits         // groups of up to three digits
	Runs           // runs of marks
	Marks          // marks
	Lines          // runs of white that hold a newline, \n or \r
	Empty          // newlines behind the first of each such run
	Blanks         // runs of white with two spaces and more
	Spaces         // the spaces in those
	Tabs           // tabs
	Latin          // signs of two bytes: Latin with accents, Greek, Cyrillic, Hebrew, Arabic
	Symbols        // signs of three bytes that are no letters: arrows, lines of boxes, and bytes that are not UTF-8
	Letters        // other signs of three bytes: Chinese, Japanese, Korean, the scripts of India
	Wide           // signs of four bytes: emoji
	width
)

// Of counts the pieces of a text. It is about as fast as the text can be read and allocates nothing.
func Of(text string) (f Features) {
	for i := 0; i < len(text); {
		switch classOf(text[i]) {
		case lower, upper:
			i = f.word(text, i)
		case digit:
			end := run(text, i, digit)
			f[Digits] += (end - i + 2) / 3
			i = end
		case white:
			i = f.white(text, i)
		case mark:
			end := run(text, i, mark)
			f[Runs]++
			f[Marks] += end - i
			i = end
		default:
			i += f.sign(text[i:])
		}
	}
	return f
}

// Add adds what another text has.
func (f *Features) Add(other Features) {
	for i, n := range other {
		f[i] += n
	}
}

// class is what kind of piece a byte is of.
type class uint8

const (
	lower class = iota
	upper
	digit
	white
	mark
	other
)

func classOf(b byte) class {
	switch {
	case 'a' <= b && b <= 'z':
		return lower
	case 'A' <= b && b <= 'Z':
		return upper
	case '0' <= b && b <= '9':
		return digit
	case b == ' ' || b == '\n' || b == '\t' || b == '\r':
		return white
	case b < utf8.RuneSelf:
		return mark
	}
	return other
}

// run is where the bytes of one class end that begin at i.
func run(text string, i int, c class) int {
	for i < len(text) && classOf(text[i]) == c {
		i++
	}
	return i
}

// word counts the word that begins at i and returns where it ends.
func (f *Features) word(text string, i int) int {
	capitals := run(text, i, upper)
	end := capitals
	switch small := run(text, capitals, lower); {
	case small == capitals: // ABC
	case capitals-i <= 1: // abc, Abc
		end = small
	default: // ABCdef: the last capital begins the next word
		end--
	}
	f[Words]++
	f[Long] += max(0, end-i-4)
	if i == 0 || text[i-1] != ' ' {
		f[Inner]++
	}
	if end <= capitals && end-i > 1 {
		f[Capital] += end - i
	}
	return end
}

// white counts the white that begins at i and returns where it ends.
func (f *Features) white(text string, i int) int {
	spaces, lines := 0, 0
	for ; i < len(text) && classOf(text[i]) == white; i++ {
		switch text[i] {
		case ' ':
			spaces++
		case '\t':
			f[Tabs]++
		default:
			lines++
		}
	}
	if lines > 0 {
		f[Lines]++
		f[Empty] += lines - 1
	}
	if spaces > 1 {
		f[Blanks]++
		f[Spaces] += spaces
	}
	return i
}

// sign counts the sign with which a text begins and returns its length.
func (f *Features) sign(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case n == 2:
		f[Latin]++
	case n == 3 && unicode.IsLetter(r):
		f[Letters]++
	case n == 4:
		f[Wide]++
	default:
		f[Symbols]++
	}
	return n
}
