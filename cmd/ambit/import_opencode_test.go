package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// openCodeTables are the columns that are read of OpenCode's database, as version 1.18 makes them, and one that is not.
const openCodeTables = `
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL, time_created integer NOT NULL,
	time_updated integer NOT NULL, revert text);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
INSERT INTO session VALUES ('ses_1', NULL, '/shop', 'Mend the till', '1.18.33', 1767322000000, 1767322009000, NULL),
	('ses_2', 'ses_1', '/shop', 'Count coupons', '1.18.33', 1767322003000, 1767322004000, NULL), ('ses_3', NULL, '/shop', 'Nothing yet', '1.18.33', 1767322010000, 1767322010000, NULL);
INSERT INTO message VALUES
	('msg_1', 'ses_1', 1767322001000, 0, '{"role":"user","time":{"created":1767322001000}}'),
	('msg_2', 'ses_1', 1767322002000, 0, '{"role":"assistant","providerID":"anthropic","modelID":"m","time":{"created":1767322002000,"completed":1767322005000}}'),
	('msg_3', 'ses_2', 1767322003000, 0, '{"role":"user","time":{"created":1767322003000}}'),
	('msg_4', 'ses_2', 1767322003500, 0, '{"role":"assistant","providerID":"anthropic","modelID":"m","time":{"created":1767322003500}}'),
	('msg_5', 'ses_1', 1767322006000, 0, '{}');
INSERT INTO part VALUES
	('prt_1', 'msg_1', 'ses_1', 0, 0, '{"type":"text","text":"Why does the till refuse \"coupons\"?"}'),
	('prt_2', 'msg_2', 'ses_1', 0, 0, '{"type":"step-start"}'),
	('prt_3', 'msg_2', 'ses_1', 0, 0, '{"type":"tool","callID":"call_1","tool":"task","state":{"status":"completed","input":{"prompt":"Count them"},"output":"seven","metadata":{"sessionId":"ses_2"}}}'),
	('prt_4', 'msg_2', 'ses_1', 0, 0, '{"type":"step-finish","tokens":{"input":3,"output":4,"cache":{"read":5,"write":6}}}'),
	('prt_5', 'msg_3', 'ses_2', 0, 0, '{"type":"text","text":"Count them"}'),
	('prt_6', 'msg_4', 'ses_2', 0, 0, '{"type":"step-start"}'),
	('prt_7', 'msg_4', 'ses_2', 0, 0, '{"type":"text","text":"There are seven coupons."}'),
	('prt_8', 'msg_2', 'ses_1', 0, 0, 'not an object');`

// openCodeDB makes a database, with what was written last still beside it, as of an OpenCode that runs. It stays open.
func openCodeDB(t *testing.T, path, tables string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(tables); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(path + "-wal"); err != nil || about.Size() == 0 {
		t.Fatalf("nothing stands beside the database: %v", err)
	}
}

// importAll imports paths and returns what --json says, with the sessions' names left out.
func importAll(t *testing.T, home string, paths ...string) (rows []importedRow, said string) {
	t.Helper()
	e, out, errs := testEnv(map[string]string{"AMBIT_HOME": home})
	e.now = time.Now
	run(t.Context(), e, append([]string{"import", "--json"}, paths...))
	var got struct{ Sessions []importedRow }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	return got.Sessions, errs.String()
}

// TestImportOpenCode imports the sessions of OpenCode's own database, that of a sub-agent into its parent's, and leaves
// the database as it is.
func TestImportOpenCode(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
	path := filepath.Join(dir, "opencode", "opencode.db")
	openCodeDB(t, path, openCodeTables)
	before := listing(t, filepath.Dir(path))
	rows, said := importAll(t, home, dir)
	if len(rows) != 2 || said != "ambit: 3 files of these folders are no recordings\n" {
		t.Fatalf("%+v, said %q", rows, said)
	}
	if diff := cmp.Diff(before, listing(t, filepath.Dir(path))); diff != "" {
		t.Errorf("the database's folder changed:\n%s", diff)
	}
	name := rows[0].Session
	if rows[1].Session != name || rows[0].Format != "opencode-export" || rows[0].Turns != 1 || rows[1].Turns != 1 || rows[1].Entries <= rows[0].Entries {
		t.Errorf("%+v", rows)
	}
	for _, want := range []struct{ args, has string }{
		{"log " + name, "opencode/1.18.33  Mend the till"},
		{"log " + name, `Why does the till refuse "coupons"?`},
		{"log " + name, "t2, a sub-agent of #1, 1 request"},
		{"search " + name + " coupons.", "/messages/1/parts/1/text:1: There are seven coupons."},
		{"request " + name + " --list --json", `"usage":{"input_tokens":14,"cache_read_tokens":5,"cache_write_tokens":6,"output_tokens":4}`},
		{"check", "2 bodies"},
	} {
		e, out, errs := testEnv(map[string]string{"AMBIT_HOME": home})
		if status := run(t.Context(), e, strings.Fields(want.args)); status != exitDone || !strings.Contains(out.String(), want.has) {
			t.Errorf("ambit %s: status %d, has no %q: %s %s", want.args, status, want.has, out, errs)
		}
	}
	dead := exec.Command("true") // whose copy is left
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(os.TempDir(), copies+strconv.Itoa(dead.Process.Pid)+"-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	rows, _ = importAll(t, home, path)
	for _, r := range rows {
		if !r.Already {
			t.Errorf("again: %+v", r)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "ambit-import-*")); len(left) > 0 {
		t.Errorf("left in the temporary folder: %v", left)
	}
}

// TestImportOpenCodeRefused says in a line what is wrong with a database, and makes nothing.
func TestImportOpenCodeRefused(t *testing.T) {
	for name, make := range map[string]func(path string){
		"another program's": func(path string) { openCodeDB(t, path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)") },
		"none": func(path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
		path := filepath.Join(dir, "opencode.db")
		make(path)
		rows, said := importAll(t, home, path)
		if len(rows) != 0 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "opencode.db: not a database of OpenCode that is known: ") {
			t.Errorf("%s: %+v, said %q", name, rows, said)
		}
		if _, err := os.Stat(home); !os.IsNotExist(err) {
			t.Errorf("%s: a data directory was made: %v", name, err)
		}
	}
}

// listing is every file of a folder with its size and time.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		about, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Name()+" "+about.ModTime().String()+" "+count(about.Size()))
	}
	return list
}
