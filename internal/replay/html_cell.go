package replay

import (
	"math"
	"strconv"
	"strings"
)

// table is one of a page. Its rows have as many cells as there are columns.
type table struct {
	Caption string
	Groups  []group // above the columns; none, or as many columns in all as there are
	Columns []column
	Rows    []row
}

// group is a heading over several columns.
type group struct {
	Title string
	Over  int
}

// column is the heading of one, with the field of the report's JSON that its figures are, where they are one.
type column struct {
	Title string
	Field string
	Words bool // no figures: it is aligned left
}

// row is one of a table. The first cell is its heading.
type row struct {
	Class string
	ID    string
	Cells []cell
}

// cell is a text, and the exact figure where it is one.
type cell struct {
	Text  string
	Value string // as JSON spells it
	Mark  string // a short word beside the text
}

// cellsOf makes cells of texts.
func cellsOf(texts ...string) []cell {
	list := make([]cell, len(texts))
	for i, t := range texts {
		list[i].Text = t
	}
	return list
}

// number is a cell with a figure as people read it, and as it is.
func number(v float64, say func(float64) string) cell {
	return cell{Text: say(v), Value: strconv.FormatFloat(v, 'g', -1, 64)}
}

func integer(v int) cell { return number(float64(v), whole) }

// whole is a whole number, its digits in groups of three.
func whole(v float64) string {
	text := grouped(strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64))
	if v <= -0.5 {
		return "−" + text
	}
	return text
}

// several is plural with digits in groups.
func several(n int, what string) string {
	count, name, _ := strings.Cut(plural(n, what), " ")
	return grouped(count) + " " + name
}

// grouped puts commas between groups of three digits.
func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// short is a number of tokens in thousands or millions.
func short(v float64) string {
	unit, digits := "", 0
	switch {
	case v >= 1e6:
		v, unit, digits = v/1e6, "M", 1
	case v >= 1e4:
		v, unit = v/1e3, "k"
	case v >= 1e3:
		v, unit, digits = v/1e3, "k", 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0") + unit
}

// money says amounts of which the greatest is that: with cents, or with more digits where that is less than a dollar.
func money(most float64) func(float64) string {
	digits := 2
	if math.Abs(most) < 1 {
		digits = 4
	}
	return func(v float64) string {
		text := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
		sign := ""
		if v < 0 && strings.Trim(text, "0.") != "" {
			sign = "−"
		}
		dot := len(text) - digits - 1
		return sign + "$" + grouped(text[:dot]) + text[dot:]
	}
}

// usd says one amount, as money does.
func usd(v float64) string { return money(v)(v) }

// percent is a share with one digit behind the point.
func percent(v float64) string {
	text := strconv.FormatFloat(math.Abs(v)*100, 'f', 1, 64) + "\u202f%"
	if v < 0 && text[:3] != "0.0" {
		return "−" + text
	}
	return text
}

// dollars is an amount at a chart's grid, of which the digits say enough.
func dollars(v float64) string {
	if v == math.Trunc(v) {
		return "$" + whole(v)
	}
	return usd(v)
}
