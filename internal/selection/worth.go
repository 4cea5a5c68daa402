package selection

import (
	"path"
	"strings"

	"ambit/unit"
)

// result is a result that stands in the request, with what it is worth.
type result struct {
	at     int // the message that holds it
	call   *call
	part   *unit.Part
	age    int     // answers behind it
	worth  float64 // quotations to be expected of a million tokens of such results at one request
	tokens int     // as it stands now
	holder string  // the placeholder for it, once it is made, and its tokens
	less   int
	text   string  // what stands there now, where it is not the result itself
}

// spans are for how many answers a result of each kind is likely to be needed.
type spans struct{ fresh, edited, writes, looks, runs, visits, other float64 }

func learned() spans {
	return spans{
		fresh:/*K:fresh*/ 28, edited: /*K:edited*/ 28, writes: /*K:writes*/ 8, looks: /*K:looks*/ 12,
		runs:/*K:runs*/ 3, visits: /*K:visits*/ 8, other: /*K:other*/ 8,
	}
}

// results are those that stand in the request, and in no part of it that is never touched.
func (t *talk) results() (list []*result) {
	ages := t.turns()
	for i := range t.in.Messages[:t.free] {
		m := &t.in.Messages[i]
		if len(m.Results) == 0 || t.shown[i].Gone {
			continue
		}
		u := t.unit(i)
		for j := range u.Parts {
			p := &u.Parts[j]
			if p.Kind != unit.Result {
				continue
			}
			r := &result{at: i, call: t.call(p.ID), part: p, age: ages[i]}
			text := p.Text
			if now, is := t.shown[i].Texts[p.ID]; is {
				r.text, text = now, now
			}
			r.tokens = t.in.Tokens(text)
			list = append(list, r)
		}
	}
	t.weigh(list, ages)
	return list
}

// file is what happened to a file, by its name.
type file struct {
	calls   int // how many were about it
	touched int // answers since it was last read, written or named
	edited  int // answers since it was last edited; never where it was not
	anew    int // answers since it was last written as a whole
	read    int // the message with the newest result that shows all of it; -1 for none
}

const never = 1 << 30

// weigh says what each result is worth.
func (t *talk) weigh(list []*result, ages []int) {
	files := t.files(ages)
	latest := make(map[string]int) // by what exactly was called
	for _, r := range list {
		latest[r.call.key()] = r.at
	}
	f := learned()
	for _, r := range list {
		if r.over(files, latest) {
			continue
		}
		age, span := float64(r.age), f.other
		switch r.call.kind {
		case reads:
			age, span = f.read(r, files)
		case writes:
			span = f.writes
		case looks:
			span = f.looks
		case runs:
			span = f.runs
		case visits:
			span = f.visits
		}
		r.worth = span / (1 + age)
	}
}

// read is how old the text of files is, and for how long it is likely to be needed: it ages slower while one of them is named in calls.
func (f *spans) read(r *result, files map[string]*file) (age, span float64) {
	touched, edited, calls := r.age, false, 0
	for _, p := range r.call.paths {
		if x := files[nameOf(p)]; x != nil {
			touched = min(touched, x.touched)
			edited = edited || x.edited < r.age
			calls = max(calls, x.calls)
		}
	}
	span = f.fresh
	if edited {
		span = f.edited
	}
	slow := /*K:touch*/ 3 + /*K:calls*/ 0*float64(min(calls, int( /*K:cmax*/ 20)))
	return float64(touched) + float64(r.age-touched)/slow, span
}

// over reports whether a later call shows what this one shows, or what it shows is no longer so.
func (r *result) over(files map[string]*file, latest map[string]int) bool {
	if latest[r.call.key()] > r.at {
		return true
	}
	if r.call.kind != reads || len(r.call.paths) != 1 {
		return false
	}
	f := files[nameOf(r.call.paths[0])]
	return f != nil && (f.read > r.at || f.anew < r.age)
}

func (c *call) key() string { return c.tool + "\x00" + string(c.args) }

// nameOf is by what a file is known: its last two elements, because some name it from the root and some from where they are.
func nameOf(p string) string {
	dir, base := path.Split(strings.TrimSuffix(p, "/"))
	if /*K:base*/ 0 > 0 {
		return base
	}
	if dir = path.Base(dir); dir == "." || dir == "/" {
		return base
	}
	return dir + "/" + base
}

// files are those that calls are about.
func (t *talk) files(ages []int) map[string]*file {
	files := make(map[string]*file)
	for i := range t.in.Messages {
		for _, id := range t.in.Messages[i].Calls {
			c := t.call(id)
			for _, p := range c.paths {
				f := files[nameOf(p)]
				if f == nil {
					f = &file{edited: never, anew: never, read: -1}
					files[nameOf(p)] = f
				}
				f.touched = ages[i]
				f.calls++
				switch c.kind {
				case writes:
					f.edited = ages[i]
					if strings.Contains(strings.ToLower(c.tool), "write") || strings.Contains(strings.ToLower(c.tool), "create") {
						f.anew = ages[i]
					}
				case reads:
					if c.whole {
						f.read = i + 1
					}
				}
			}
		}
	}
	return files
}
