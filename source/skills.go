package source

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The limits of core/skills.
const (
	skillRead        = 16 << 10 // how much of a SKILL.md is looked at, in bytes
	skillDescription = 1024     // how much of a description is shown, in bytes
	skillName        = 64       // the longest name, in bytes
	maxSkills        = 256      // how many are listed
)

type skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`

	path string // of its SKILL.md, canonical
}

type skills struct {
	Listed []skill `json:"skills"`
	More   int     `json:"more,omitempty"` // how many are not listed
}

// SkillOptions say where skills are looked for, and what is told of them. Files is needed.
type SkillOptions struct {
	Files   Files
	Folders []string               // of two skills of one name, the one in the folder that stands first here counts
	Tool    string                 // the tool that shows an agent the text of a skill; empty where it has none
	Without func(name string) bool // skills that are left out, as if they were not there; nil for none
}

// Skills finds the skills in some folders. A skill is a folder with a SKILL.md that begins with YAML front matter and has a
// description there; without a name it has its folder's. What is otherwise is passed over. A folder that is not there has
// no skills. It may be used concurrently.
type Skills struct{ o SkillOptions }

// NewSkills returns the skills of some folders. It reads nothing.
func NewSkills(o SkillOptions) *Skills { return &Skills{o} }

// Source is core/skills: name and description of each skill, sorted by name, and nothing else of them. A folder that cannot
// be looked at makes it unavailable.
//
// At most 256 skills are listed, with at most 1,024 bytes of each description.
func (k *Skills) Source() Source {
	how := ""
	if k.o.Tool != "" {
		how = "\nThe tool " + k.o.Tool + " shows the text of a skill: read it before you go by it."
	}
	return Of(Spec[skills]{
		Key:  "core/skills",
		Load: k.list,
		Baseline: func(s skills) string {
			if len(s.Listed) == 0 {
				return "No skills are available."
			}
			return "These skills are available:\n" + s.text() + how
		},
		Update: func(_, s skills) string {
			if len(s.Listed) == 0 {
				return "No skills are available any more. Do not use those that were listed before."
			}
			return "The skills have changed. This list supersedes the one before; use no skill that is not in it:\n" + s.text() + how
		},
		Removal: func(skills) string {
			return "Skills are no longer available. Do not use those that were listed before."
		},
	})
}

func (s skills) text() string {
	var b strings.Builder
	for _, one := range s.Listed {
		b.WriteString("- " + one.Name + ": " + one.Description + "\n")
	}
	out := block("skills", "", "", b.String())
	if s.More > 0 {
		out += fmt.Sprintf("\n[The list above is cut: %d more skills are not shown.]", s.More)
	}
	return out
}

// list is what is told of the skills.
func (k *Skills) list(ctx context.Context) (skills, error) {
	all, err := k.find(ctx)
	if err != nil {
		return skills{}, err
	}
	out := skills{Listed: all[:min(len(all), maxSkills)]}
	out.More = len(all) - len(out.Listed)
	return out, nil
}

// find finds all skills, sorted by name.
func (k *Skills) find(ctx context.Context) ([]skill, error) {
	all := []skill{}
	have := map[string]bool{}
	for _, dir := range k.o.Folders {
		names, err := k.o.Files.Names(dir)
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", dir, err)
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, err := readSkill(k.o.Files, path.Join(dir, name, "SKILL.md"), name)
			if err != nil {
				return nil, err
			}
			if s.Name == "" || have[s.Name] || k.o.Without != nil && k.o.Without(s.Name) {
				continue
			}
			have[s.Name] = true
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b skill) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// readSkill reads a SKILL.md; without a name it is none.
func readSkill(f Files, file, folder string) (skill, error) {
	found, err := f.Find(file)
	if err != nil {
		return skill{}, fmt.Errorf("find %q: %w", file, err)
	}
	if !found.file() {
		return skill{}, nil
	}
	data, size, err := f.Read(found.Real, skillRead)
	if err != nil {
		return skill{}, fmt.Errorf("read %q: %w", file, err)
	}
	s := frontMatter(utf8Text(data, size > int64(len(data))))
	s.path = found.Real
	s.Name = cmp.Or(oneLine(s.Name), oneLine(folder))
	s.Description = oneLine(s.Description)
	if s.Description == "" || len(s.Name) > skillName {
		return skill{}, nil
	}
	if shown, cut := head(s.Description, skillDescription); cut {
		s.Description = shown + "…"
	}
	return s, nil
}

// frontMatter reads what stands between two lines of three dashes at the beginning of a text.
func frontMatter(text string) (s skill) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	matter, _, closed := strings.Cut("\n"+rest, "\n---")
	if !ok || !closed || yaml.Unmarshal([]byte(matter), &s) != nil {
		return skill{}
	}
	return s
}
