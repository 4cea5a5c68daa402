package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostEdited is the largest file that is edited, in bytes.
const mostEdited = 16 << 20

// mostNamed is how many lines are named where a text stands in several.
const mostNamed = 20

var editSpec = spec{
	name: "edit",
	about: "Replaces a text in a file by another. The old text must stand in the file exactly once, spaces and line breaks included: " +
		"give as much of what stands around it as that takes, without the line numbers that read shows. With all every place is replaced. " +
		"Write line breaks as plain newlines: the file's own are kept.",
	params: []param{
		{name: "path", kind: kindText, required: true, about: "of the file, relative to the working folder"},
		{name: "old", kind: kindText, required: true, about: "the text that stands there"},
		{name: "new", kind: kindText, required: true, empty: true, about: "the text that is to stand there; empty to delete"},
		{name: "all", kind: kindFlag, about: "replace it wherever it stands; default false"},
	},
}

// edit is permitted as reading, too, since what it says of the file tells what is in it.
func (t *toolbox) edit(ctx context.Context, v values) (string, error) {
	p, err := t.place(ctx, v, editSpec.name, readSpec.name)
	if err != nil {
		return "", err
	}
	defer p.close()
	data, err := p.whole(mostEdited)
	if err != nil {
		return "", err
	}
	err = binary(data)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not valid UTF-8")
	}
	if err != nil {
		return "", fmt.Errorf("edit %q: %w", p.name, err)
	}
	d := documentOf(string(data))
	old, fresh := unix(v.texts["old"]), unix(v.texts["new"])
	if old == fresh {
		return "", errors.New("edit: old and new are the same text, so there is nothing to do")
	}
	found := d.find(old, v.flags["all"])
	switch {
	case len(found) == 0:
		return "", fmt.Errorf("the old text is not in %q. %s", p.name, d.nearest(old))
	case len(found) > 1 && !v.flags["all"]:
		return "", fmt.Errorf("the old text stands %d times in %q, at %s: give more of what stands around the one that is meant, or set all", len(found), p.name, d.lines(found))
	}
	if err := p.replace([]byte(d.replace(found, old, fresh))); err != nil {
		return "", err
	}
	if len(found) > 1 {
		return fmt.Sprintf("edited %s at %d places, %s\n", shown(p.name), len(found), d.lines(found)), nil
	}
	return fmt.Sprintf("edited %s at %s\n", shown(p.name), d.lines(found)), nil
}

// unix is a text whose line breaks are single newlines.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// document is a file's text as it is edited: with plain newlines, the last line's included.
type document struct {
	text   string
	ends   []bool // of each line, whether its break is a CRLF in the file
	broken bool   // the file's last line has a break
}

func documentOf(file string) document {
	d := document{broken: file == "" || strings.HasSuffix(file, "\n")}
	for line := range strings.Lines(file) {
		d.ends = append(d.ends, strings.HasSuffix(line, "\r\n"))
	}
	if d.text = unix(file); !d.broken {
		d.text += "\n"
		if n := len(d.ends); n > 1 { // were it broken, then as the line before it
			d.ends[n-1] = d.ends[n-2]
		}
	}
	return d
}

// find returns where a text stands. Unless all are replaced, places that overlap count, too.
func (d document) find(old string, all bool) (at []int) {
	step := 1
	if all {
		step = len(old)
	}
	for from := 0; ; {
		n := strings.Index(d.text[from:], old)
		if n < 0 {
			return at
		}
		at = append(at, from+n)
		from += n + step
	}
}

// replace is the file with another text in each of the places. A new line's break is as that of the line in which the old
// text begins, and a last line without a break keeps none.
func (d document) replace(at []int, old, fresh string) string {
	var b strings.Builder
	from, line := 0, 0
	for _, n := range at {
		line = d.keep(&b, d.text[from:n], line)
		text := fresh
		if line < len(d.ends) && d.ends[line] {
			text = strings.ReplaceAll(fresh, "\n", "\r\n")
		}
		if from = n + len(old); from == len(d.text) && !d.broken { // the break that is not there was replaced
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
		b.WriteString(text)
		line += strings.Count(old, "\n")
	}
	rest := d.text[from:]
	if !d.broken {
		rest = strings.TrimSuffix(rest, "\n")
	}
	d.keep(&b, rest, line)
	return b.String()
}

// keep writes a part that stays, with its own line breaks, and returns the line behind it.
func (d document) keep(b *strings.Builder, part string, line int) int {
	for text := range strings.Lines(part) {
		text, broken := strings.CutSuffix(text, "\n")
		b.WriteString(text)
		if !broken {
			break
		}
		if d.ends[line] {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		line++
	}
	return line
}

// lines names the lines in which places are.
func (d document) lines(at []int) string {
	var names []string
	line, from := 1, 0
	for _, n := range at {
		line += strings.Count(d.text[from:n], "\n")
		from = n
		if len(names) == mostNamed {
			names = append(names, "…")
			break
		}
		names = append(names, strconv.Itoa(line))
	}
	if len(at) == 1 {
		return "line " + names[0]
	}
	return "lines " + strings.Join(names, ", ")
}
