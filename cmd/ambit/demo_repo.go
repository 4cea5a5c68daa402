package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// demoCommit is one commit of the scratch project's history.
type demoCommit struct {
	subject string
	files   map[string]string
}

// demoHistory is the project as it grew: a limiter that was nearly right, a simplification that broke it, and the
// evidence.
func demoHistory() []demoCommit {
	log, sample, _ := demoTraffic()
	oldTest, rest, _ := strings.Cut(demoTest, `check "a client that asks every 150 ms`)
	_, end, _ := strings.Cut(rest, "\n\n")
	return []demoCommit{
		{"turnstile: first version", map[string]string{
			"AGENTS.md":        demoAgents,
			"README.md":        demoReadme,
			"docs/design.md":   demoDesign,
			"conf/limits.conf": demoLimitsConf,
			"turnstile.sh":     demoTurnstile,
			"lib/limits.sh":    demoLimitsSh,
			"lib/bucket.sh":    strings.Replace(demoBucket, demoBucketBug, demoBucketOld, 1),
			"test.sh":          oldTest + "\n" + end,
			"CHANGES":          strings.Replace(demoChanges, "- bucket: simpler refill.\n", "", 1),
		}},
		{"bucket: simpler refill", map[string]string{"lib/bucket.sh": demoBucket, "CHANGES": demoChanges}},
		{"docs, test: what the poller sees", map[string]string{
			"docs/incidents.md":   demoIncidents,
			"logs/gateway.log":    log,
			"samples/morning.txt": sample,
			"test.sh":             demoTest,
		}},
	}
}

// makeDemoRepo makes the scratch project in an empty folder.
func makeDemoRepo(ctx context.Context, dir string) error {
	found, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the scratch folder: %w", err)
	}
	if len(found) > 0 {
		return fmt.Errorf("the scratch folder %q is not empty", dir)
	}
	if err := demoGit(ctx, dir, 0, "init", "-q"); err != nil {
		return err
	}
	if err := demoGit(ctx, dir, 0, "symbolic-ref", "HEAD", "refs/heads/main"); err != nil {
		return err
	}
	for day, c := range demoHistory() {
		for name, text := range c.files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
		}
		if err := demoGit(ctx, dir, day, "add", "-A"); err != nil {
			return err
		}
		if err := demoGit(ctx, dir, day, "-c", "user.name=Ambit Demo", "-c", "user.email=demo@example.invalid", "commit", "-q", "-m", c.subject); err != nil {
			return err
		}
	}
	return nil
}

// demoGit runs git in the scratch project, as of a day of its history.
func demoGit(ctx context.Context, dir string, day int, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, demoEnv(dir, day)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// demoEnv is the whole environment of what runs in the scratch project. The user's git configuration, a surrounding
// repository and the clock play no part, so the project's commits are the same on every machine.
func demoEnv(dir string, day int) []string {
	date := time.Date(2025, 3, 2+day, 10, 0, 0, 0, time.UTC).Format(time.RFC3339)
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_DEFAULT_HASH=sha1", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
}
