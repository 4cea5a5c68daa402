package source

import (
	"context"
	"fmt"
	"strings"
)

// SkillText is the beginning of a skill's SKILL.md.
type SkillText struct {
	Path  string // canonical
	Text  string
	Bytes int64 // the size of the file, where Text is not all of it; else 0
}

// Text reads the SKILL.md of a skill, at most limit bytes of it. That there is no such skill is an error that names those
// that there are.
func (k *Skills) Text(ctx context.Context, name string, limit int) (SkillText, error) {
	all, err := k.find(ctx)
	if err != nil {
		return SkillText{}, err
	}
	for _, one := range all {
		if one.Name != name {
			continue
		}
		data, size, err := k.o.Files.Read(one.path, limit)
		if err != nil {
			return SkillText{}, fmt.Errorf("read %q: %w", one.path, err)
		}
		cut := size > int64(len(data))
		text, more := head(utf8Text(data, cut), limit) // replacement characters may have made it longer
		if !cut && !more {
			size = 0
		}
		return SkillText{Path: one.path, Text: text, Bytes: size}, nil
	}
	return SkillText{}, noSkill(name, all)
}

// noSkill says that there is no such skill, and which there are.
func noSkill(name string, all []skill) error {
	var names []string
	for _, one := range all[:min(len(all), maxSkills)] {
		names = append(names, one.Name)
	}
	switch more := len(all) - len(names); {
	case len(all) == 0:
		return fmt.Errorf("there is no skill %q, and no other", name)
	case more > 0:
		return fmt.Errorf("there is no skill %q: there are %s, and %d more", name, strings.Join(names, ", "), more)
	}
	return fmt.Errorf("there is no skill %q: there are %s", name, strings.Join(names, ", "))
}
