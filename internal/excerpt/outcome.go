package excerpt

import (
	"regexp"
	"strings"
)

// Where an outcome is sought in a result: how much of its beginning and of its end, in bytes. Programs print anything
// between.
const (
	outcomeHead = 600
	outcomeTail = 1500
)

// edges are the beginning and the end of a text, which is all of a short one.
func edges(text string) string {
	if len(text) <= outcomeHead+outcomeTail {
		return text
	}
	return text[:outcomeHead] + "\n" + text[len(text)-outcomeTail:]
}

var (
	// exitCode matches what shells and clients print: "Exit code 1", "exit_code":0, <returncode>1</returncode>,
	// "Process exited with code 0", "exit status 1".
	exitCode  = regexp.MustCompile(`(?i)(?:exit(?:ed)?[ _-]?(?:code|status)?"?(?:\s*with)?(?:\s*exit)?(?:\s*(?:code|status))?|return ?code)"?\s*[:=> ]\s*"?(-?\d{1,3})\b`)
	noCommand = regexp.MustCompile(`(?m)(?:command not found|No such file or directory|Permission denied)\s*$`)

	testFailed = regexp.MustCompile(`(?m)^\s*(?:--- FAIL|FAIL\b|FAILED\b|not ok\b|BUILD FAILED)|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|test result: FAILED|\bFAILURES!|error: could not compile|error\[E\d+\]|npm ERR!|error TS\d+|AssertionError|Traceback \(most recent`)
	summary    = regexp.MustCompile(`(?i)\b\d+ (?:passed|failed|passing|failing|tests?|errors?|failures?|warnings?)\b|^(?:ok|FAIL|PASS|OK|FAILED|--- FAIL)\b|test result:|build (?:failed|success)`)
	mistake    = regexp.MustCompile(`(?i)\b(?:error|fail(?:ed|ure)?|panic|fatal|exception|cannot|not found|undefined|unexpected|denied|invalid|no such)\b`)

	verifying = regexp.MustCompile(`(?i)\b(?:test|tests|pytest|unittest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|check|lint|vet|clippy|mypy|tsc|eslint|ruff|build|compile|typecheck|verify|staticcheck|gofumpt|e2e)\b`)
)

// verifies reports whether a command tests, builds or checks something.
func verifies(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	switch first {
	case "curl", "wget", "gh", "git", "rm", "mv", "cp", "mkdir", "touch", "chmod", "tee", "apply_patch", "export":
		return false
	}
	return !looks(command) && verifying.MatchString(command)
}

// ended is how a command ended, and the line of its result that says most.
func ended(command string, r Result) (Outcome, string) {
	text := edges(r.Text)
	outcome := Passed
	m := exitCode.FindAllStringSubmatch(text, -1)
	switch {
	case r.Failed:
		outcome = Failed
	case len(m) > 0 && m[len(m)-1][1] != "0":
		outcome = Failed
	case verifies(command) && testFailed.MatchString(text) && !(len(m) > 0 && !strings.Contains(command, "|")):
		outcome = Failed
	case len(m) == 0 && noCommand.MatchString(text) && strings.Count(strings.TrimSpace(text), "\n") < 3:
		outcome = Failed
	}
	if outcome == Passed && !verifies(command) {
		return outcome, ""
	}
	return outcome, telling(text, outcome)
}

// longNote bounds the line of a result that is told, in bytes.
const longNote = 160

// telling is the line of a result that says most of how it ended: the last one that sums up; of what failed, else the
// first that names the mistake, else the last one.
func telling(text string, outcome Outcome) string {
	lines := strings.Split(unwrapped(text), "\n")
	first, last := "", ""
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" || framing(line) {
			continue
		}
		if summary.MatchString(line) {
			return oneLine(line, longNote)
		}
		if last == "" {
			last = line
		}
		if mistake.MatchString(line) {
			first = line
		}
	}
	switch {
	case outcome != Failed:
		return ""
	case first != "":
		return oneLine(first, longNote)
	}
	return oneLine(last, longNote)
}

// framing reports whether a line of a result is the client's.
func framing(line string) bool {
	if len(line) >= 60 {
		return false
	}
	for _, start := range [...]string{"Output:", "Chunk ID:", "Wall time:", "Original token count:", "Total output lines:", "<", "Stdout:", "Stderr:"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return exitCode.MatchString(line)
}

// unwrapped is the output of a result that is JSON of a client, as Codex and others write it, with its line ends.
func unwrapped(text string) string {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") {
		return text
	}
	if out := argument(members([]byte(trimmed)), "output", "stdout", "stderr", "content"); out != "" {
		return out
	}
	return strings.ReplaceAll(text, `\n`, "\n")
}

// refused reports whether the result of an edit says that it was not made. Clients do not always mark it.
func refused(r Result) bool {
	if r.Failed {
		return true
	}
	head := strings.ToLower(strings.TrimSpace(r.Text[:runeStart(r.Text+" ", min(len(r.Text), 200))]))
	for _, start := range [...]string{"error", "<tool_use_error", "failed to", "could not", "cannot ", "can't ", "string to replace not found", "no such file", "invalid ", "apply_patch verification failed", "old_string not found", "no match", "file not found"} {
		if strings.HasPrefix(head, start) {
			return true
		}
	}
	return false
}
