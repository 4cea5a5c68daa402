package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/internal/pool"
	"ambit/journal"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ambit": main})
}

// TestScripts runs testdata/script: the command as a user types it, as a process of its own, with AMBIT_HOME=$WORK/home
// and HOME=$WORK. Besides the commands of testscript a script has
//
//	answer [-status N] [-hold] [-h 'Name: value']… PATH FILE   what the upstream at $UPSTREAM says to PATH
//	release PATH                          lets the answers go that -hold holds back
//	up [-as NAME] [FLAG…]                 starts ambit up on a free port, at $UP (or $UP_NAME)
//	down [NAME]                           stops it by SIGTERM; its status must be 0; stdout and stderr are its own
//	killed [NAME]                         kills it by SIGKILL instead
//	send [-bg] [-x METHOD] [-h 'Name: value']… URL [FILE]      a request; stdout is the answer's body, stderr its head
//	sent                                  waits for what send -bg began
//	received                              the upstream's last request; stdout is its body, stderr its head
//	record VAR TAG FILE…                  all of it: records a request for each FILE in a session, and names it $VAR
//	talk [-from TAG] TAG FILE             plays a conversation through $UP, under a tag; see conversation
//	play [-from TAG] VAR TAG FILE         all of it: starts ambit up, plays, stops, and names the session $VAR
//	session VAR TEXT                      the session whose key, client or title is TEXT
//	status N COMMAND…                     runs a command that must exit with N
//	model VAR FILE                        serves the model that a scripted.Script in JSON writes, at $VAR
//	await PATTERN COMMAND…                runs a command until its stdout matches
//	complains PATTERN                     stderr is one line that matches, and perhaps a hint
//	cmpjson FILE FILE                     JSON values alike; "<time>", "<int>", "<hex>", "<text>" stand for any
//	cmptext FILE FILE                     texts alike, with <time> for a time of day, and variables
//	member VAR FILE NAME, load VAR FILE   the first member of a name in JSON, all bytes of a file, as a variable
//	times FILE N TEXT                     writes a text N times
//	tree NAME [-but FOLDER]               remembers all of $AMBIT_HOME; same NAME [-but FOLDER] compares with it
//	flip FILE OFFSET, tear FILE N         changes a bit, from the end for a negative offset; cuts N bytes off
//	split FOLDER                          gives every append in a folder of entries a file of its own
//	bytes FILE HEX…, zip FILE FILE        writes bytes; compresses with gzip; squeeze FILE FILE with zstd
//	sub FILE OLD NEW                      replaces text in a file
//	port VAR URL                          the host and port of a URL
//	newest VAR, prefix VAR NAME           the last session by name; the shortest beginning that only NAME has
//	answers DIR, sameanswers DIR DIR      what every reading command says of every session, as files; compares two
//	append FILE FILE                      adds to the end of a file; middle VAR FOLDER is a file that is not at an end
//	chain FILE                            verifies an export: every frame's sum, the chain, every body's SHA-256
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup:              setupScript,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"killed": scriptKilled, "talk": scriptTalk, "play": scriptPlay, "member": scriptMember, "load": scriptLoad, "times": scriptTimes,
			"model": scriptModel, "cmptext": scriptCompareText, "squeeze": scriptSqueeze,
			"answer": scriptAnswer, "release": scriptRelease, "up": scriptUp, "down": scriptDown, "send": scriptSend, "sent": scriptSent,
			"received": scriptReceived, "record": scriptRecord, "session": scriptSession, "status": scriptStatus, "await": scriptAwait,
			"complains": scriptComplains, "cmpjson": scriptCompareJSON, "tree": scriptTree, "same": scriptSame, "flip": scriptFlip,
			"tear": scriptTear, "split": scriptSplit, "bytes": scriptBytes, "zip": scriptZip, "sub": scriptSub,
			"port": scriptPort, "newest": scriptNewest, "prefix": scriptPrefix, "chain": scriptChain,
			"answers": scriptAnswers, "sameanswers": scriptSameAnswers, "append": scriptAppend, "middle": scriptMiddle,
		},
	})
}

// world is what the helpers of one script share.
type world struct {
	ctx      context.Context
	upstream *upstream
	ups      map[string]*upProcess
	sent     chan scriptAnswered
	trees    map[string]map[string]string
	talks    map[string]*conversation // by tag
}

type scriptAnswered struct {
	res  *http.Response
	body []byte
	err  error
}

type worldKey struct{}

func setupScript(e *testscript.Env) error {
	ctx, cancel := context.WithCancel(context.Background())
	w := &world{ctx: ctx, upstream: newUpstream(), ups: make(map[string]*upProcess), trees: make(map[string]map[string]string), talks: make(map[string]*conversation)}
	e.Defer(func() {
		cancel() // kills what a failed script left running
		w.upstream.stop()
	})
	e.Values[worldKey{}] = w
	for name, value := range map[string]string{
		"HOME": e.WorkDir, "AMBIT_HOME": filepath.Join(e.WorkDir, "home"), "UPSTREAM": w.upstream.URL, "TZ": "UTC",
		"AMBIT_TOKEN": "", "HTTP_PROXY": "", "http_proxy": "", "NO_PROXY": "*",
		"GORACE": "atexit_sleep_ms=0", // the race detector lets a process sleep for a second before it exits
	} {
		e.Setenv(name, value)
	}
	return nil
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// plain refuses a negation that has no meaning, and another number of arguments.
func plain(ts *testscript.TestScript, neg bool, args []string, least, most int) {
	if neg {
		ts.Fatalf("! has no meaning here")
	}
	if len(args) < least || most >= 0 && len(args) > most {
		ts.Fatalf("%d arguments", len(args))
	}
}

// environ is the environment of a script's processes.
func environ(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "AMBIT_HOME", "AMBIT_TOKEN", "TZ", "TMPDIR", "HTTP_PROXY", "http_proxy", "NO_PROXY", "GORACE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// flags takes leading flags off: those in single stand alone, others have a value.
func flags(ts *testscript.TestScript, args []string, single ...string) (given map[string][]string, rest []string) {
	given = make(map[string][]string)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "--") {
		name := args[0]
		if slices.Contains(single, name) {
			given[name], args = append(given[name], ""), args[1:]
			continue
		}
		if len(args) < 2 {
			ts.Fatalf("%s has no value", name)
		}
		given[name], args = append(given[name], args[1]), args[2:]
	}
	return given, args
}

func header(ts *testscript.TestScript, lines []string) http.Header {
	h, err := headerLines(lines)
	ts.Check(err)
	return h
}

func scriptAnswer(ts *testscript.TestScript, neg bool, args []string) {
	given, args := flags(ts, args, "-hold")
	plain(ts, neg, args, 2, 2)
	a := upstreamAnswer{status: http.StatusOK, header: header(ts, given["-h"]), body: []byte(ts.ReadFile(args[1]))}
	if s := given["-status"]; s != nil {
		n, err := strconv.Atoi(s[0])
		ts.Check(err)
		a.status = n
	}
	if given["-hold"] != nil {
		a.hold = make(chan struct{})
	}
	worldOf(ts).upstream.answer(args[0], a)
}

func scriptRelease(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	worldOf(ts).upstream.release(args[0])
}

func upName(name string) string { return strings.TrimSuffix("UP_"+name, "_") }

func scriptUp(ts *testscript.TestScript, neg bool, args []string) {
	given, args := flags(ts, args)
	plain(ts, neg, args, 0, -1)
	name := strings.Join(given["-as"], "")
	w := worldOf(ts)
	p, err := startUp(w.ctx, ts.MkAbs("."), environ(ts), args...)
	ts.Check(err)
	w.ups[name] = p
	ts.Setenv(upName(name), p.url)
}

func scriptDown(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 0, 1)
	name := strings.Join(args, "")
	w := worldOf(ts)
	p := w.ups[name]
	if p == nil {
		ts.Fatalf("no ambit up %q is running", name)
	}
	delete(w.ups, name)
	err := p.stop()
	print(ts, p.out.String(), p.err.String())
	if err != nil {
		ts.Fatalf("ambit up: %v", err)
	}
}

func scriptKilled(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 0, 1)
	w, name := worldOf(ts), strings.Join(args, "")
	p := w.ups[name]
	if p == nil {
		ts.Fatalf("no ambit up %q is running", name)
	}
	delete(w.ups, name)
	ts.Check(p.cmd.Process.Kill())
	<-p.exited
}

// print makes text the script's stdout and stderr.
func print(ts *testscript.TestScript, stdout, stderr string) {
	io.WriteString(ts.Stdout(), stdout)
	io.WriteString(ts.Stderr(), stderr)
	ts.Logf("%s%s", stdout, stderr)
}

func scriptSend(ts *testscript.TestScript, neg bool, args []string) {
	given, args := flags(ts, args, "-bg")
	plain(ts, neg, args, 1, 2)
	method, body := http.MethodGet, []byte(nil)
	if len(args) == 2 {
		method, body = http.MethodPost, []byte(ts.ReadFile(args[1]))
	}
	if m := given["-x"]; m != nil {
		method = m[0]
	}
	h := header(ts, given["-h"])
	w := worldOf(ts)
	answered := make(chan scriptAnswered, 1)
	go func() {
		res, answer, err := sendRequest(w.ctx, method, args[0], h, body)
		answered <- scriptAnswered{res, answer, err}
	}()
	if given["-bg"] != nil {
		w.sent = answered
		return
	}
	printAnswered(ts, <-answered)
}

func printAnswered(ts *testscript.TestScript, a scriptAnswered) {
	ts.Check(a.err)
	print(ts, string(a.body), a.res.Status+"\n"+headText(a.res.Header))
}

func scriptSent(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 0, 0)
	printAnswered(ts, <-worldOf(ts).sent)
}

func headText(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			fmt.Fprintf(&b, "%s: %s\n", strings.ToLower(name), v)
		}
	}
	return b.String()
}

func scriptReceived(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 0, 0)
	asked, err := worldOf(ts).upstream.last()
	ts.Check(err)
	print(ts, string(asked.body), asked.line+"\n"+headText(asked.header))
}

func scriptRecord(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, -1)
	w := worldOf(ts)
	if !w.upstream.knows("/v1/messages") {
		w.upstream.answer("/v1/messages", jsonAnswer(messageAnswer))
	}
	p, err := startUp(w.ctx, ts.MkAbs("."), environ(ts), "--upstream", "anthropic="+w.upstream.URL)
	ts.Check(err)
	for _, file := range args[2:] {
		h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"scripted/1"}}
		_, _, err := sendRequest(w.ctx, http.MethodPost, p.url+"/anthropic/s/"+args[1]+"/v1/messages", h, []byte(ts.ReadFile(file)))
		ts.Check(err)
	}
	ts.Check(p.stop())
	scriptSession(ts, false, []string{args[0], "tag:" + args[1]})
}

func scriptSession(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	d, err := journal.Open(ts.Getenv("AMBIT_HOME"), journal.Options{Existing: true})
	ts.Check(err)
	defer d.Close()
	var found []string
	for _, name := range sessions(ts) {
		p, err := pool.Fresh(context.Background(), d, name)
		if err != nil && !errors.Is(err, journal.ErrCorrupt) {
			ts.Fatalf("%v", err)
		}
		if slices.Contains([]string{p.Session.Key, p.Session.Client, ambit.RecordingOf(d, name, p).Title(context.Background())}, args[1]) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		ts.Fatalf("%d sessions are of %q: %v", len(found), args[1], found)
	}
	ts.Setenv(args[0], found[0])
}

// sessions are the names of all sessions.
func sessions(ts *testscript.TestScript) []string {
	d, err := journal.Open(ts.Getenv("AMBIT_HOME"), journal.Options{Existing: true})
	ts.Check(err)
	defer d.Close()
	names, err := d.Sessions(context.Background())
	ts.Check(err)
	return names
}

func scriptNewest(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	names := sessions(ts)
	ts.Setenv(args[0], names[len(names)-1])
}

func scriptPrefix(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	names := sessions(ts)
	for n := 1; n <= len(args[1]); n++ {
		same := 0
		for _, name := range names {
			if strings.HasPrefix(name, args[1][:n]) {
				same++
			}
		}
		if same == 1 {
			ts.Setenv(args[0], args[1][:n])
			return
		}
	}
	ts.Fatalf("no beginning of %s is its own", args[1])
}

func scriptPort(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	u, err := url.Parse(args[1])
	ts.Check(err)
	ts.Setenv(args[0], u.Host)
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, -1)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	ts.Logf("[stdout]\n%.2000s[stderr]\n%s", ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, -1)
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for start := time.Now(); ; {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Since(start) > patience {
			ts.Fatalf("never came:\n%s%s%v", ts.ReadFile("stdout"), ts.ReadFile("stderr"), err)
		}
	}
}

func scriptComplains(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	want, err := regexp.Compile("^ambit: (?:" + args[0] + ")\n(ambit: hint: .+\n)?$")
	ts.Check(err)
	if text := ts.ReadFile("stderr"); !want.MatchString(text) || strings.HasPrefix(text, "ambit: hint:") {
		ts.Fatalf("stderr is not one line that matches %q:\n%s", args[0], text)
	}
}

func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	changeFile(ts, args, func(data []byte, at int) []byte {
		if at < 0 {
			at += len(data)
		}
		if at < 0 || at >= len(data) {
			ts.Fatalf("offset %s is outside of %d bytes", args[1], len(data))
		}
		data[at] ^= 1
		return data
	})
}

func scriptTear(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	changeFile(ts, args, func(data []byte, n int) []byte {
		if n > len(data) {
			ts.Fatalf("%d bytes are fewer than %d", len(data), n)
		}
		return data[:len(data)-n]
	})
}

func changeFile(ts *testscript.TestScript, args []string, change func([]byte, int) []byte) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	ts.Check(os.WriteFile(name, change(data, n), 0o600))
}

func scriptSub(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, 3)
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	if !bytes.Contains(data, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, bytes.ReplaceAll(data, []byte(args[1]), []byte(args[2])), 0o600))
}

func scriptBytes(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, -1)
	data, err := hex.DecodeString(strings.Join(args[1:], ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

func scriptZip(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, ts.ReadFile(args[0]))
	ts.Check(errors.Join(err, w.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}

func scriptAppend(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	ts.Check(os.WriteFile(name, append(data, ts.ReadFile(args[1])...), 0o600))
}

func scriptMiddle(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[1]), "*.jsonl"))
	ts.Check(err)
	if len(files) < 3 {
		ts.Fatalf("%d files have none in the middle", len(files))
	}
	ts.Setenv(args[0], files[1])
}

// readings are the commands that read one session.
var readings = [][]string{
	{"log"},
	{"log", "--full"},
	{"log", "--entries"},
	{"log", "--json"},
	{"search", "once", "--json"},
	{"search", "Done", "--branches", "all"},
	{"request", "--list"},
	{"request", "--list", "--json"},
	{"request", "1"},
	{"request", "1", "--json"},
	{"request", "1", "--response"},
	{"check"},
	{"check", "--json"},
	{"export"},
}

func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	dir := ts.MkAbs(args[0])
	ts.Check(os.RemoveAll(dir))
	ts.Check(os.MkdirAll(dir, 0o700))
	keep := func(args ...string) {
		ts.Check(ts.Exec("ambit", args...))
		ts.Check(os.WriteFile(filepath.Join(dir, strings.Join(args, " ")), []byte(ts.ReadFile("stdout")+ts.ReadFile("stderr")), 0o600))
	}
	keep("sessions")
	keep("sessions", "--json")
	keep("check", "--json")
	for _, name := range sessions(ts) {
		for _, r := range readings {
			keep(slices.Insert(slices.Clone(r), 1, name)...)
		}
	}
}

func scriptSameAnswers(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	a, err := snapshot(ts.MkAbs(args[0]), "")
	ts.Check(err)
	b, err := snapshot(ts.MkAbs(args[1]), "")
	ts.Check(err)
	if !maps.Equal(a, b) || len(a) < len(readings) {
		ts.Fatalf("answers differ:\n%v\n%v", a, b)
	}
}

// scriptSplit cuts the only file of a folder of entries behind every append, as if each had begun a new file.
func scriptSplit(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	dir := ts.MkAbs(args[0])
	whole := filepath.Join(dir, "000000000001.jsonl")
	data, err := os.ReadFile(whole)
	ts.Check(err)
	ts.Check(os.Remove(whole))
	first, seq := 1, 0
	var piece []byte
	for line := range bytes.Lines(data) {
		piece = append(piece, line...)
		seq++
		if bytes.Contains(line[:min(len(line), 60)], []byte(`"more":true`)) {
			continue
		}
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%012d.jsonl", first)), piece, 0o600))
		first, piece = seq+1, nil
	}
}

// snapshot is every file and folder below a folder, with modes and contents.
func snapshot(root, but string) (map[string]string, error) {
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if but != "" && d.Name() == but {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		all[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
			all[rel] += fmt.Sprintf(" %d bytes %x", info.Size(), sha256.Sum256(data))
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && len(all) == 0 {
		return all, nil
	}
	return all, err
}

// treeArgs reads NAME [-but FOLDER].
func treeArgs(ts *testscript.TestScript, neg bool, args []string) (name, but string) {
	plain(ts, neg, args, 1, 3)
	if len(args) == 3 && args[1] == "-but" {
		return args[0], args[2]
	}
	plain(ts, neg, args, 1, 1)
	return args[0], ""
}

func scriptTree(ts *testscript.TestScript, neg bool, args []string) {
	name, but := treeArgs(ts, neg, args)
	all, err := snapshot(ts.Getenv("AMBIT_HOME"), but)
	ts.Check(err)
	worldOf(ts).trees[name] = all
}

func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	name, but := treeArgs(ts, neg, args)
	before, ok := worldOf(ts).trees[name]
	if !ok {
		ts.Fatalf("no tree %q", name)
	}
	now, err := snapshot(ts.Getenv("AMBIT_HOME"), but)
	ts.Check(err)
	for file := range now {
		if before[file] != now[file] {
			ts.Fatalf("%s changed: %q is now %q", file, before[file], now[file])
		}
	}
	for file := range before {
		if _, ok := now[file]; !ok {
			ts.Fatalf("%s is gone", file)
		}
	}
}

func scriptCompareJSON(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	got, err := jsonValues(ts.ReadFile(args[0]))
	ts.Check(err)
	want, err := jsonValues(os.Expand(ts.ReadFile(args[1]), ts.Getenv))
	ts.Check(err)
	if problems := compareJSON("", got, want); len(problems) > 0 {
		ts.Fatalf("%s is not %s:\n%s", args[0], args[1], strings.Join(problems, "\n"))
	}
}

// scriptChain verifies an export by docs/format/journal.md, with nothing of the journal's own code.
func scriptChain(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, 1)
	type body struct {
		At     int64  `json:"at"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
	type line struct {
		Body   *body  `json:"body"`
		Text   string `json:"text"`
		Base64 string `json:"base64"`
		Frame  int    `json:"frame"`
		Seq    int    `json:"seq"`
		Prev   string `json:"prev"`
		Sum    string `json:"sum"`
		Entry  struct {
			Body *body `json:"body"`
		} `json:"entry"`
	}
	bodies := make(map[body]bool)
	prev, seq, used := strings.Repeat("0", 64), 0, 0
	for text := range strings.Lines(ts.ReadFile(args[0])) {
		text, whole := strings.CutSuffix(text, "\n")
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil || !whole {
			ts.Fatalf("line %q: %v", text, err)
		}
		if l.Frame == 0 {
			data := []byte(l.Text)
			if l.Base64 != "" {
				var err error
				data, err = base64.StdEncoding.DecodeString(l.Base64)
				ts.Check(err)
			}
			if sum := sha256.Sum256(data); len(data) != l.Body.Bytes || hex.EncodeToString(sum[:]) != l.Body.SHA256 {
				ts.Fatalf("a body of %d bytes is not %+v", len(data), *l.Body)
			}
			bodies[*l.Body] = true
			continue
		}
		seq++
		sum := sha256.Sum256([]byte(text[:strings.LastIndex(text, `,"sum":"`)] + "}"))
		if l.Frame != 1 || l.Seq != seq || l.Prev != prev || l.Sum != hex.EncodeToString(sum[:]) {
			ts.Fatalf("the chain breaks at frame %d: %s", seq, text)
		}
		prev = l.Sum
		if l.Entry.Body != nil {
			used++
			if !bodies[*l.Entry.Body] {
				ts.Fatalf("frame %d relies on a body that does not stand before it", seq)
			}
		}
	}
	ts.Logf("%d frames, %d bodies", seq, used)
	if seq == 0 || used == 0 {
		ts.Fatalf("the export holds %d frames and %d bodies", seq, used)
	}
}

// jsonValues reads all JSON values of a text.
func jsonValues(text string) ([]any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	values := []any{}
	for {
		var v any
		err := dec.Decode(&v)
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
}

// jsonKinds are what a wanted string in angle brackets stands for.
var jsonKinds = map[string]func(any) bool{
	"<text>": func(v any) bool { s, ok := v.(string); return ok && s != "" },
	"<int>": func(v any) bool {
		n, ok := v.(json.Number)
		return ok && regexp.MustCompile(`^\d+$`).MatchString(n.String())
	},
	"<hex>": func(v any) bool { s, ok := v.(string); return ok && regexp.MustCompile(`^[0-9a-f]+$`).MatchString(s) },
	"<time>": func(v any) bool {
		s, _ := v.(string)
		at, err := time.Parse(time.RFC3339Nano, s)
		return err == nil && at.Location() == time.UTC && at.Year() > 2000
	},
}

// compareJSON says where a value is not what is wanted.
func compareJSON(at string, got, want any) []string {
	var problems []string
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if v, ok := g[key]; ok {
				problems = append(problems, compareJSON(at+"/"+key, v, w[key])...)
			} else {
				problems = append(problems, fmt.Sprintf("%s/%s is missing", at, key))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[key]; !ok {
				problems = append(problems, fmt.Sprintf("%s/%s is there: %v", at, key, g[key]))
			}
		}
		return problems
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			problems = append(problems, compareJSON(at+"/"+strconv.Itoa(i), g[i], w[i])...)
		}
		return problems
	case string:
		if kind := jsonKinds[w]; kind != nil && kind(got) || got == want {
			return nil
		}
	default:
		if got == want {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
}
