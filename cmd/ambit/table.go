package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table prints rows in columns for people. Recorded text may hold anything, so what would move the cursor is shown as
// a question mark.
type table struct {
	to    io.Writer
	right []bool // columns that are set to the right
	rows  [][]string
}

// table begins a table; a column whose head begins with > is set to the right.
func (e *env) table(heads ...string) *table {
	t := &table{to: e.out}
	names := make([]string, len(heads))
	for i, h := range heads {
		var right bool
		names[i], right = strings.CutPrefix(h, ">")
		t.right = append(t.right, right)
	}
	t.rows = append(t.rows, names)
	return t
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	t.rows = append(t.rows, cells)
}

func (t *table) flush() {
	wide := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if t.right[i] {
				line.WriteString(pad + cell + "  ")
			} else {
				line.WriteString(cell + pad + "  ")
			}
		}
		fmt.Fprintln(t.to, strings.TrimRight(line.String(), " "))
	}
}

// printable shows text on a terminal without letting it command the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, s)
}

// count writes a number with commas between thousands.
func count[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
