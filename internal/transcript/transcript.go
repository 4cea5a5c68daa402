// Package transcript reads other agents' recordings: the files in which Claude Code, Codex, OpenCode, pi, Gemini CLI,
// Qwen Code, Copilot CLI, Roo Code, Cline and aider keep their sessions, the trajectories of SWE-agent, mini-swe-agent and OpenHands,
// and logs of raw requests to Anthropic and OpenAI.
//
// A recording stays as it is. What is read of it are facts that point into it: the requests that its agent made and what
// came of them, as far as it tells, how they hang together, and each message as a unit. No request body is made up.
// Formats drift, so what is not known is kept and said to be unknown, and what cannot be read is reported by its line.
//
// The package is pure: no clock, no randomness, no goroutine, no file. Everything in it may be called concurrently.
package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"ambit/entry"
	"ambit/provider"
)

// The formats of recordings.
const (
	ClaudeCode = "claude-code"          // JSON lines, as in ~/.claude/projects
	Codex      = "codex-rollout"        // JSON lines, as in ~/.codex/sessions
	OpenCode   = "opencode-export"      // one JSON object, as opencode export prints it
	Pi         = "pi-session"           // JSON lines, as in ~/.pi/agent/sessions
	Anthropic  = "anthropic-requests"   // JSON lines, each a request of the Messages API with its response
	OpenAI     = "openai-chat-requests" // JSON lines, each a chat request, a response, or both
	GeminiCLI  = "gemini-cli"           // one JSON object, a session, or a list of contents, a checkpoint
	GeminiLine = "gemini-cli-lines"     // JSON lines, as in ~/.gemini/tmp/*/chats
	Qwen       = "qwen-code"            // JSON lines, as in ~/.qwen/projects/*/chats
	CopilotCLI = "copilot-cli"          // JSON lines, as in ~/.copilot/session-state
	Roo        = "roo-cline"            // one JSON list, api_conversation_history.json of Roo Code and Cline
	Aider      = "aider-history"        // Markdown, .aider.chat.history.md
	SWEAgent   = "swe-agent-traj"       // one JSON object, a .traj file
	MiniSWE    = "mini-swe-agent"       // one JSON object, a .traj.json file
	OpenHands  = "openhands-output"     // JSON lines, each a task, output.jsonl
)

// ErrFormat says that a file is no recording of a format that is known.
var ErrFormat = errors.New("not a recording of a known format")

// Recording is what was read of one.
type Recording struct {
	Format   string
	Client   string    // the program whose session it is, such as claude-code
	Version  string    // of that program, as the recording says
	ID       string    // the client's own id of the session; empty when it has none
	Parent   string    // the client's own id of the session whose sub-agent it is; empty when it is none
	Agent    string    // and the id of that sub-agent
	Began    time.Time // its first time; zero when it has none
	Title    *entry.Place
	Lines    int
	Turns    int // requests that were answered, at least in part
	Facts    []entry.Fact
	Warnings []Warning

	Agents map[string]string // ids of calls, by the id of the sub-agent that worked for each
}

// Warning is something in a recording that could not be read.
type Warning struct {
	Line int    // from 1
	Text string // what is wrong
}

// Read reads a recording. The error is ErrFormat, with what it looks like instead, or says that it holds nothing that
// was said. What stands in Facts points into data by line and offset; In is left for who knows the entry.
func Read(data []byte) (*Recording, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	format, err := sniff(data)
	if err != nil {
		return nil, err
	}
	b := newBuilding(format, data)
	switch format {
	case ClaudeCode:
		readClaude(b)
	case Codex:
		readCodex(b)
	case OpenCode:
		readOpenCode(b)
	case Pi:
		readPi(b)
	case Anthropic, OpenAI:
		readExchanges(b)
	case GeminiCLI:
		readGemini(b)
	case GeminiLine:
		readGeminiLines(b)
	case Qwen:
		readQwen(b)
	case CopilotCLI:
		readCopilot(b)
	case Roo:
		readRoo(b)
	case Aider:
		readAider(b)
	case SWEAgent:
		readSWEAgent(b)
	case MiniSWE:
		readMiniSWE(b)
	case OpenHands:
		readOpenHands(b)
	}
	r := b.finish()
	if !slices.ContainsFunc(r.Facts, func(f entry.Fact) bool { return f.Kind() == entry.KindRequest }) {
		return nil, fmt.Errorf("%w: %s, but nothing was said in it", ErrFormat, format)
	}
	return r, nil
}

// Message reads the message of a unit: raw is how it stands in the recording.
func Message(format string, u entry.Unit, raw []byte) provider.Message {
	v := provider.JSON(raw)
	switch format {
	case ClaudeCode:
		return claudeMessage(v)
	case Codex:
		return codexMessage(v, u.At)
	case OpenCode:
		return openCodeMessage(v, u)
	case Pi:
		return piMessage(v)
	case GeminiCLI:
		return geminiMessage(v, u)
	case GeminiLine:
		return geminiLineMessage(v, u)
	case Qwen:
		return qwenMessage(v, u)
	case CopilotCLI:
		return copilotMessage(v)
	case Roo:
		return rooMessage(v, u)
	case Aider:
		return aiderMessage(raw)
	case SWEAgent:
		return sweAgentMessage(v, u)
	case MiniSWE:
		return miniSWEMessage(v, u)
	case OpenHands:
		return openHandsMessage(v, u)
	}
	return provider.Message{Unknown: true}
}

// OneValue reports whether a recording of the format is one JSON value, which its program writes anew each time: its parts
// are told by their JSON pointers, in At, and may move or say more in a newer version. Others only grow at their end.
func OneValue(format string) bool {
	switch format {
	case OpenCode, GeminiCLI, Roo, SWEAgent, MiniSWE:
		return true
	}
	return false
}

// maxWarnings bounds the warnings of a recording that is full of what cannot be read.
const maxWarnings = 100
