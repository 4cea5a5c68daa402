package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// fullHome makes a data directory that gives every member something to say: a session with every kind of entry,
// two that are damaged, and one that cannot be read.
func fullHome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	d := madeSessions(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, name := range []string{"a-full", "b-entry", "c-body"} {
		unlock, err := d.Lock(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var bodies []entry.Body
		for _, text := range []string{`{"model":"m"}`, "\xff\x00"} {
			b, err := d.Put(t.Context(), name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, b)
		}
		headers := map[string]string{"content-type": "application/json"}
		for _, facts := range [][]entry.Fact{
			{&entry.Session{ID: name, Title: "title", Client: "client/1", Key: "tag:a"}, &entry.Request{
				N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Headers: headers, Model: "m",
				Arrived: at, Partial: true, Body: &bodies[0],
			}},
			{&entry.Relation{
				N: 1, Thread: "t1", Parent: 7, How: entry.Agent, Evidence: "argument", Owner: 2, Call: "c1", Alias: "anthropic:x-session-id:b", About: 3, Key: "messages", Messages: 2,
				Chain: "00", Tools: true,
			}, &entry.Unit{
				N: 1, Of: entry.PartAnswer, Thread: "t1", Role: "assistant", Calls: []string{"c1"}, Results: []string{"c0"}, Name: "msg_1", Whole: true,
				Unknown: true,
			}},
			{&entry.Response{
				N: 1, Status: 200, Headers: headers, Model: "m", Usage: &entry.Usage{Input: 4, CacheRead: 1, CacheWrite: 2, Output: 3, CacheWriteHour: 1},
				End: entry.EndDropped, Error: "unexpected EOF", FirstByteMS: 1, DurationMS: 2, Body: &bodies[1],
			}},
			{&entry.Gap{Exchanges: 1, Bytes: 2, Cause: "no space left on device", Since: at}},
			decidedFacts(&bodies[0], &bodies[1]),
			ownFacts(&bodies[0]),
			{&entry.Unknown{Name: "later", Raw: json.RawMessage(`{"time":"2026-01-02T03:04:05Z","kind":"later","text":"?"}`)}},
		} {
			if _, err := d.Append(t.Context(), name, facts...); err != nil {
				t.Fatal(err)
			}
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	talkHome(t, d)
	purgedHome(t, d)
	importedHome(t, d)
	for _, file := range []string{"b-entry/entries/000000000001.jsonl", "c-body/bodies/literals.log"} {
		file = filepath.Join(dir, "sessions", file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-10] ^= 1
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "sessions/d-unreadable/entries/000000000001.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// decidedFacts are one of every kind that says what was decided and asked for, with every member set.
func decidedFacts(a, b *entry.Body) []entry.Fact {
	return []entry.Fact{
		&entry.Decision{
			N: 1, Thread: "t1", Policy: "full", Stage: entry.StageCompact, Event: entry.StageCompact.Event(), Reactive: true, Why: "because", Whole: 9, Before: 8, After: 5, Kept: 2,
			LastReal: 7, Usable: 100, Cold: true, IdleMS: 3, LifeMS: 4, Forced: true, Price: 0.25, Account: 1.5, Spent: 1.25, Slack: 0.05, Lifts: []entry.Seq{3}, Uncut: []string{"e3: media"},
			Repaired: 1, Lost: 2, Checkpoint: b,
		},
		&entry.Edit{N: 1, Thread: "t1", Changes: 2, Body: a},
		&entry.Sent{
			N: 1, Attempt: 1, Edited: 1, Whole: 9, After: 5, Account: 1.5, Spent: 1.25, Held: []string{"p1"}, Missing: []string{"p2: no room"}, Body: a,
		},
		&entry.Sent{N: 1, Attempt: 2, Why: "nothing more can be cut", Whole: 9, After: 5, Account: 1.5, Spent: 1.25, Refused: b, Status: 400},
		&entry.Pin{ID: "p1", Of: 4, By: "user", Body: b},
		&entry.Pin{ID: "p1", By: "user", Off: true},
		&entry.Note{ID: "n1", Class: "finding", By: "agent", Refs: []string{"e2"}, Body: b},
	}
}

// ownFacts are what only sessions of Ambit's own have, with every member set.
func ownFacts(b *entry.Body) []entry.Fact {
	return []entry.Fact{
		&entry.Works{
			Agent: "coder", Role: b, Tools: "00", Parent: "x", Provider: "anthropic", Type: "messages", Model: "m", BaseURL: "http://127.0.0.1", Output: 9, Travels: "websocket", Dir: "/w", Plain: true,
		},
		&entry.Input{ID: "i", Delivery: entry.Queue, By: "user", Body: b},
		&entry.Told{Baseline: true, Text: b, Volatile: b, Values: b, Missing: []entry.Missing{{Key: "core/git", Why: "it is slow"}}, Why: "the session begins"},
		&entry.Promoted{Activity: 1, Inputs: []entry.Seq{2}},
		&entry.Call{N: 1, ID: "c1", Name: "read"},
		&entry.Result{N: 1, ID: "c1", Failed: true, Ended: entry.SettledRun, TookMS: 1, Body: b},
		&entry.Idle{Activity: 1, Turns: 1, Ended: entry.EndingLimit, Why: "25 turns"},
		&entry.Aside{N: 1, ID: "a", Thread: "t2", Body: b},
	}
}

// purgedHome makes a session that was purged, and whose literal log is there again, as if that had been interrupted.
func purgedHome(t *testing.T, d *journal.Dir) {
	t.Helper()
	ctx, name := t.Context(), "g-purged"
	unlock, err := d.Lock(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.Put(ctx, name, []byte(`{"model":"m"}`))
	if err == nil {
		_, err = d.Append(ctx, name, &entry.Session{ID: name}, &entry.Request{N: 1, Provider: "anthropic", Arrived: time.Unix(1e9, 0), Body: &body})
	}
	_, purged := d.Purge(ctx, name)
	left := os.WriteFile(filepath.Join(d.Folder(name), "bodies", "literals.log"), []byte("left"), 0o600)
	if err := errors.Join(err, purged, left, unlock()); err != nil {
		t.Fatal(err)
	}
}

// importedHome makes a session of a recording.
func importedHome(t *testing.T, d *journal.Dir) {
	t.Helper()
	ctx, name := t.Context(), "h-imported"
	unlock, err := d.Lock(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	at := &entry.Place{In: 2, Line: 1, Offset: 0, Length: 9}
	body, err := d.Put(ctx, name, []byte(`{"message":"a"}`))
	if err == nil {
		_, err = d.Append(ctx, name, &entry.Session{ID: name, Key: "import:a"},
			&entry.Imported{Format: "claude-code", Name: "a.jsonl", Version: "2", Key: "import:a", Lines: 1, Title: at, SHA256: body.SHA256, Body: &body},
			&entry.Request{N: 1, Provider: "anthropic", Effort: "high", Arrived: time.Unix(1e9, 0), Recorded: at},
			&entry.Relation{N: 1, Thread: "t1", How: entry.Root, Evidence: "recording"},
			&entry.Unit{N: 1, Of: entry.PartPruned, Thread: "t1", Results: []string{"c8"}},
			&entry.Unit{N: 1, Of: entry.PartRecord, Thread: "t1", Role: "assistant", Length: 9, Calls: []string{"c9"}, In: 2, Line: 1},
			&entry.Response{N: 1, End: entry.EndComplete, AskedMS: 5, Recorded: at})
	}
	if err := errors.Join(err, unlock()); err != nil {
		t.Fatal(err)
	}
}

// talkHome makes a session with texts, and a fork of it.
func talkHome(t *testing.T, d *journal.Dir) {
	t.Helper()
	ctx, hay := t.Context(), strings.Repeat("hay ", 400)
	message := `{"role":"user","content":"` + hay + `needle ` + hay + `\nneedle\n` + hay + `"}`
	text := `{"model":"m","messages":[` + message + `]}`
	first := entry.Session{ID: "e-talk", Client: "client/1"}
	unlock, err := d.Lock(ctx, first.ID)
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.Put(ctx, first.ID, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(text, message)
	_, err = d.Append(ctx, first.ID, &first,
		&entry.Request{N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Model: "m", Arrived: time.Unix(1e9, 0), Body: &body},
		&entry.Relation{N: 1, Thread: "t1", How: entry.Root, Key: "messages", Messages: 1},
		&entry.Unit{
			N: 1, Of: entry.PartMessage, Thread: "t1", Role: "user", At: "/messages/0", Offset: int64(at), Length: int64(len(message)), Element: "00",
		})
	_, answered := d.Append(ctx, first.ID, &entry.Response{N: 1, Status: 200, End: entry.EndComplete})
	if err := errors.Join(err, answered, unlock(), ambit.Fork(ctx, d, first.ID, 4, entry.Session{ID: "f-fork"})); err != nil {
		t.Fatal(err)
	}
}
