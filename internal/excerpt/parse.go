package excerpt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxCheckpoint bounds the YAML that Parse reads, in bytes: eight times what Extract writes.
const maxCheckpoint = 64 << 10

// Parse reads a checkpoint that a model may have written. All eight sections must be there, each once and of its type, and no
// other; a fence of Markdown around the whole is taken off. The error says what is wrong and in which line of the YAML.
func Parse(data []byte) (Checkpoint, error) {
	if len(data) > maxCheckpoint {
		return Checkpoint{}, fmt.Errorf("the checkpoint has %d bytes, more than %d", len(data), maxCheckpoint)
	}
	root, err := document(unfenced(data))
	if err != nil {
		return Checkpoint{}, err
	}
	var c Checkpoint
	var seen []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		switch {
		case !slices.Contains(sections, name.Value):
			return Checkpoint{}, fmt.Errorf("line %d: %q is no section of a checkpoint", name.Line, oneLine(name.Value, maxAbout))
		case slices.Contains(seen, name.Value):
			return Checkpoint{}, fmt.Errorf("line %d: %s stands there twice", name.Line, name.Value)
		}
		seen = append(seen, name.Value)
		if err := c.set(name.Value, value); err != nil {
			return Checkpoint{}, err
		}
	}
	for _, section := range sections {
		if !slices.Contains(seen, section) {
			return Checkpoint{}, fmt.Errorf("the section %s is missing", section)
		}
	}
	if strings.TrimSpace(c.Objective) == "" {
		return Checkpoint{}, errors.New("objective is empty")
	}
	return c, nil
}

// unfenced is YAML without a fence of Markdown around it. The fence becomes an empty line, so that lines keep their numbers.
func unfenced(data []byte) []byte {
	text := bytes.TrimSpace(data)
	first, rest, found := bytes.Cut(text, []byte("\n"))
	if !found || !bytes.HasPrefix(first, []byte("```")) || !bytes.HasSuffix(rest, []byte("```")) {
		return data
	}
	return append([]byte("\n"), bytes.TrimSuffix(rest, []byte("```"))...)
}

// document is the mapping that YAML consists of.
func document(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := d.Decode(&doc); err == io.EOF {
		return nil, errors.New("the checkpoint is empty")
	} else if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	if d.Decode(&more) != io.EOF {
		return nil, errors.New("something follows the checkpoint")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("line 1: the checkpoint is no mapping of sections")
	}
	return doc.Content[0], nil
}

// set sets a section.
func (c *Checkpoint) set(section string, v *yaml.Node) (err error) {
	if text := c.text(section); text != nil {
		*text, err = textNode(section, v)
		return err
	}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		return wrongType(section, "a list", v)
	}
	list := c.list(section)
	for _, entry := range v.Content {
		if list == nil {
			f, err := fileNode(entry)
			if err != nil {
				return err
			}
			c.ImportantFiles = append(c.ImportantFiles, f)
			continue
		}
		text, err := textNode("an entry of "+section, entry)
		if err != nil {
			return err
		}
		*list = append(*list, text)
	}
	return nil
}

// textNode is a text.
func textNode(what string, v *yaml.Node) (string, error) {
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return "", wrongType(what, "a text", v)
	}
	return v.Value, nil
}

// fileNode is a file: a mapping of path and reason.
func fileNode(v *yaml.Node) (File, error) {
	var f File
	if v.Kind != yaml.MappingNode {
		return f, wrongType("an entry of "+sectionFiles, "a mapping of path and reason", v)
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name := v.Content[i]
		text, err := textNode(name.Value, v.Content[i+1])
		if err != nil {
			return f, err
		}
		switch name.Value {
		case "path":
			f.Path = text
		case "reason":
			f.Reason = text
		default:
			return f, fmt.Errorf("line %d: %q is no part of a file", name.Line, oneLine(name.Value, maxAbout))
		}
	}
	if f.Path == "" || f.Reason == "" {
		return f, fmt.Errorf("line %d: a file has no path or no reason", v.Line)
	}
	return f, nil
}

func wrongType(what, want string, v *yaml.Node) error {
	return fmt.Errorf("line %d: %s is not %s", v.Line, what, want)
}
