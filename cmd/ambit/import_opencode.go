package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	_ "modernc.org/sqlite"
)

// openCodeDatabase reports whether a path is the database in which OpenCode keeps its sessions, versions 1.3 and later.
func openCodeDatabase(path string) (string, bool) {
	if filepath.Base(path) != "opencode.db" {
		return "", false
	}
	about, err := os.Stat(path)
	return path, err == nil && about.Mode().IsRegular()
}

// openCode takes in all sessions of a database of OpenCode, each as opencode export prints it. The database is read from a
// copy: SQLite makes files beside the one that it reads, and what belongs to others is left as it is.
func (f *finding) openCode(ctx context.Context, path string) error {
	sweepCopies()
	dir, err := os.MkdirTemp("", copies+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := copyDatabase(ctx, path, dir)
	if err != nil {
		f.fail(path, err)
		return ctx.Err()
	}
	db, err := sql.Open("sqlite", "file:"+copied+"?_pragma=journal_mode(delete)&_pragma=temp_store(memory)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)                            // which stays open
	f.later = append(f.later, func() { db.Close() }) // sub-agents' sessions are read at the end
	sessions, err := openCodeSessions(ctx, db)
	if err != nil {
		f.fail(path, fmt.Errorf("not a database of OpenCode that is known: %w; opencode export prints a session as a file that can be imported", err))
		return ctx.Err()
	}
	os.RemoveAll(dir) // what is open needs no name, and is gone with the process
	for _, s := range sessions {
		at := location{path: path + "/" + s.id + ".json", shown: path + " " + s.id, read: func(ctx context.Context) ([]byte, error) { return s.export(ctx, db) }, found: true}
		if err := f.take(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// copies begins the names of the folders that hold copies of databases; the id of their process follows.
const copies = "ambit-import-"

// sweepCopies takes away the copies of processes that died before they could.
func sweepCopies() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), copies+"*"))
	for _, dir := range left {
		id, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), copies), "-")
		if pid, err := strconv.Atoi(id); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(dir)
		}
	}
}

// copyDatabase copies a database with what SQLite has written beside it. When it changes meanwhile it is copied again.
func copyDatabase(ctx context.Context, path, dir string) (string, error) {
	to := filepath.Join(dir, "opencode.db")
	for range steadyTries {
		steady, err := true, error(nil)
		for _, suffix := range []string{"-wal", ""} {
			same, copyErr := copySteady(ctx, path+suffix, to+suffix)
			if suffix != "" && errors.Is(copyErr, fs.ErrNotExist) {
				continue
			}
			steady, err = steady && same, errors.Join(err, copyErr)
		}
		if err != nil || steady {
			return to, err
		}
	}
	return "", errors.New("it changes while it is read: import it when its agent is done")
}

// copySteady copies a file and reports whether it was the same before and after.
func copySteady(ctx context.Context, from, to string) (bool, error) {
	in, err := openRegular(from)
	if err != nil {
		return false, err
	}
	defer in.Close()
	before, err := in.Stat()
	if err != nil {
		return false, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(out, contextReader{ctx, in})
	if err = errors.Join(err, out.Close()); err != nil {
		return false, err
	}
	after, err := os.Stat(from)
	return err == nil && os.SameFile(before, after) && steady(before, after), err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// openCodeSession is a row of OpenCode's table of sessions.
type openCodeSession struct {
	id   string
	info openCodeInfo
}

// openCodeInfo is what an export says of a session.
type openCodeInfo struct {
	ID        string `json:"id"`
	ParentID  string `json:"parentID,omitempty"`
	Directory string `json:"directory"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Time      struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated"`
	} `json:"time"`
}

func openCodeSessions(ctx context.Context, db *sql.DB) ([]openCodeSession, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, coalesce(parent_id, ''), directory, title, version, time_created, time_updated FROM session ORDER BY time_created, id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sessions []openCodeSession
	for rows.Next() {
		var s openCodeSession
		if err := rows.Scan(&s.info.ID, &s.info.ParentID, &s.info.Directory, &s.info.Title, &s.info.Version, &s.info.Time.Created, &s.info.Time.Updated); err != nil {
			return nil, err
		}
		s.id = s.info.ID
		sessions = append(sessions, s)
	}
	return sessions, rows.Err()
}

// export writes a session as opencode export does: the messages and their parts as they are stored, each with its id. The
// same rows give the same bytes.
func (s openCodeSession) export(ctx context.Context, db *sql.DB) ([]byte, error) {
	var b bytes.Buffer
	info, err := json.Marshal(s.info)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\"info\":%s,\n\"messages\":[", info)
	rows, err := db.QueryContext(ctx, `SELECT m.id, m.data, coalesce(p.id, ''), coalesce(p.data, '') FROM message m LEFT JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`, s.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	last := ""
	for rows.Next() {
		var message, data, part, partData string
		if err := rows.Scan(&message, &data, &part, &partData); err != nil {
			return nil, err
		}
		if message != last {
			if last != "" {
				b.WriteString("]},")
			}
			fmt.Fprintf(&b, "\n{\"info\":%s,\n\"parts\":[", withID(message, data))
		} else {
			b.WriteByte(',')
		}
		last = message
		if part != "" {
			b.WriteString("\n" + withID(part, partData))
		}
	}
	if last != "" {
		b.WriteString("]}")
	}
	b.WriteString("]}\n")
	return b.Bytes(), rows.Err()
}

// withID is a stored object with its id as the first member.
func withID(id, object string) string {
	name, _ := json.Marshal(id) // of a string, which cannot fail
	rest := bytes.TrimLeft([]byte(object), " \t\r\n")
	if len(rest) < 2 || rest[0] != '{' || !json.Valid(rest) {
		text, _ := json.Marshal(object)
		return fmt.Sprintf(`{"id":%s,"type":"unreadable","data":%s}`, name, text)
	}
	if bytes.Equal(bytes.TrimSpace(rest[1:]), []byte("}")) {
		return fmt.Sprintf(`{"id":%s}`, name)
	}
	return fmt.Sprintf(`{"id":%s,%s`, name, rest[1:])
}
