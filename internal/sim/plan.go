package sim

import (
	"fmt"
	"time"

	"ambit"
	"ambit/provider"
	"ambit/view"
)

// plan is what a session works with, by the numbers of what there is to choose from.
type plan struct{ agent, model, dir, output, role, tools int }

func (p plan) String() string {
	return fmt.Sprintf("agent %d, model %s, folder %d, output %d, role %d, tools %d", p.agent, models()[p.model].Name, p.dir, p.output, p.role, p.tools)
}

// models are all that answer.
func models() []ambit.Model {
	thinking := []provider.Member{{Name: "thinking", Value: []byte(`{"type":"enabled","budget_tokens":512}`)}}
	thoughts := []provider.Member{{Name: "generationConfig", Value: []byte(`{"thinkingConfig":{"includeThoughts":true}}`)}}
	return []ambit.Model{
		{Provider: "anthropic", Type: provider.TypeMessages, Name: "claude-opus-5-5", BaseURL: "http://anthropic.test", Rest: thinking},
		{Provider: "anthropic", Type: provider.TypeMessages, Name: "claude-sonnet-5", BaseURL: "http://anthropic.test"},
		{Provider: "openai", Type: provider.TypeResponses, Name: "gpt-6", BaseURL: "http://openai.test/v1"},
		{Provider: "openai", Type: provider.TypeChat, Name: "gpt-6-mini", BaseURL: "http://openai.test/v1"},
		{Provider: "gemini", Type: provider.TypeGenerate, Name: "gemini-4-pro", BaseURL: "http://gemini.test", Rest: thoughts},
	}
}

// agents is how many there are.
const agents = 3

func agentName(n int) string { return []string{"coder", "reader", "talker"}[n] }

// role is the text that the agent of a plan begins with: its own, a longer one, or none.
func role(p plan) string {
	own := []string{"You write code.", "You read \"everything\" & <nothing>.", "You talk — ein wenig, 少し."}[p.agent]
	return []string{own, own + "\n\nBe brief.", ""}[p.role]
}

// tools are those of the agent of a plan: its own, others, or its own that are told otherwise.
func tools(p plan) (list []view.Tool) {
	names := [][]string{{"read", "write", "run"}, {"read"}, {"read", "run"}}[p.agent]
	if p.tools == 1 {
		names = [][]string{{"read", "write"}, {"read", "write"}, {"read"}}[p.agent]
	}
	for _, name := range names {
		t := view.Tool{Name: name, Description: "Does " + name + ".", Schema: []byte(`{"type":"object","properties":{"call":{"type":"string"},"path":{"type":"string"}}}`)}
		if p.tools == 2 {
			t.Description += " Does it well."
		}
		list = append(list, t)
	}
	return list
}

// toolsOf says what the tools of a plan are.
func toolsOf(p plan) (list []string) {
	for _, t := range tools(p) {
		list = append(list, t.Name+": "+t.Description)
	}
	return list
}

// anyPlan is another plan, or the same once more.
func (w *world) anyPlan(p plan) plan {
	switch w.dice.IntN(8) {
	case 0:
		p.agent = w.dice.IntN(agents)
	case 1:
		p.dir = w.dice.IntN(3)
	case 2:
		p.output = w.dice.IntN(3)
	case 3, 4:
		p.model = w.dice.IntN(len(models()))
	case 5:
		p.role = w.dice.IntN(3)
	case 6:
		p.tools = w.dice.IntN(3)
	}
	return p
}

// made is the setup of the plan.
func (w *world) made() ambit.Setup {
	p := w.plan
	m := models()[p.model]
	m.Credential, m.Output, m.Window = "secret", 2000+1000*p.output, w.press.window
	s := ambit.Setup{
		Agent: ambit.Agent{Name: agentName(p.agent), Role: role(p)}, Model: m, Dir: dirName(p.dir), Policy: w.press.policy,
		Limits: ambit.Bounds{Silence: silence, Answer: longest}, Compose: w.composed(p), Watch: w.watch,
		Retry: ambit.Retry{Off: w.chance(50), Max: w.dice.IntN(5)},
	}
	for _, t := range tools(p) {
		s.Agent.Tools = append(s.Agent.Tools, w.tool(t))
	}
	switch w.dice.IntN(12) {
	case 0:
		s.Limits.Turns = 1 + w.dice.IntN(6)
	case 1:
		s.Limits.Time = time.Duration(1+w.dice.IntN(300)) * time.Second
	case 2:
		s.Limits.Output = 1 + w.dice.IntN(500)
	case 3:
		s.Limits.USD = 0.0001 + w.dice.Float64()/20
	}
	return s
}

const (
	silence = 30 * time.Second // that a provider may keep
	longest = 128 << 10        // answer, in bytes
)
