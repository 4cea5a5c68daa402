//go:build clients

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// clientsReady puts the command that was built into PATH, and returns the folder of the clients.
func clientsReady(t *testing.T) string {
	t.Helper()
	built := os.Getenv("AMBIT_BUILT")
	if built == "" {
		built = filepath.Join("..", "..", "bin")
	}
	built, err := filepath.Abs(built)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(built, "ambit")); err != nil {
		t.Fatalf("%v; make test-clients builds it", err)
	}
	t.Setenv("PATH", built+string(os.PathListSeparator)+os.Getenv("PATH"))
	return installClients(t)
}

// installClients puts the clients that testdata/clients/package.json pins into the cache, unless they are there, and
// returns the folder of their commands. It needs npm, and the first time the registry that npm is set up for.
func installClients(t *testing.T) string {
	t.Helper()
	pinned, err := os.ReadFile(filepath.Join("testdata", "clients", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	cache := os.Getenv("AMBIT_CLIENTS")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("no folder to install clients into (AMBIT_CLIENTS names one): %v", err)
		}
		cache = filepath.Join(user, "ambit-clients")
	}
	sum := sha256.Sum256(pinned)
	dir := filepath.Join(cache, "pinned-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err != nil {
		start := time.Now()
		if err := npmInstall(t.Context(), cache, dir, pinned); err != nil {
			t.Fatalf("install the clients: %v", err)
		}
		t.Logf("installed the clients in %v into %s", time.Since(start).Round(time.Second), dir)
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// npmInstall installs into a folder beside dir, which gets its name when it is whole.
func npmInstall(ctx context.Context, cache, dir string, pinned []byte) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("%w; install Node.js and npm", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := os.WriteFile(filepath.Join(part, "package.json"), pinned, 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	run := func(dir, name string, args ...string) error {
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s %v: %w; it needs the network once\n%s", filepath.Base(name), args, err, out)
		}
		return nil
	}
	// No package's scripts are run, but for those that put OpenCode's and Claude Code's program where their commands are. A
	// registry that cannot be reached is not tried for minutes.
	if err := run(part, npm, "install", "--prefix", part, "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock",
		"--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"); err != nil {
		return err
	}
	if err := run(filepath.Join(part, "node_modules", "opencode-ai"), "node", "postinstall.mjs"); err != nil {
		return err
	}
	if err := run(filepath.Join(part, "node_modules", "@anthropic-ai", "claude-code"), "node", "install.cjs"); err != nil {
		return err
	}
	if err := os.Rename(part, dir); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}
