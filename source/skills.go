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
}

type skills struct {
	Listed []skill `json:"skills"`
	More   int     `json:"more,omitempty"` // how many are not listed
}

// Skills is the source core/skills: name and description of the skills in some folders, sorted by name, and nothing else
// of them. A skill is a folder with a SKILL.md that begins with YAML front matter and has a description there; without a
// name it has its folder's. What is otherwise is passed over, and so is a name that a folder given earlier has. A folder
// that is not there has no skills; one that cannot be looked at makes the source unavailable.
//
// At most 256 skills are listed, with at most 1,024 bytes of each description.
func Skills(f Files, folders ...string) Source {
	return Of(Spec[skills]{
		Key:  "core/skills",
		Load: func(ctx context.Context) (skills, error) { return loadSkills(ctx, f, folders) },
		Baseline: func(s skills) string {
			if len(s.Listed) == 0 {
				return "No skills are available."
			}
			return "These skills are available:\n" + s.text()
		},
		Update: func(_, s skills) string {
			if len(s.Listed) == 0 {
				return "No skills are available any more. Do not use those that were listed before."
			}
			return "The skills have changed. This list supersedes the one before; use no skill that is not in it:\n" + s.text()
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

func loadSkills(ctx context.Context, f Files, folders []string) (skills, error) {
	out := skills{Listed: []skill{}}
	have := map[string]bool{}
	for _, dir := range folders {
		names, err := f.Names(dir)
		if err != nil {
			return skills{}, fmt.Errorf("list %q: %w", dir, err)
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return skills{}, err
			}
			s, err := readSkill(f, path.Join(dir, name, "SKILL.md"), name)
			if err != nil {
				return skills{}, err
			}
			if s.Name != "" && !have[s.Name] {
				have[s.Name] = true
				out.Listed = append(out.Listed, s)
			}
		}
	}
	slices.SortFunc(out.Listed, func(a, b skill) int { return cmp.Compare(a.Name, b.Name) })
	if n := len(out.Listed); n > maxSkills {
		out.Listed, out.More = out.Listed[:maxSkills], n-maxSkills
	}
	return out, nil
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
