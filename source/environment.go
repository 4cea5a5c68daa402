package source

import (
	"context"
	"fmt"
)

// Environment is the source core/environment: the working directory, the workspace root, whether that is a git
// repository, and the platform, such as "linux/amd64". It is fixed for a place.
func Environment(p Place, platform string) Source {
	type environment struct {
		Dir      string `json:"dir"`
		Root     string `json:"root"`
		Git      bool   `json:"git"`
		Platform string `json:"platform"`
	}
	text := func(e environment) string {
		git := "no"
		if e.Git {
			git = "yes"
		}
		return fmt.Sprintf("<env>\nWorking directory: %s\nWorkspace root: %s\nGit repository: %s\nPlatform: %s\n</env>",
			plain(e.Dir), plain(e.Root), git, plain(e.Platform))
	}
	return Of(Spec[environment]{
		Key: "core/environment",
		Load: func(context.Context) (environment, error) {
			return environment{Dir: p.Dir, Root: p.Root, Git: p.Git, Platform: platform}, nil
		},
		Baseline: func(e environment) string { return "You work in this environment:\n" + text(e) },
		Update: func(_, e environment) string {
			return "The environment has changed. This supersedes what was said of it before:\n" + text(e)
		},
		Removal: func(environment) string {
			return "The environment that was described before no longer applies; do not rely on it."
		},
	})
}
