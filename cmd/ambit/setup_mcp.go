package main

// mcpTold are the lines by which each client gets the MCP server, by its name, as its own documentation has it; those that are
// not here take the general ones.
func mcpTold() map[string][]string {
	servers := `{"mcpServers": {"ambit": {"command": "ambit", "args": ["mcp"]}}}`
	return map[string][]string{
		"claude":   {"claude mcp add ambit -- ambit mcp"},
		"codex":    {"codex mcp add ambit -- ambit mcp", "or in ~/.codex/config.toml, below the rest:", "[mcp_servers.ambit]", `command = "ambit"`, `args = ["mcp"]`},
		"opencode": {"opencode.json:", `{"mcp": {"ambit": {"type": "local", "command": ["ambit", "mcp"]}}}`},
		"gemini":   {"~/.gemini/settings.json:", servers},
		"qwen":     {"~/.qwen/settings.json:", servers},
		"crush":    {"~/.config/crush/crush.json:", `{"mcp": {"ambit": {"type": "stdio", "command": "ambit", "args": ["mcp"]}}}`},
		"continue": {"~/.continue/config.yaml:", "mcpServers:", "  - name: Ambit", "    command: ambit", "    args: [mcp]"},
		"copilot":  {"~/.copilot/mcp-config.json:", `{"mcpServers": {"ambit": {"type": "local", "command": "ambit", "args": ["mcp"], "tools": ["*"]}}}`},
		"pi":       {"pi has no MCP of its own; in its shell the model reads a text with: ambit read REF"},
	}
}

// tools are the lines by which a client gets the tools of an Ambit at an address.
func (c knownClient) tools(addr string, token bool) []string {
	if lines := mcpTold()[c.name]; lines != nil {
		return lines
	}
	url := "http://" + addr + "/" + mcpPath
	if token {
		url += "/t/" + tokenHere
	}
	return []string{"a server on standard input and output, started by: ambit mcp", "or one over HTTP: " + url}
}

// mcpPath is where ambit up serves MCP.
const mcpPath = "mcp"
