package excerpt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// member is a top-level member of a call's arguments.
type member struct {
	name string
	raw  json.RawMessage
}

// members are the top-level members of a call's arguments in their order; none where they are not a JSON object. Those
// before a place where the JSON breaks off are still read.
func members(args []byte) []member {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var all []member
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return all
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return all
		}
		all = append(all, member{name, raw})
	}
	return all
}

// text is a value as a text: a string, the words of a list of strings, or a number or a truth value as spelled.
func (m member) text() string { return textOf(m.raw) }

func textOf(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if list := listOf(raw); list != nil {
		return strings.Join(list, " ")
	}
	if len(raw) > 0 && raw[0] != '{' && raw[0] != '[' && string(raw) != "null" {
		return string(raw)
	}
	return ""
}

// listOf are the strings of a list; nil where it is none.
func listOf(raw []byte) []string {
	var list []string
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// argument is the first of the named members that says something.
func argument(all []member, names ...string) string {
	for _, name := range names {
		for _, m := range all {
			if m.name == name {
				if text := m.text(); text != "" {
					return text
				}
			}
		}
	}
	return ""
}

// The names under which tools take a path and a command.
var (
	pathNames    = []string{"file_path", "filePath", "path", "absolute_path", "absolutePath", "notebook_path", "filename", "file", "target_file", "relative_path"}
	commandNames = []string{"command", "cmd", "script", "commands"}
	otherNames   = []string{"pattern", "query", "url", "uri", "regex", "glob", "question", "description", "prompt", "name", "title"}
)

// longAbout bounds what About returns, in bytes.
const longAbout = 400

// About is the main argument of a call on one line: the path, the command, the pattern, the query or the URL; of a patch
// the files that it names; of a tool that is not known its first short string. Args are one JSON value, or free text.
// It has at most 400 bytes and is empty where there is nothing to name.
func About(tool string, args []byte) string {
	all := members(args)
	if len(all) == 0 {
		text := freeText(args)
		if u := taggedUse(tool, text); u.command != "" {
			return oneLine(u.command, longAbout)
		} else if len(u.files) > 0 {
			return oneLine(names(u.files), longAbout)
		}
		if paths := patched(text); len(paths) > 0 {
			return oneLine(names(paths), longAbout)
		}
		return oneLine(text, longAbout)
	}
	if use := useOf(tool, all); use.command != "" {
		return oneLine(use.command, longAbout)
	} else if len(use.files) > 0 {
		return oneLine(names(use.files), longAbout)
	}
	for _, list := range [][]string{pathNames, commandNames, otherNames} {
		if text := argument(all, list...); text != "" {
			return oneLine(text, longAbout)
		}
	}
	for _, m := range all {
		var s string
		if json.Unmarshal(m.raw, &s) == nil && s != "" && len(s) <= longAbout {
			return oneLine(s, longAbout)
		}
	}
	return ""
}

// freeText is what arguments say that are no object: a JSON string, or no JSON.
func freeText(args []byte) string {
	text := textOf(args)
	if text == "" && !json.Valid(args) {
		text = string(args)
	}
	return text
}

// names are the paths of files, each once.
func names(files []touch) string {
	var list []string
	for _, f := range files {
		if !slices.Contains(list, f.path) {
			list = append(list, f.path)
		}
	}
	return strings.Join(list, " ")
}
