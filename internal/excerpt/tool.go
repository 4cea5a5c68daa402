package excerpt

import (
	"encoding/json"
	"regexp"
	"strings"
)

// touch is a file that a call works on.
type touch struct {
	path string
	act  Act
}

// use is what a call of a tool is meant to do, as far as its name and arguments tell.
type use struct {
	files      []touch
	command    string // as it was written, of a shell
	background bool   // it is to go on running
	session    string // of a running command that it looks at, writes to or ends
	ends       bool   // it ends that
	todos      []todo // the list of what is to do, as it is from now on
	plans      bool   // it sets that list
}

// todo is an entry of such a list.
type todo struct{ text, status string }

// useOf reads a call of the tools of Claude Code, OpenCode, Crush, pi, Gemini CLI, Qwen Code, Copilot CLI, Cline, Roo Code
// and Codex, by names that they share; prefixes of a tool's server and the spelling of its name do not count.
func useOf(tool string, all []member) use {
	switch name := plainName(tool); name {
	case "read", "readfile", "view", "viewfile", "openfile", "open", "notebookread", "fileread", "readmanyfiles", "readfiles", "viewimage", "fsread":
		return use{files: touches(all, Read)}
	case "write", "writefile", "writetofile", "create", "createfile", "filewrite", "savefile", "fswrite":
		return use{files: touches(all, Created)}
	case "edit", "multiedit", "notebookedit", "replace", "editfile", "replaceinfile", "applydiff", "searchreplace", "searchandreplace", "strreplace",
		"insertcontent", "insert", "fileedit", "patchfile", "hashlineedit":
		return use{files: touches(all, editing(all))}
	case "delete", "deletefile", "removefile", "remove":
		return use{files: touches(all, Deleted)}
	case "applypatch", "patch":
		return use{files: patched(argument(all, "input", "patch", "patchText", "patch_text", "diff", "content"))}
	case "strreplaceeditor", "strreplacebasededittool", "texteditor", "editor", "strreplacebasededit", "fileeditor":
		return use{files: touches(all, commanded(argument(all, "command")))}
	case "todowrite", "updateplan", "writetodos", "updatetodo", "todo", "updatetodos", "managetodolist", "updatetodolist", "settodos":
		return use{plans: true, todos: todos(all)}
	case "bash", "shell", "execcommand", "exec", "runshellcommand", "localshell", "shellcommand", "containerexec", "terminal", "runcommand", "executecommand",
		"runterminalcmd", "runinterminal", "execute", "executebash", "powershell", "cmd", "commandexecution", "sh", "runterminalcommand":
		return shellUse(all)
	case "writestdin", "bashoutput", "taskoutput", "readbash", "shelloutput", "writebash", "getterminaloutput", "commandstatus":
		return use{session: argument(all, sessionNames...)}
	case "killshell", "killbash", "stopbash", "taskstop", "killterminal", "killprocess":
		return use{session: argument(all, sessionNames...), ends: true}
	}
	return use{}
}

// sessionNames are the arguments that name a running command.
var sessionNames = []string{"session_id", "sessionId", "shell_id", "shellId", "bash_id", "bashId", "task_id", "taskId", "id"}

// plainName is a tool's name in small letters and without the prefix of its server.
func plainName(tool string) string {
	if at := strings.LastIndex(tool, "__"); at >= 0 {
		tool = tool[at+2:]
	}
	for _, prefix := range [...]string{"functions.", "default_api.", "default_api:", "native_"} {
		tool = strings.TrimPrefix(tool, prefix)
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(tool))
}

// touches are the files that arguments name, one or a list.
func touches(all []member, act Act) []touch {
	if act == "" {
		return nil
	}
	if path := argument(all, pathNames...); path != "" {
		return []touch{{path, act}}
	}
	var files []touch
	for _, m := range all {
		if m.name != "paths" && m.name != "files" && m.name != "file_paths" && m.name != "include" {
			continue
		}
		for _, path := range listOf(m.raw) {
			files = append(files, touch{path, act})
		}
		var objects []struct{ Path string }
		if json.Unmarshal(m.raw, &objects) == nil {
			for _, o := range objects {
				if o.Path != "" {
					files = append(files, touch{o.Path, act})
				}
			}
		}
	}
	return files
}

// editing is the act of an edit: one that replaces nothing makes the file.
func editing(all []member) Act {
	for _, m := range all {
		if m.name == "old_string" || m.name == "oldString" || m.name == "old_str" {
			if m.text() == "" {
				return Created
			}
		}
	}
	return Edited
}

// commanded is the act of an editor's command; empty for one that looks at nothing.
func commanded(command string) Act {
	switch command {
	case "view", "":
		return Read
	case "create":
		return Created
	}
	return Edited
}

var (
	patchFile = regexp.MustCompile(`(?m)^\*\*\* (Add|Update|Delete) File: (.+?)\s*$`)
	patchMove = regexp.MustCompile(`(?m)^\*\*\* Move to: (.+?)\s*$`)
	diffFile  = regexp.MustCompile(`(?m)^\+\+\+ (?:b/)?([^\s]+)`)
)

// patched are the files that a patch names, in the form of Codex or as a unified diff.
func patched(patch string) []touch {
	var files []touch
	for _, m := range patchFile.FindAllStringSubmatch(patch, -1) {
		act := Edited
		switch m[1] {
		case "Add":
			act = Created
		case "Delete":
			act = Deleted
		}
		files = append(files, touch{m[2], act})
	}
	for _, m := range patchMove.FindAllStringSubmatch(patch, -1) {
		files = append(files, touch{m[1], Created})
	}
	if len(files) == 0 {
		for _, m := range diffFile.FindAllStringSubmatch(patch, -1) {
			if m[1] != "/dev/null" {
				files = append(files, touch{m[1], Edited})
			}
		}
	}
	return files
}

// todos are the entries of a list of what is to do: objects with a status, or a list in Markdown.
func todos(all []member) []todo {
	var list []todo
	for _, m := range all {
		var objects []struct{ Content, Step, Description, Text, Title, Status, State string }
		if json.Unmarshal(m.raw, &objects) == nil {
			for _, o := range objects {
				text := o.Content + o.Step
				if text == "" {
					text = o.Description + o.Text + o.Title
				}
				list = append(list, todo{text, o.Status + o.State})
			}
			continue
		}
		for line := range strings.Lines(m.text()) {
			line = strings.TrimLeft(strings.TrimSpace(line), "-* ")
			if text, ok := strings.CutPrefix(line, "[ ] "); ok {
				list = append(list, todo{text, "pending"})
			} else if text, ok := strings.CutPrefix(line, "[-] "); ok {
				list = append(list, todo{text, "in_progress"})
			}
		}
	}
	return list
}

// open reports whether an entry is still to do.
func (t todo) open() bool {
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(t.status)) {
	case "pending", "inprogress", "open", "todo", "notstarted", "blocked", "active":
		return t.text != ""
	}
	return false
}
