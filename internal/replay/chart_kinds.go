package replay

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strconv"
)

// The sizes of charts, in units that are pixels where a page is as wide as it gets.
const (
	wide    = 1180.0
	narrow  = 580.0
	gutter  = 62.0 // left of a plot, for the figures at its grid
	below   = 38.0 // of a plot, for the turns
	gap     = 16.0 // between two lines of text
	perRow  = 38.0 // the height of a strip
	rowName = 118.0
)

// mark is something that happened at a turn.
type mark struct {
	turn, number int
	what         string
}

// lineChart draws curves over one another, each with its name and last value at the right side, and marks across them.
func lineChart(s series, f figure, marks []mark) template.HTML {
	var c canvas
	p := plot{left: gutter, top: 34, right: wide - 190, bottom: 330 - below}
	p.across(s.turns)
	p.most = top(s.most())
	c.open(f, wide, 330)
	c.axes(&p, f.say)
	c.marks(&p, marks)
	type end struct {
		point
		class, text string
	}
	var ends []end
	for i, curve := range s.curves {
		points := p.points(s.turns, curve.values)
		class := s.class(i)
		c.path("curve "+class, points, false)
		if len(points) > 0 {
			last := points[len(points)-1]
			ends = append(ends, end{last, class, curve.name + " " + f.say(latest(curve.values))})
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	heights := make([]float64, len(ends))
	for i, e := range ends {
		heights[i] = e.y
	}
	for i, y := range apart(heights, gap, p.bottom) {
		e := ends[i]
		c.path("leader "+e.class, []point{e.point, {p.right, e.y}, {p.right + 10, y}}, false)
		c.line("curve "+e.class, p.right+10, y, p.right+28, y)
		c.text("name", p.right+33, y+4, e.text)
	}
	return c.close()
}

// class is by which a page's style knows a curve: the recorded requests look alike in all charts, and so does a policy.
func (s series) class(i int) string {
	switch {
	case s.curves[i].name == recordedName:
		return "kr"
	case s.curves[0].name == recordedName:
		i--
	}
	return "k" + strconv.Itoa(i%8)
}

// latest is the last value that there is, NaN for none.
func latest(values []float64) float64 {
	for _, v := range slices.Backward(values) {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// marks draws what happened as lines across a plot, with a number above each that has room for one.
func (c *canvas) marks(p *plot, marks []mark) {
	room := math.Inf(-1)
	for _, m := range marks {
		if m.turn < p.first || m.turn > p.last {
			continue
		}
		x := p.x(m.turn)
		c.b.WriteString("<g><title>" + escape(m.what) + "</title>")
		c.line("mark", x, p.top-6, x, p.bottom)
		c.path("flag", []point{{x - 4, p.top - 12}, {x + 4, p.top - 12}, {x, p.top - 4}}, true)
		if number := strconv.Itoa(m.number); x-room > 8+7*float64(len(number)) {
			c.text("mid flagged", x, p.top-17, number)
			room = x
		}
		c.b.WriteString("</g>")
	}
}

// stackChart draws curves upon one another as areas, the first at the bottom, each with its name at the right side.
func stackChart(s series, f figure) template.HTML {
	var c canvas
	p := plot{left: gutter, top: 14, right: narrow - 130, bottom: 330 - below}
	p.across(s.turns)
	p.most = top(series{curves: []curve{{values: s.sums()}}}.most())
	c.open(f, narrow, 330)
	base := make([]float64, len(s.turns))
	var names []string
	var heights []float64
	for i, curve := range s.curves {
		var area []point
		for j, n := range s.turns {
			area = append(area, point{p.x(n), p.y(base[j])})
		}
		slices.Reverse(area)
		under := 0.0
		for j, n := range s.turns {
			under = base[j]
			base[j] += curve.values[j]
			area = append(area, point{p.x(n), p.y(base[j])})
		}
		c.path("area a"+strconv.Itoa(i), area, true)
		if n := len(base); n > 0 {
			heights = append(heights, p.y((under+base[n-1])/2))
			names = append(names, curve.name+" "+f.say(curve.values[n-1]))
		}
	}
	c.axes(&p, f.say)
	slices.Reverse(heights) // from top to bottom
	for i, y := range apart(heights, gap, p.bottom-4) {
		class := len(names) - 1 - i
		c.path("leader", []point{{p.right, heights[i]}, {p.right + 12, y}}, false)
		c.path("area a"+strconv.Itoa(class), []point{{p.right + 14, y - 5}, {p.right + 24, y - 5}, {p.right + 24, y + 5}, {p.right + 14, y + 5}}, true)
		c.text("name", p.right+29, y+4, names[class])
	}
	return c.close()
}

// stripChart draws each curve in a strip of its own, from 0 to 1, with its name left and a value for the whole of it right.
func stripChart(s series, f figure, whole []float64) template.HTML {
	var c canvas
	height := 10 + perRow*float64(len(s.curves)) + below
	c.open(f, narrow, height)
	p := plot{left: rowName, right: narrow - 62, most: 1}
	p.across(s.turns)
	for i, curve := range s.curves {
		p.top = 14 + perRow*float64(i)
		p.bottom = p.top + perRow - 14
		class := s.class(i)
		c.line("grid", p.left, p.top, p.right, p.top)
		c.line("grid", p.left, p.bottom, p.right, p.bottom)
		points := p.points(s.turns, curve.values)
		if len(points) > 0 {
			floor := append([]point{{points[0].x, p.bottom}}, points...)
			c.path("under "+class, append(floor, point{points[len(points)-1].x, p.bottom}), true)
		}
		c.path("thin "+class, points, false)
		c.text("name end", p.left-8, (p.top+p.bottom)/2+4, curve.name)
		c.text("name", p.right+8, (p.top+p.bottom)/2+4, f.say(whole[i]))
	}
	p.bottom = height - below
	c.turns(&p)
	return c.close()
}

// piece is a part of a bar.
type piece struct {
	name  string
	value float64
}

// barChart draws a bar of pieces for each name, with the sum at its end.
func barChart(names []string, bars [][]piece, f figure) template.HTML {
	var c canvas
	const bar = 26.0
	height := 34 + bar*float64(len(bars))
	p := plot{left: 136, right: wide - 80}
	c.open(f, wide, height)
	most := 0.0
	for _, b := range bars {
		most = math.Max(most, sumOf(b))
	}
	for i, b := range bars {
		y := 8 + bar*float64(i)
		c.text("name end", p.left-8, y+14, names[i])
		x := p.left
		for j, piece := range b {
			if most == 0 || piece.value <= 0 {
				continue
			}
			w := (p.right - p.left) * piece.value / most
			c.path("area b"+strconv.Itoa(j), []point{{x, y}, {x + w, y}, {x + w, y + bar - 6}, {x, y + bar - 6}}, true)
			if w > 8*float64(len(piece.name)) {
				c.text("within mid", x+w/2, y+14, piece.name)
			}
			x += w
		}
		c.text("name", x+8, y+14, f.say(sumOf(b)))
	}
	if len(bars) > 0 {
		c.key(p.left, height-18, bars[0])
	}
	return c.close()
}

// key says in a row which piece of a bar is what.
func (c *canvas) key(x, y float64, pieces []piece) {
	for i, piece := range pieces {
		c.path("area b"+strconv.Itoa(i), []point{{x, y}, {x + 12, y}, {x + 12, y + 12}, {x, y + 12}}, true)
		c.text("tick", x+17, y+10, piece.name)
		x += 44 + 7*float64(len(piece.name))
	}
}

func sumOf(pieces []piece) (sum float64) {
	for _, p := range pieces {
		sum += p.value
	}
	return sum
}
