package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ambit/internal/agent"
)

// pieces are what lines are made of: the command that is allowed, and all that a shell reads in a way of its own.
var pieces = []string{
	"git status", "git status ", "x", " ", "\n", ";", "&", "|", "&&", "||", ";;", "'", `"`, "`", "\\", "\\\n", "$", "$(", "${", "}", "$'", `$"`, "$((", "$[", "]",
	")", "(", "{", "{ ", "; }", "()", "!", "! ", "#", " #", "<", ">", "<<", "<<<", ">>", "<(", ">(", ">&", "2>&1", "&>", ">|", "<>", ">/dev/null", "1", "EOF",
	"=", "x=", "if ", "then ", "fi", "do ", "done", "for ", " in ", "case ", "esac", "time ", "eval ", "exec ", "[[ ", " ]]", "function ", "coproc ", "alias git=evil",
	"*", "?", "[", "~", ",", "-", "%", "^", "\t", "\r", "\x01", "\x7f", "ä", "\u00a0", "\u2028", "\xff", "\xc3", "$IFS", "$x", "$$", "$#", "$@", "${x}", "${#x}",
}

// forms are what stands around other pieces, in place of the "%".
var forms = []string{
	"%", " %", "% ", "%;", ";%", " & %", "&%", "|%", "\n%", "%\n", "\n%\n", "'%'", `"%"`, "`%`", "$(%)", "(%)", "{ %; }", "<(%)", ">(%)", "$((%))", "$[%]", "${x:-%}", "${x:-'}%'",
	"<<EOF\n%\nEOF\n", "<<'EOF'\n%\nEOF\n", "<<EOF\nEOF\n%", " #%\n", "#%", " #'\n%\n'", "#'\n%\n'", "\\%", "\\'%\\'", `\"%"`, `"\"%"`, `'\'%'`, "$'%'", "$'\\''\n%\n'", `$"%"`,
	"if %; then %; fi", "for x in %; do %; done", "x() { %; }", "function x { %; }", "case x in %) %;; esac", "2>&1%", ">/dev/null%", ">%", ">>%", ">&%", "<%", "eval %",
	`"$(%)"`, "\"`%`\"", "<<EOF\n'\nEOF\n%\n'", `"${x:-"%"}"`,
}

// shellText is a text that is hard to read.
func shellText(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind == 0:
				b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
			case kind < 3 || depth == 0:
				b.WriteString("evil")
			default:
				form := rapid.SampledFrom(forms).Draw(t, "form")
				b.WriteString(strings.ReplaceAll(form, "%", shellText(depth-1).Draw(t, "inside")))
			}
		}
		return b.String()
	})
}

// shells are those that sh may be, each with its arguments.
func shells(t testing.TB) (all [][]string) {
	for _, s := range [][]string{{"sh"}, {"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if path, err := exec.LookPath(s[0]); err == nil {
			all = append(all, append([]string{path}, s[1:]...))
		}
	}
	if len(all) == 0 {
		t.Fatal("there is no shell")
	}
	return all
}

// allowed is the property: real shells run lines that are allowed in an empty folder, where they find only the command
// that is, which does nothing, and one that is not, which leaves a trace. No trace and no other file may come of it.
func allowed(t testing.TB) func(*rapid.T) {
	dir := t.TempDir()
	bin, work, trace := filepath.Join(dir, "bin"), filepath.Join(dir, "work"), filepath.Join(dir, "trace")
	for _, d := range []string{bin, work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"git": "#!/bin/sh\n", "evil": "#!/bin/sh\necho >>" + trace + "\n"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rules := agent.Rules{{Action: agent.Allow, Tool: "bash", Subject: "git status*"}}
	all := shells(t)
	run := func(line string) (broken bool) {
		for _, shell := range all {
			cmd := exec.Command(shell[0], append(shell[1:], "-c", "--", line)...)
			cmd.Dir, cmd.Env = work, []string{"PATH=" + bin, "LC_ALL=C.UTF-8"}
			_, _ = cmd.CombinedOutput() // until all in the background have ended; whether the line is in order does not matter
			left, err := os.ReadDir(work)
			traced := os.Remove(trace)
			for _, f := range left {
				_ = os.RemoveAll(filepath.Join(work, f.Name()))
			}
			if err != nil || len(left) > 0 || traced == nil {
				return true
			}
		}
		return false
	}
	// The property must be able to fail: the trap works.
	if !run("git status; evil") || run("git status") {
		t.Fatal("a command that is not allowed leaves no trace")
	}
	return func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"git status", "git status", "git status ", ""}).Draw(t, "first") + shellText(2).Draw(t, "rest")
		})
		lines := rapid.SliceOfN(line, 1, 30).Draw(t, "lines")
		for _, line := range lines {
			if rules.Decide("bash", line).Action == agent.Allow && run(line) {
				t.Fatalf("%q is allowed, and lets another command through", line)
			}
		}
	}
}

func TestSplit(t *testing.T) { rapid.Check(t, allowed(t)) }

func FuzzSplit(f *testing.F) { f.Fuzz(rapid.MakeFuzz(allowed(f))) }
