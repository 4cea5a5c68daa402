package agent

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// SkillTool is the name of the tool that shows skills.
const SkillTool = "skill"

const skillBytes = 64 << 10

var skillSpec = spec{
	name:  SkillTool,
	about: "Shows the text of one of the skills that are available, which says how something is done here. At most 64 KiB are shown, and it says when that is not all.",
	params: []param{
		{name: "name", kind: kindText, required: true, about: "of the skill, as it is listed"},
	},
}

// skill shows a skill. What stands in the working folder and may not be read is not shown as a skill, either.
func (t *toolbox) skill(ctx context.Context, v values) (string, error) {
	if _, err := t.permit(ctx, v, []string{skillSpec.name}, v.texts["name"]); err != nil {
		return "", err
	}
	s, err := t.o.Skills.Text(ctx, v.texts["name"], t.most(skillBytes))
	if err != nil {
		return "", fmt.Errorf("skill: %w", err)
	}
	if name, err := filepath.Rel(t.real, filepath.FromSlash(s.Path)); err == nil && filepath.IsLocal(name) {
		if _, err := t.permit(ctx, v, []string{readSpec.name}, filepath.ToSlash(name)); err != nil {
			return "", err
		}
	}
	text := strings.TrimSuffix(s.Text, "\n") + "\n"
	if s.Bytes > 0 {
		text += fmt.Sprintf("(this is cut: the file has %d bytes)\n", s.Bytes)
	}
	return text + "(what it names beside it stands in " + shown(path.Dir(s.Path)) + ")\n", nil
}
