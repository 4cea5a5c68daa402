package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	readLines = 2000
	readBytes = 256 << 10
	sniffed   = 8 << 10 // how much of a file is looked at before it is taken for text
)

var readSpec = spec{
	name: "read",
	about: "Shows a text file with the numbers of its lines: each line is its number, a tab, and the line itself, which is what edit wants. " +
		"At most 2000 lines and 256 KiB are shown; what is left out is said, and read with offset.",
	params: []param{
		{name: "path", kind: kindText, required: true, about: "of the file, relative to the working folder"},
		{name: "offset", kind: kindNumber, min: 1, about: "the first line, counted from 1; default 1"},
		{name: "limit", kind: kindNumber, min: 1, max: readLines, about: "the most lines; default 2000"},
	},
}

// read shows a file. Lines have their numbers, because commands, search and people name places by them, and a range can be
// read again; the tab behind the number cannot be taken for the line's own indentation.
func (t *toolbox) read(ctx context.Context, v values) (string, error) {
	p, err := t.place(ctx, v, readSpec.name)
	if err != nil {
		return "", err
	}
	defer p.close()
	if err := p.file(); err != nil {
		return "", err
	}
	f, err := p.root.Open(p.real)
	if err != nil {
		return "", fmt.Errorf("read %q: %w", p.name, bare(err))
	}
	defer f.Close()
	l := listing{from: max(v.numbers["offset"], 1), lines: v.numbers["limit"], most: t.most(readBytes)}
	if l.lines == 0 {
		l.lines = readLines
	}
	if err := l.read(bufio.NewReaderSize(untilDone{ctx, f}, 64<<10)); err != nil {
		return "", fmt.Errorf("read %q: %w", p.name, bare(err))
	}
	if t.o.Read != nil {
		t.o.Read(filepath.Join(t.real, filepath.FromSlash(p.real)))
	}
	return l.text.String(), nil
}

// untilDone reads until its context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read reads, unless the context has ended.
func (u untilDone) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}

// listing is a part of a file with the numbers of its lines.
type listing struct {
	from, lines int // the first line, and how many
	most        int // bytes
	text        strings.Builder
	crlf        int // lines that end so
	shown       int
}

// read makes the listing. The marks at its end stand in parentheses and have no number.
func (l *listing) read(in *bufio.Reader) error {
	head, err := in.Peek(sniffed)
	if err != nil && err != io.EOF {
		return err
	}
	if len(head) == 0 {
		l.text.WriteString("(the file is empty)\n")
	}
	if err := binary(head); err != nil {
		return err
	}
	for at := 1; ; at++ {
		keep := 0
		if at >= l.from {
			keep = l.most
		}
		line, size, ended, err := readLine(in, keep)
		if err != nil {
			return err
		}
		if size == 0 && !ended { // the end of the file
			if at <= l.from && at > 1 {
				return fmt.Errorf("it has %d lines, and none from %d on", at-1, l.from)
			}
			break
		}
		if at < l.from {
			continue
		}
		if l.shown == l.lines {
			fmt.Fprintf(&l.text, "(there is more: go on with offset %d)\n", at)
			break
		}
		if more, err := l.add(at, line, size, ended); err != nil || !more {
			return err
		}
	}
	if l.crlf > 0 {
		fmt.Fprintf(&l.text, "(%d of these lines end in CRLF, which edit keeps)\n", l.crlf)
	}
	return nil
}

// add shows a line, and reports whether another may follow.
func (l *listing) add(at int, line []byte, size int, ended bool) (more bool, err error) {
	if len(line) < size {
		line = line[:runes(line)]
	}
	if err := binary(line); err != nil {
		return false, err
	}
	if !utf8.Valid(line) {
		return false, fmt.Errorf("line %d is not valid UTF-8, so it is no text that can be shown", at)
	}
	number := strconv.Itoa(at) + "\t"
	room := l.most - l.text.Len() - len(number) - 1
	if (len(line) < size || len(line) > room) && l.shown > 0 {
		fmt.Fprintf(&l.text, "(there is more: go on with offset %d)\n", at)
		return false, nil
	}
	if len(line) < size || len(line) > room {
		line = line[:max(0, min(room, len(line)))]
		fmt.Fprintf(&l.text, "%s%s\n(line %d is cut: it has %d bytes; go on with offset %d)\n", number, line[:runes(line)], at, size, at+1)
		return false, nil
	}
	l.shown++
	if ended && bytes.HasSuffix(line, []byte("\r")) {
		l.crlf++
		line = line[:len(line)-1]
	}
	l.text.WriteString(number)
	l.text.Write(line)
	l.text.WriteByte('\n')
	if !ended {
		l.text.WriteString("(the last line has no line break)\n")
	}
	return true, nil
}

// readLine reads a line and returns its first bytes, at most keep, its size, and whether a line break ended it.
func readLine(in *bufio.Reader, keep int) (line []byte, size int, ended bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if ended = err == nil; ended {
			part = part[:len(part)-1]
		}
		size += len(part)
		line = append(line, part[:min(len(part), keep-len(line))]...)
		switch err {
		case nil, io.EOF:
			return line, size, ended, nil
		case bufio.ErrBufferFull:
			continue
		}
		return nil, 0, false, err
	}
}

// binary says why bytes are no text.
func binary(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return errors.New("it is UTF-16, not UTF-8: a command such as iconv can convert it")
	case bytes.IndexByte(data, 0) >= 0:
		return errors.New("it is a binary file: it holds zero bytes")
	}
	return nil
}

// runes is how much of the beginning of a text is whole characters, so far as it is UTF-8.
func runes(text []byte) int {
	for n := 1; n <= min(utf8.UTFMax, len(text)); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}
