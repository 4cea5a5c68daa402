package replay

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wellFormed reads a picture as XML, and counts its elements by name.
func wellFormed(t *testing.T, picture string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
		}
	}
}

func TestChartsAreXML(t *testing.T) {
	nan := math.NaN()
	cases := map[string]series{
		"one turn":    {[]int{7}, []curve{{recordedName, []float64{1}}, {"a", []float64{0}}}},
		"no value":    {[]int{1, 2}, []curve{{"a", []float64{nan, nan}}, {"b", []float64{1, 2}}}},
		"all nothing": {[]int{1, 2}, []curve{{"a", []float64{0, 0}}}},
		"small":       {[]int{1, 2, 5}, []curve{{"<&\"'>\x00\x1b", []float64{1e-9, 2e-9, nan}}}},
		"large":       {[]int{1, 2, 5}, []curve{{"a", []float64{1, 1e12, 3}}}},
		"no turn":     {nil, []curve{{"a", nil}}},
	}
	f := figure{ID: "f1", Title: `a "title" <b>`, Desc: "x & y", say: usd}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			rates := make([]float64, len(s.curves))
			marks := []mark{{1, 1, "<first>"}, {2, 2, "second"}, {99, 3, "outside"}}
			for _, picture := range []string{string(lineChart(s, f, marks)), string(stripChart(s, f, rates))} {
				if got := wellFormed(t, picture); got["svg"] != 1 || got["desc"] != 1 || got["title"] < 1 {
					t.Errorf("elements: %v", got)
				}
				for _, bad := range []string{"NaN", "Inf", "\x00", "<b>"} {
					if strings.Contains(picture, bad) {
						t.Errorf("%q in %s", bad, picture)
					}
				}
			}
		})
	}
	bars := string(barChart([]string{"<a>", "b"}, [][]piece{{{"read", 3}, {"fresh", 0}}, {{"read", 0}, {"fresh", 0}}}, f))
	if got := wellFormed(t, bars); got["path"] != 1+2 { // the only piece, and two in the key
		t.Errorf("bars: %v", got)
	}
}

func TestThinLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
				return math.NaN()
			}
			return float64(rapid.IntRange(-50, 50).Draw(t, "value"))
		}), 0, 2000).Draw(t, "values")
		at := thin(values)
		known, least, most := 0, math.Inf(1), math.Inf(-1)
		for _, v := range values {
			if !math.IsNaN(v) {
				known, least, most = known+1, min(least, v), max(most, v)
			}
		}
		if len(at) > maxPoints || len(values) <= maxPoints && len(at) != known {
			t.Fatalf("%d points of %d values, %d of them known", len(at), len(values), known)
		}
		drawnLeast, drawnMost := math.Inf(1), math.Inf(-1)
		for i, j := range at {
			if i > 0 && j <= at[i-1] || math.IsNaN(values[j]) {
				t.Fatalf("points %v", at)
			}
			drawnLeast, drawnMost = min(drawnLeast, values[j]), max(drawnMost, values[j])
		}
		if drawnLeast != least || drawnMost != most {
			t.Fatalf("from %v to %v are drawn, of %v to %v", drawnLeast, drawnMost, least, most)
		}
	})
}

func TestApartLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heights := rapid.SliceOfN(rapid.Float64Range(0, 300), 0, 12).Draw(t, "heights")
		slices.Sort(heights)
		got := apart(heights, 16, 300)
		for i, y := range got {
			if i > 0 && y-got[i-1] < 16-1e-9 || y > 300 {
				t.Fatalf("%v of %v", got, heights)
			}
		}
	})
	if got := apart([]float64{10, 50, 52}, 16, 300); !slices.Equal(got, []float64{10, 50, 66}) {
		t.Errorf("%v", got)
	}
}

func TestTopLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-9, 1e12).Draw(t, "value")
		up := top(v)
		if n := up / roundStep(up, 5); up < v*(1-1e-6) || up > 2.1*v || n > 6 {
			t.Fatalf("an axis up to %v for %v, with %v steps", up, v, n)
		}
	})
}

func TestMarksHaveRoom(t *testing.T) {
	turns := make([]int, 400)
	values := make([]float64, len(turns))
	var marks []mark
	for i := range turns {
		turns[i], values[i] = i+1, float64(i)
		marks = append(marks, mark{i + 1, i + 1, "break " + strconv.Itoa(i+1)})
	}
	picture := string(lineChart(series{turns, []curve{{"a", values}}}, figure{say: usd}, marks))
	numbers, flags := strings.Count(picture, "flagged"), strings.Count(picture, `class="flag"`)
	if flags != 400 || numbers < 20 || numbers > 80 {
		t.Errorf("%d flags, %d numbers", flags, numbers)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{whole(0), "0"},
		{whole(1234567), "1,234,567"},
		{whole(-1234), "−1,234"},
		{short(999), "999"},
		{short(1500), "1.5k"},
		{short(2000), "2k"},
		{short(150_000), "150k"},
		{short(2_500_000), "2.5M"},
		{short(3_000_000), "3M"},
		{usd(0), "$0.0000"},
		{usd(0.0123), "$0.0123"},
		{usd(1234.5), "$1,234.50"},
		{usd(-2), "−$2.00"},
		{money(10)(0.004), "$0.00"},
		{money(10)(-0.004), "$0.00"},
		{dollars(0), "$0"},
		{dollars(2.5), "$2.50"},
		{percent(0.1234), "12.3\u202f%"},
		{percent(-0.0001), "0.0\u202f%"},
		{percent(-0.5), "−50.0\u202f%"},
		{lasting(421), "7m1s"},
		{several(1, "turn"), "1 turn"},
		{several(12345, "turn"), "12,345 turns"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
