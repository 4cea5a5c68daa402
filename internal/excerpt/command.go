package excerpt

import (
	"regexp"
	"strings"
)

// shellUse reads the arguments of a shell.
func shellUse(all []member) use {
	u := use{command: shellText(all)}
	switch argument(all, "run_in_background", "is_background", "isBackground", "background", "mode", "detach") {
	case "true", "async":
		u.background = true
	}
	bare := strings.TrimSpace(u.command)
	if strings.HasSuffix(bare, "&") && !strings.HasSuffix(bare, "&&") || strings.HasPrefix(bare, "nohup ") {
		u.background = true
	}
	if strings.Contains(u.command, "*** Begin Patch") {
		u.files, u.command = patched(u.command), ""
		return u
	}
	u.files = shellFiles(u.command)
	return u
}

// shellText is the command of a shell's arguments. A list is the words of a command; that of a shell that is told to run a
// text is the text.
func shellText(all []member) string {
	for _, name := range commandNames {
		for _, m := range all {
			if m.name != name {
				continue
			}
			if list := listOf(m.raw); len(list) >= 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") {
				return list[2]
			}
			if text := m.text(); text != "" {
				return text
			}
		}
	}
	return ""
}

// longCommand bounds a normalised command, in bytes.
const longCommand = 200

var (
	intoFolder = regexp.MustCompile(`^cd\s+("[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*`)
	pagedOff   = regexp.MustCompile(`\s*(?:2>&1|\|\s*(?:tail|head)(?:\s+-[-\w=]*)*(?:\s+-?\d+)?|\|\|\s*true|;\s*echo\s+[^;|&]*|&)\s*$`)
)

// normalised is a command so that the same one run again is the same: on one line, without the folder that it changes to
// first, and without what only shortens its output.
func normalised(command string) string {
	command, _, _ = strings.Cut(strings.TrimSpace(command), "\n")
	command = strings.Join(strings.Fields(command), " ")
	command = strings.TrimPrefix(command, "nohup ")
	for at := intoFolder.FindStringIndex(command); at != nil; at = intoFolder.FindStringIndex(command) {
		command = command[at[1]:]
	}
	for at := pagedOff.FindStringIndex(command); at != nil && at[0] > 0; at = pagedOff.FindStringIndex(command) {
		command = command[:at[0]]
	}
	return oneLine(command, longCommand)
}

// looks reports whether a command only looks at things, so that its having passed says nothing of what was done.
func looks(command string) bool {
	first, rest, _ := strings.Cut(command, " ")
	switch first[strings.LastIndexByte(first, '/')+1:] {
	case "sed":
		return !strings.Contains(rest, "-i")
	case "ls", "cat", "head", "tail", "grep", "rg", "find", "pwd", "echo", "wc", "which", "nl", "tree", "stat", "file", "du", "df", "ps", "env", "sleep", "cd", "awk",
		"type", "less", "printf", "date", "whoami", "ag", "fd", "jq", "lsof", "sort", "true", "test", "bat", "diff", "kill", "pkill", "":
		return true
	case "git":
		sub, _, _ := strings.Cut(strings.TrimPrefix(rest, "--no-pager "), " ")
		switch sub {
		case "status", "diff", "log", "show", "branch", "blame", "ls-files", "rev-parse", "remote", "grep":
			return true
		}
	}
	return false
}

// shellFiles are the files that a command plainly reads, writes or removes. What is quoted, computed or stands in a here
// document does not count.
func shellFiles(command string) []touch {
	var files []touch
	for line := range strings.Lines(withoutHere(command)) {
		for _, part := range simple(line) {
			files = append(files, wordsTouch(strings.Fields(part))...)
		}
	}
	return files
}

// simple are the simple commands of a line, as far as its quotes are closed.
func simple(line string) []string {
	var parts []string
	var quote byte
	from := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';' || c == '|' || c == '&' && (i == 0 || line[i-1] != '>'):
			parts = append(parts, line[from:i])
			from = i + 1
		}
	}
	return append(parts, line[from:])
}

var hereDocument = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?`)

// withoutHere is a command without its here documents.
func withoutHere(command string) string {
	m := hereDocument.FindStringSubmatch(command)
	if m == nil {
		return command
	}
	var b strings.Builder
	end := ""
	for line := range strings.Lines(command) {
		switch m := hereDocument.FindStringSubmatch(line); {
		case end != "":
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		case m != nil:
			end = m[1]
		}
		b.WriteString(line)
	}
	return b.String()
}

// wordsTouch are the files of a simple command.
func wordsTouch(list []string) []touch {
	var files []touch
	var args []string
	for i, w := range list {
		switch {
		case (w == ">" || w == ">>") && i+1 < len(list) && pathLike(list[i+1]):
			files = append(files, touch{list[i+1], Created})
		case strings.HasPrefix(w, ">") && pathLike(strings.TrimLeft(w, ">")):
			files = append(files, touch{strings.TrimLeft(w, ">"), Created})
		case i > 0 && list[i-1] != ">" && list[i-1] != ">>" && pathLike(w):
			args = append(args, w)
		}
	}
	if len(list) == 0 {
		return nil
	}
	act := Act("")
	switch list[0] {
	case "cat", "head", "tail", "nl", "less", "bat":
		act = Read
	case "sed":
		if act = Read; len(list) > 1 && strings.HasPrefix(list[1], "-i") {
			act = Edited
		}
	case "rm":
		act = Deleted
	case "touch", "tee":
		act = Created
	case "mv":
		if len(args) == 2 {
			return append(files, touch{args[0], Deleted}, touch{args[1], Created})
		}
	case "cp":
		if len(args) == 2 {
			return append(files, touch{args[1], Created})
		}
	}
	if act != "" {
		for _, a := range args {
			files = append(files, touch{a, act})
		}
	}
	return files
}

// pathLike reports whether a word of a command is the path of a file: one with a dot and an ending, without quotes, globs
// and variables.
func pathLike(w string) bool {
	base := w[strings.LastIndexByte(w, '/')+1:]
	return strings.Contains(strings.TrimLeft(base, "."), ".") && !strings.ContainsAny(w, "'\"*?$`<>|&;(){}[],=:!^\\") && !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") && ending.MatchString(base)
}

var ending = regexp.MustCompile(`\.[A-Za-z]\w{0,9}$`)
