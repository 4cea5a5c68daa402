package replay

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// canvas is an SVG picture while it is drawn. Lengths are in units of its view box.
type canvas struct{ b strings.Builder }

// plot is where figures are drawn on a canvas: a rectangle, and what its sides stand for.
type plot struct {
	left, top, right, bottom float64
	first, last              int // turns
	most                     float64
}

// figure is what is said of a chart beside its curves.
type figure struct {
	ID    string // of the element, unique in its page
	Title string
	Desc  string
	say   func(float64) string // a value, for people
}

// open begins a picture of so many units.
func (c *canvas) open(f figure, width, height float64) {
	fmt.Fprintf(&c.b, `<svg role="img" viewBox="0 0 %s %s" aria-labelledby="%s-title %s-desc">`, coord(width), coord(height), f.ID, f.ID)
	fmt.Fprintf(&c.b, `<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, f.ID, escape(f.Title), f.ID, escape(f.Desc))
}

// close ends the picture. Whatever it says was escaped when it was drawn.
func (c *canvas) close() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String())
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`, class, coord(x1), coord(y1), coord(x2), coord(y2))
}

// path draws a curve through points, or fills what it encloses; its class says which.
func (c *canvas) path(class string, points []point, closed bool) {
	if len(points) == 0 {
		return
	}
	c.b.WriteString(`<path class="` + class + `" d="`)
	for i, p := range points {
		c.b.WriteByte("ML"[one(i > 0)])
		c.b.WriteString(coord(p.x) + " " + coord(p.y))
	}
	if closed {
		c.b.WriteByte('Z')
	}
	c.b.WriteString(`"/>`)
}

// text writes at a place; where that is in the text is said by the class: its start, unless the class has another anchor.
func (c *canvas) text(class string, x, y float64, text string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s">%s</text>`, class, coord(x), coord(y), escape(text))
}

// point is a place on a canvas.
type point struct{ x, y float64 }

func (p *plot) x(turn int) float64 {
	if p.last == p.first {
		return (p.left + p.right) / 2
	}
	return p.left + (p.right-p.left)*float64(turn-p.first)/float64(p.last-p.first)
}

func (p *plot) y(v float64) float64 {
	if p.most <= 0 {
		return p.bottom
	}
	return p.bottom - (p.bottom-p.top)*v/p.most
}

// across lays the turns of series from the left side to the right one.
func (p *plot) across(turns []int) {
	if len(turns) > 0 {
		p.first, p.last = turns[0], turns[len(turns)-1]
	}
}

// points are those of a curve that are drawn.
func (p *plot) points(turns []int, values []float64) []point {
	at := thin(values)
	list := make([]point, len(at))
	for i, j := range at {
		list[i] = point{p.x(turns[j]), p.y(values[j])}
	}
	return list
}

// axes draws a grid with round figures at it, and the turns below.
func (c *canvas) axes(p *plot, say func(float64) string) {
	for v := 0.0; v <= p.most*1.0001; v += roundStep(p.most, 5) {
		c.line("grid", p.left, p.y(v), p.right, p.y(v))
		c.text("tick end", p.left-6, p.y(v)+4, say(v))
	}
	c.turns(p)
}

// turns writes round numbers of turns below a plot.
func (c *canvas) turns(p *plot) {
	step := max(1, int(roundStep(float64(p.last-p.first), int((p.right-p.left)/60))))
	for n := (p.first + step - 1) / step * step; n <= p.last; n += step {
		c.line("axis", p.x(n), p.bottom, p.x(n), p.bottom+4)
		c.text("tick mid", p.x(n), p.bottom+17, strconv.Itoa(n))
	}
	c.line("axis", p.left, p.bottom, p.right, p.bottom)
	c.text("tick mid", (p.left+p.right)/2, p.bottom+32, "turn")
}

// roundStep is a step of 1, 2 or 5 times a power of ten by which a length is parted into at most about so many.
func roundStep(length float64, most int) float64 {
	if length <= 0 || most < 1 {
		return 1
	}
	rough := length / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// top is the round figure at or above a value up to which an axis goes.
func top(v float64) float64 {
	step := roundStep(v, 5)
	return math.Max(step, math.Ceil(v/step-1e-9)*step)
}

// apart moves heights so that neighbours are at least a gap apart, in their order, and above the lowest place as far as
// there is room. It returns one for each, in the order in which they are given, from top to bottom.
func apart(heights []float64, gap, lowest float64) []float64 {
	out := append([]float64(nil), heights...)
	for i := 1; i < len(out); i++ {
		out[i] = math.Max(out[i], out[i-1]+gap)
	}
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = math.Min(out[i], lowest)
		lowest = out[i] - gap
	}
	return out
}

// coord is a length with one digit behind the point at most.
func coord(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// escape makes text of anything: what XML does not allow becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
