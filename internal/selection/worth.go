package selection

import (
	"math"
	"path"
	"strings"

	"ambit/unit"
)

// result is a result that stands in the request, with what it is worth.
type result struct {
	at     int // the message that holds it
	call   *call
	part   *unit.Part
	age    int     // as done has it
	worth  float64 // how much longer than its age it is likely to be needed; below 1 it is not
	tokens int     // as it stands now
	holder string  // the placeholder for it, once it is made, and its tokens
	less   int
	text   string // what stands there now, where it is not the result itself
}

// span is for how many answers a result of a call is kept where nothing presses. In recorded sessions nine of ten quotations of
// what was read come within 28 answers since its file was last named, whether it was edited or not; of what commands print
// within few; of what was found within some more, and that is small. The figures are tuned on them.
func (k kind) span() float64 {
	switch k {
	case reads:
		return 34
	case looks:
		return 12
	case runs:
		return 3
	}
	return 6
}

// slower is how much slower what was read ages as long as calls name its file.
const slower = 2.2

// results are those that stand in the request, and in no part of it that is never touched.
func (t *talk) results() (list []*result) {
	ages := t.done()
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

// done is how much was done behind each message, in answers. One that does nothing but read, look and talk counts less: while an
// agent takes in what it is going to work with, that hardly grows old.
func (t *talk) done() []int {
	ages := make([]int, len(t.in.Messages))
	n := 0.0
	for i := len(ages) - 1; i >= 0; i-- {
		ages[i] = int(math.Round(n))
		if t.in.Messages[i].Role != unit.Assistant || i > 0 && t.in.Messages[i-1].Role == unit.Assistant {
			continue
		}
		counts := onlyReads
		for j := i; j < len(ages) && t.in.Messages[j].Role == unit.Assistant; j++ {
			for _, id := range t.in.Messages[j].Calls {
				if k := t.call(id).kind; k != reads && k != looks && k != visits {
					counts = 1
				}
			}
		}
		n += counts
	}
	return ages
}

// onlyReads is for how much such an answer counts.
const onlyReads = 0.7

// file is what happened to a file, by its name. Ages are as done has them.
type file struct {
	touched int // since it was last read, written or named
	anew    int // since it was last written as a whole
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
	for _, r := range list {
		if r.over(files, latest) {
			continue
		}
		age := float64(r.age)
		if r.call.kind == reads {
			age = r.fileAge(files)
		}
		r.worth = r.call.kind.span() / (1 + age) * bulk(r.tokens) * t.room()
	}
}

// bulk is by how much less a long result is worth a token: of one of over 12,000 tokens less than half as much is quoted later.
func bulk(tokens int) float64 {
	if tokens > large {
		return 0.4
	}
	return 1
}

// large is from how many tokens on a result is long.
const large = 12_000

// room is by how much less everything is worth once the conversation has grown so much that each token costs most; and on a
// cold cache, where all that is kept has to be written anew and nothing has to be that is left out.
func (t *talk) room() float64 {
	less := 1.0
	if t.total-t.in.Head > t.crowded() {
		less = 0.3
	}
	if t.in.Cold {
		less *= 0.5
	}
	return less
}

// crowded is that much, in tokens beside the head: more where a token that is kept costs less than usual, because what is
// needed again is worth the same whatever the model; but not so much that the window forces what is better chosen. Tuned on
// recorded sessions, none of a dearer model than usual.
func (t *talk) crowded() int {
	more := crowded
	if read := t.in.Model.Price.Read; read > 0 {
		more = int(crowded * min(mostCheap, max(1, usualRead/read)))
	}
	if usable := t.in.usable(); usable > 0 {
		more = min(more, max(crowded, usable*3/4))
	}
	return more
}

const (
	crowded   = 90_000
	usualRead = 0.5 // USD per million tokens, as of Opus and of GPT's largest
	mostCheap = 4
)

// fileAge is how old the text of files is: it ages slower while calls name one of them, or what belongs to one of them, as a
// test does to what it tests.
func (r *result) fileAge(files map[string]*file) float64 {
	touched := r.age
	for _, p := range r.call.paths {
		for _, name := range []string{subjectOf(p), nameOf(p)} {
			if x := files[name]; x != nil {
				touched = min(touched, x.touched)
			}
		}
	}
	return float64(touched) + float64(r.age-touched)/slower
}

// over reports whether a later call shows what this one shows, or what it shows is no longer so.
func (r *result) over(files map[string]*file, latest map[string]int) bool {
	if latest[r.call.key()] > r.at {
		return true
	}
	if r.call.kind != reads || len(r.call.paths) != 1 {
		return false
	}
	f := files[exactly(r.call.paths[0])]
	return f != nil && (f.read > r.at || f.anew < r.age)
}

func (c *call) key() string { return c.tool + "\x00" + string(c.args) }

// subjectOf is what a file is about by its name, without marks of tests and kinds; empty where that tells little.
func subjectOf(p string) string {
	base, _, _ := strings.Cut(path.Base(p), ".")
	if base = strings.TrimSuffix(strings.TrimPrefix(base, "test_"), "_test"); len(base) < telling {
		return ""
	}
	return "\x00" + base
}

// telling is from how many bytes on a name is hardly one that every folder has, such as index.
const telling = 8

// exactly is by what a file is known to be the very same one.
func exactly(p string) string { return "=" + path.Clean(p) }

// nameOf is by what a file is known: its last two elements, because some name it from the root and some from where they are.
func nameOf(p string) string {
	dir, base := path.Split(strings.TrimSuffix(p, "/"))
	if dir = path.Base(dir); dir == "." || dir == "/" {
		return base
	}
	return dir + "/" + base
}

// files are those that calls are about, by nameOf.
func (t *talk) files(ages []int) map[string]*file {
	files := make(map[string]*file)
	of := func(name string) *file {
		f := files[name]
		if f == nil {
			f = &file{anew: never, read: -1}
			files[name] = f
		}
		return f
	}
	for i := range t.in.Messages {
		for _, id := range t.in.Messages[i].Calls {
			c := t.call(id)
			for _, p := range c.paths {
				of(nameOf(p)).note(c, i, ages[i])
				of(exactly(p)).note(c, i, ages[i])
				if s := subjectOf(p); s != "" {
					of(s).touched = ages[i]
				}
			}
		}
	}
	return files
}

// note takes down that a call in a message was about the file.
func (f *file) note(c *call, at, age int) {
	f.touched = age
	switch {
	case c.kind == writes:
		if tool := strings.ToLower(c.tool); strings.Contains(tool, "write") || strings.Contains(tool, "create") {
			f.anew = age
		}
	case c.kind == reads && c.whole:
		f.read = at + 1
	}
}
