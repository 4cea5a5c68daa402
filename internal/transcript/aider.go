package transcript

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// aider reads a history of aider, which is Markdown: a chat begins with a heading, each line of the person's begins with
// ####, each line of the program's with > and a blank, and everything else is what the model answered. A block of lines of one kind
// is a unit. Each chat is a conversation of its own.
type aider struct {
	*building
	t     *talk
	model string
	open  bool // the newest answer may go on
	chats int
}

// The kinds of lines.
const (
	aiderBlank   = ' '
	aiderChat    = '='
	aiderPerson  = '#'
	aiderProgram = '>'
	aiderModel   = 'm'
)

// aiderBegun is how a chat begins.
const aiderBegun = "# aider chat started at "

func readAider(b *building) {
	b.kind = provider.TypeChat
	a := &aider{building: b, t: b.talk("0")}
	var block *entry.Unit
	kind := byte(aiderBlank)
	offset := int64(0)
	for line := range bytes.Lines(b.data) {
		b.Lines++
		of := aiderKind(line)
		switch {
		case of == aiderBlank:
			if kind != aiderModel { // what the model says may have blank lines in it
				a.block(kind, block)
				kind, block = aiderBlank, nil
			}
		case of == kind && of != aiderChat:
			block.Length = offset + int64(len(bytes.TrimRight(line, "\r\n"))) - block.Offset
		default:
			a.block(kind, block)
			kind = of
			block = &entry.Unit{Of: entry.PartRecord, Line: b.Lines, Offset: offset, Length: int64(len(bytes.TrimRight(line, "\r\n")))}
		}
		offset += int64(len(line))
	}
	a.block(kind, block)
}

// aiderKind tells of which kind a line is.
func aiderKind(line []byte) byte {
	line = bytes.TrimRight(bytes.TrimPrefix(line, byteOrderMark), " \t\r\n\x00")
	switch {
	case len(line) == 0:
		return aiderBlank
	case bytes.HasPrefix(line, []byte(aiderBegun)):
		return aiderChat
	case string(line) == "####", bytes.HasPrefix(line, []byte("#### ")):
		return aiderPerson
	case string(line) == ">", bytes.HasPrefix(line, []byte("> ")):
		return aiderProgram
	}
	return aiderModel
}

// block takes in a block of lines of one kind.
func (a *aider) block(kind byte, u *entry.Unit) {
	if u == nil {
		return
	}
	m := aiderMessage(a.data[u.Offset : u.Offset+u.Length])
	switch kind {
	case aiderChat:
		a.chat(u)
	case aiderPerson:
		a.open = false
		a.say(a.t, u, m, time.Time{}, true)
	case aiderProgram:
		a.program(u, m)
	case aiderModel:
		if !a.open {
			a.send(a.t, time.Time{}).response.Model = a.model
			a.open = true
		}
		a.answer(a.t.last, u, m)
	}
}

// chat begins a chat. The time is the program's local one, and that of no request.
func (a *aider) chat(u *entry.Unit) {
	text := strings.TrimSpace(string(a.data[u.Offset+int64(len(aiderBegun)) : u.Offset+u.Length]))
	if at, err := time.Parse(time.DateTime, text); err == nil && at.Year() > 0 && a.Began.IsZero() {
		a.Began = at
	}
	a.chats++
	a.t, a.open, a.model = a.talk(strconv.Itoa(a.chats)), false, ""
}

// program takes in what the program says: it may go to the model, as when an edit fails, and tells what was counted.
func (a *aider) program(u *entry.Unit, m provider.Message) {
	broken := false
	for line := range strings.Lines(firstText(m)) {
		line = strings.TrimSpace(line)
		if usage := aiderUsage(line); usage != nil {
			if !a.open && (a.t.next != nil || a.t.last == nil || a.t.last.response.Usage != nil) {
				a.send(a.t, time.Time{}).answered()
			}
			a.t.last.used(usage)
			a.open = false
		}
		if version, ok := strings.CutPrefix(line, "Aider v"); ok && a.Version == "" && len(version) < maxShort {
			a.Version = version
		}
		for _, name := range []string{"Models: ", "Model: ", "Main model: "} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				model, _, _ := strings.Cut(rest, " ")
				a.model = provider.ModelName(strings.TrimSuffix(model, "⚡")) // which marks a prompt cache
			}
		}
		broken = broken || line == "^C KeyboardInterrupt"
	}
	if broken && a.open {
		a.t.last.aborted()
		a.open = false
	}
	a.say(a.t, u, m, time.Time{}, false)
}

// aiderUsage reads what an answer took, as in Tokens: 4.5k sent, 3k cache hit, 180 received. What was read from and
// written to a cache is in what was sent. From a thousand on newer versions round.
func aiderUsage(line string) *entry.Usage {
	line, ok := strings.CutPrefix(line, "Tokens: ")
	if !ok {
		return nil
	}
	line, _, _ = strings.Cut(line, ". Cost")
	count := make(map[string]int64)
	for part := range strings.SplitSeq(strings.TrimSuffix(line, "."), ", ") {
		number, name, _ := strings.Cut(part, " ")
		scale := 1.0
		if short, ok := strings.CutSuffix(number, "k"); ok {
			number, scale = short, 1000
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if err != nil || n < 0 || n > 1e12 {
			return nil
		}
		count[name] = int64(n*scale + 0.5)
	}
	if count["sent"]+count["received"] == 0 {
		return nil
	}
	return provider.NewUsage(count["sent"], count["cache hit"], count["cache write"], count["received"])
}

// aiderMessage reads a block of lines, without what marks them. The field is empty: it is no JSON.
func aiderMessage(raw []byte) provider.Message {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	kind := aiderKind(first)
	var role, said, mark string
	switch kind {
	case aiderPerson:
		role, said, mark = "user", provider.SaidUser, "####"
	case aiderProgram:
		role, said, mark = "tool", provider.SaidTool, ">"
	case aiderModel:
		role, said = "assistant", provider.SaidAssistant
	default:
		return provider.Message{}
	}
	m := provider.Message{Role: role}
	text := strings.ToValidUTF8(strings.Trim(string(bytes.TrimPrefix(raw, byteOrderMark)), "\x00"), "\uFFFD")
	if mark != "" {
		var lines []string
		for line := range strings.Lines(text) {
			line = strings.TrimPrefix(strings.TrimRight(line, " \t\r\n"), mark)
			lines = append(lines, strings.TrimPrefix(line, " "))
		}
		text = strings.Join(lines, "\n")
	}
	if text = strings.TrimRight(text, " \t\r\n"); text != "" {
		m.Texts = append(m.Texts, provider.Text{Said: said, Text: text})
	}
	return m
}
