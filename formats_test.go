package ambit_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// facts are the kinds of entry with the types that hold them.
var facts = []entry.Fact{
	&entry.Session{}, &entry.Request{}, &entry.Response{}, &entry.Relation{}, &entry.Unit{}, &entry.Gap{}, &entry.Imported{}, &entry.Purged{},
	&entry.Decision{}, &entry.Edit{}, &entry.Sent{}, &entry.Pin{}, &entry.Note{},
	&entry.Input{}, &entry.Promoted{}, &entry.Works{}, &entry.Told{}, &entry.Call{}, &entry.Result{}, &entry.Idle{}, &entry.Aside{},
}

// page reads docs/format/journal.md by its own words. What it looks for and does not find is an empty string.
type page string

// find returns the first group of a pattern.
func (p page) find(pattern string) string {
	if m := regexp.MustCompile(pattern).FindStringSubmatch(string(p)); m != nil {
		return m[1]
	}
	return ""
}

// size returns the number of bytes that stands in the row of the limits table that ends with a constant's name.
func (p page) size(constant string) int64 {
	text := p.find("(?m)^\\|[^|]*\\|[^|]*?([0-9][0-9,]*(?: [KMG]i?B)?)[^|0-9]*\\(`" + constant + "`\\)")
	number, unit, _ := strings.Cut(strings.ReplaceAll(text, ",", ""), " ")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n << map[string]int{"KiB": 10, "MiB": 20, "GiB": 30}[unit]
}

// quoted returns the words in backquotes.
func quoted(text string) []string {
	var words []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		words = append(words, m[1])
	}
	return words
}

// kinds returns the rows of the table of facts: the kind, and its members.
func (p page) kinds() map[string][]string {
	rows := map[string][]string{}
	_, text, _ := strings.Cut(string(p), "| kind | members | meaning |\n")
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		if name := quoted(cells[1]); len(name) == 1 {
			rows[name[0]] = quoted(cells[2])
		}
	}
	return rows
}

// stringConstants returns the values of the package's constants of one type.
func stringConstants(tr tree, dir, typ string) []string {
	var values []string
	for _, f := range tr.files {
		if f.dir != dir || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			g, ok := n.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				return true
			}
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				if id, ok := s.Type.(*ast.Ident); ok && id.Name == typ {
					values = append(values, literal(s.Values[0], nil))
				}
			}
			return false
		})
	}
	return values
}

// members returns the JSON keys of a struct, in order.
func members(v any) []string {
	var keys []string
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}

// checkFormat compares the page with the constants and types of the code.
func checkFormat(p page, tr tree) []string {
	var problems []string
	differ := func(what string, page, code any) {
		if !reflect.DeepEqual(page, code) {
			problems = append(problems, fmt.Sprintf("%s: the page says %v, the code %v", what, page, code))
		}
	}
	differ("MaxFrame", p.size("MaxFrame"), int64(journal.MaxFrame))
	differ("MaxBody", p.size("MaxBody"), int64(journal.MaxBody))
	differ("FrameVersion", p.find("the version of the line, (\\d+) \\(`FrameVersion`\\)"), strconv.Itoa(journal.FrameVersion))
	differ("RecordHeader", p.find(`(?m)^ +(\d+) +… +payload`), strconv.Itoa(journal.RecordHeader))
	rows := p.kinds()
	for _, f := range facts {
		differ("members of "+string(f.Kind()), rows[string(f.Kind())], members(f))
	}
	for _, kind := range stringConstants(tr, "entry", "Kind") {
		if rows[kind] == nil {
			problems = append(problems, fmt.Sprintf("kind %s is written and has no row", kind))
		}
		delete(rows, kind)
	}
	for kind := range rows {
		problems = append(problems, fmt.Sprintf("kind %s has a row and no constant", kind))
	}
	differ("ends of a response", quoted(p.find("; (`end` is .*) \\|")), append([]string{"end"}, stringConstants(tr, "entry", "End")...))
	differ("usage", quoted(p.find(`(?s)(.usage. has .*?\.)\n\n`)), append([]string{"usage"}, members(&entry.Usage{})...))
	differ("a body's name", quoted(p.find("`body` names a body: (`[^`]*`)")),
		[]string{fmt.Sprintf(`{"%s":A,"%s":L,"%s":"…"}`, members(&entry.Body{})[0], members(&entry.Body{})[1], members(&entry.Body{})[2])})
	return problems
}

func TestFormats(t *testing.T) {
	report(t, checkFormat(page(readFile(t, "docs/format/journal.md")), moduleTree(t)))
	var kinds []string
	for _, f := range facts {
		kinds = append(kinds, string(f.Kind()))
	}
	if want := stringConstants(moduleTree(t), "entry", "Kind"); !slices.Equal(kinds, want) {
		t.Errorf("this test knows the kinds %v, package entry %v", kinds, want)
	}
}

func TestFormatsCanFail(t *testing.T) {
	text := readFile(t, "docs/format/journal.md")
	for _, c := range []struct{ old, wrong, says string }{
		{"1,048,576 bytes (`MaxFrame`)", "1,000,000 bytes (`MaxFrame`)", "MaxFrame: the page says 1000000, the code 1048576"},
		{"1 GiB (`MaxBody`)", "1 MiB (`MaxBody`)", "MaxBody: the page says 1048576"},
		{", 1 (`FrameVersion`)", ", 2 (`FrameVersion`)", "FrameVersion: the page says 2"},
		{"        72      …  payload", "        76      …  payload", "RecordHeader: the page says 76"},
		{"| `gap` |", "| `hole` |", "members of gap"},
		{"`first_byte_ms`, ", "", "members of response"},
		{"`client-gone`, ", "", "ends of a response"},
		{"`cache_read_tokens`, ", "", "usage"},
		{"| `note` |", "| `memo` |", "kind note is written"},
		{`names a body: ` + "`" + `{"at"`, `names a body: ` + "`" + `{"offset"`, "a body's name"},
	} {
		if !strings.Contains(text, c.old) {
			t.Errorf("the page does not hold %q", c.old)
			continue
		}
		problems := checkFormat(page(strings.Replace(text, c.old, c.wrong, 1)), moduleTree(t))
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, c.says) }) {
			t.Errorf("with %q the check says %q, not %q", c.wrong, problems, c.says)
		}
	}
}

// TestFormatsOnDisk writes a session and compares what is there with the page's diagrams.
func TestFormatsOnDisk(t *testing.T) {
	p := page(readFile(t, "docs/format/journal.md"))
	ctx, mem, now := context.Background(), vfs.NewMem(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d, err := journal.Open("data", journal.Options{FS: mem, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Lock(ctx, strings.Repeat("a", 65)); !errors.Is(err, journal.ErrBadName) {
		t.Errorf("a name of 65 letters gives %v", err)
	}
	name := strings.Repeat("a", 64)
	if _, err := d.Lock(ctx, name); err != nil {
		t.Fatal(err)
	}
	body, err := d.Put(ctx, name, []byte("hello"))
	if err == nil {
		_, err = d.Append(ctx, name, &entry.Session{ID: name}, &entry.Request{N: 1, Body: &body})
	}
	if err != nil {
		t.Fatal(err)
	}
	log := readMem(t, mem, path.Join(d.Folder(name), "bodies", "literals.log"))
	if magic := p.find(`(?m)^ +0 +4 +"(.*)"`); magic == "" || !strings.HasPrefix(log, magic) {
		t.Errorf("a record begins with %q, the page says %q", log[:4], magic)
	}
	if n := journal.RecordHeader + int(binary.LittleEndian.Uint32([]byte(log[4:8]))); n != len(log) {
		t.Errorf("header and payload are %d bytes, the record is %d", n, len(log))
	}
	lines := strings.SplitAfter(readMem(t, mem, path.Join(d.Folder(name), p.find(`(?m)^ +(entries/0+1\.jsonl)`))), "\n")
	for i, shape := range []string{p.find(`(?m)^ +(\{"frame":.*"more":true.*)$`), p.find(`(?m)^ +(\{"frame":1,"seq":N,"prev".*)$`)} {
		shape = regexp.QuoteMeta(shape)
		for from, to := range map[string]string{`:N,`: `:\d+,`, `"P"`: `"[0-9a-f]{64}"`, `\{…\}`: `\{.*\}`, `"S"`: `"[0-9a-f]{64}"`} {
			shape = strings.Replace(shape, from, to, 1)
		}
		if !regexp.MustCompile("^" + shape + "\n$").MatchString(lines[i]) {
			t.Errorf("line %d is %q, the page says %s", i+1, lines[i], shape)
		}
	}
}

func readMem(t *testing.T, mem *vfs.Mem, name string) string {
	t.Helper()
	f, err := mem.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	return string(data)
}
