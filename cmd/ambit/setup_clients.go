package main

// knownClient is a program that talks to a model, and how it is led through Ambit.
type knownClient struct {
	name    string // as ambit setup takes it
	aliases []string
	program string // as people call it
	command string // starts it
	ways    []way  // one a provider; the first is its usual one
	notes   []string
}

// way is how a client is led to one provider. {url} stands in its texts for the URL of Ambit's route of that name.
type way struct {
	provider string
	upstream string // where a route leads that Ambit has only when it is told
	env      map[string]string
	files    []setupFile
	flags    string // behind the command
	notes    []string
}

// setupFile is what belongs into a file of the user's.
type setupFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Merge   string `json:"merge"` // what to do when there is such a file
}

// clientsKnown are the clients of ambit setup. None of it sets a key, and a model only where a client takes its URL with
// a model alone.
func clientsKnown() []knownClient {
	return []knownClient{
		{
			name: "opencode", program: "OpenCode", command: "opencode",
			ways: []way{
				openCodeWay("anthropic", "anthropic", "/v1"), openCodeWay("openai", "openai", "/v1"), openCodeWay("gemini", "google", "/v1beta"),
			},
			notes: []string{"The same object may stand in opencode.json."},
		},
		{
			name: "codex", program: "Codex", command: "codex",
			ways: []way{{provider: "openai", files: []setupFile{{
				Path: "~/.codex/config.toml", Content: "openai_base_url = \"{url}/v1\"\n", Merge: "put this above its first [table]",
			}}}},
			notes: []string{
				"It tries a WebSocket first, is refused, and goes on over HTTP.",
				"This is for an API key: what a ChatGPT login opens is on another server.",
			},
		},
		{
			name: "pi", program: "pi", command: "pi",
			ways: []way{piWay("anthropic", "anthropic", ""), piWay("openai", "openai", "/v1"), piWay("gemini", "google", "/v1beta")},
		},
		{
			name: "claude", aliases: []string{"claude-code"}, program: "Claude Code", command: "claude",
			ways: []way{{provider: "anthropic", env: map[string]string{"ANTHROPIC_BASE_URL": "{url}"}}},
		},
		{
			name: "gemini", aliases: []string{"gemini-cli"}, program: "Gemini CLI", command: "gemini",
			ways:  []way{{provider: "gemini", env: map[string]string{"GOOGLE_GEMINI_BASE_URL": "{url}"}}},
			notes: []string{"This is for an API key: signed in with Google it talks to another server, past Ambit."},
		},
		{
			name: "crush", program: "Crush", command: "crush",
			ways: []way{crushWay("anthropic", ""), crushWay("openai", "/v1")},
		},
		{
			name: "qwen", aliases: []string{"qwen-code"}, program: "Qwen Code", command: "qwen",
			ways: []way{
				{
					provider: "qwen", upstream: "https://dashscope.aliyuncs.com/compatible-mode", flags: "--auth-type openai",
					env:   map[string]string{"OPENAI_BASE_URL": "{url}/v1"},
					notes: []string{"Your key may be of another server, such as https://dashscope-intl.aliyuncs.com/compatible-mode: that goes behind qwen= then."},
				},
				{provider: "openai", flags: "--auth-type openai", env: map[string]string{"OPENAI_BASE_URL": "{url}/v1"}},
				{provider: "anthropic", flags: "--auth-type anthropic", env: map[string]string{"ANTHROPIC_BASE_URL": "{url}"}},
			},
			notes: []string{"A baseUrl of a model in ~/.qwen/settings.json counts more: put the URL there, too."},
		},
		{
			name: "copilot", aliases: []string{"copilot-cli"}, program: "Copilot CLI", command: "copilot",
			ways: []way{copilotWay("openai", "/v1"), copilotWay("anthropic", "")},
			notes: []string{
				"It wants your key of that provider in COPILOT_PROVIDER_API_KEY and one of its models in COPILOT_MODEL.",
				"GitHub's own models cannot be led through Ambit.",
			},
		},
		{
			name: "cline", program: "Cline", command: "cline",
			ways: []way{clineWay("anthropic", "anthropic", "/v1"), clineWay("openai", "openai-native", "/v1"), clineWay("gemini", "gemini", "")},
		},
		{
			name: "continue", aliases: []string{"cn", "continue-cli"}, program: "Continue", command: "cn",
			ways: []way{
				continueWay("anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY", "/v1/"),
				continueWay("openai", "gpt-5", "OPENAI_API_KEY", "/v1/"),
				{
					provider: "gemini", env: map[string]string{"GOOGLE_GEMINI_BASE_URL": "{url}"},
					notes: []string{"For Gemini's models it does not heed apiBase in its files, but this variable."},
				},
			},
		},
	}
}

// mergeJSON is what to do with members for a JSON file.
const mergeJSON = "add these members to it"

func openCodeWay(provider, id, rest string) way {
	return way{provider: provider, env: map[string]string{
		"OPENCODE_CONFIG_CONTENT": `{"provider":{"` + id + `":{"options":{"baseURL":"{url}` + rest + `"}}}}`,
	}}
}

func piWay(provider, id, rest string) way {
	return way{provider: provider, files: []setupFile{{
		Path: "~/.pi/agent/models.json", Content: `{"providers": {"` + id + `": {"baseUrl": "{url}` + rest + "\"}}}\n", Merge: mergeJSON,
	}}}
}

func crushWay(provider, rest string) way {
	return way{provider: provider, files: []setupFile{{
		Path: "~/.config/crush/crush.json", Content: `{"providers": {"` + provider + `": {"base_url": "{url}` + rest + "\"}}}\n", Merge: mergeJSON,
	}}}
}

func copilotWay(provider, rest string) way {
	return way{provider: provider, env: map[string]string{"COPILOT_PROVIDER_TYPE": provider, "COPILOT_PROVIDER_BASE_URL": "{url}" + rest}}
}

// clineWay leads Cline's provider id, whose key and model are in the same file.
func clineWay(provider, id, rest string) way {
	return way{
		provider: provider,
		files: []setupFile{{
			Path: "~/.cline/data/settings/providers.json", Content: `{"providers": {"` + id + `": {"settings": {"baseUrl": "{url}` + rest + "\"}}}}\n",
			Merge: mergeJSON,
		}},
		notes: []string{"cline auth --provider " + id + " writes the file, with your key and model: do that first."},
	}
}

func continueWay(provider, model, key, rest string) way {
	return way{provider: provider, files: []setupFile{{
		Path: "~/.continue/config.yaml",
		Content: "name: Ambit\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: " + model + " through Ambit\n    provider: " + provider + "\n    model: " + model +
			"\n    apiKey: ${{ secrets." + key + " }}\n    apiBase: {url}" + rest + "\n",
		Merge: "give its models of this provider the line apiBase",
	}}, notes: []string{"The key is read from the environment, or from ~/.continue/.env. The model may be any of that provider's."}}
}
