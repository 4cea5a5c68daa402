package main

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// editedHome makes a session with a request that was edited: a result is a placeholder, and a pin stands behind it.
func editedHome(t *testing.T, dir string) {
	t.Helper()
	d, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, name := t.Context(), "i-edited"
	unlock, err := d.Lock(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"all of it"}]}`
	whole := `{"model":"m","messages":[` + message + `]}`
	sent := strings.Replace(strings.Replace(whole, "all of it", "[c1]", 1), "}]}]}", `}]},{"role":"user","content":"Never delete."}]}`, 1)
	family := ambit.Family("anthropic", "POST", "/v1/messages")
	elements, err := family.Elements(family.Request("POST", "/v1/messages", nil), []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	element := hex.EncodeToString(elements.Messages[0].Hash[:])
	changes, err := entry.EncodeChanges([]entry.Change{
		{Element: element, How: entry.ChangePlaceholder, Call: "c1", Text: "[c1]", Of: 4},
		{Element: element, How: entry.ChangeBehind, Text: "Never delete.", Pin: "p1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []entry.Body
	for _, text := range []string{whole, sent, string(changes), "it leaks"} {
		b, err := d.Put(ctx, name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, b)
	}
	_, err = d.Append(ctx, name, &entry.Session{ID: name},
		&entry.Request{N: 1, Provider: "anthropic", Type: "messages", Method: "POST", Path: "/v1/messages", Model: "m", Body: &bodies[0]},
		&entry.Relation{N: 1, Thread: "t1", How: entry.ClientCompaction, Messages: 1},
		&entry.Unit{
			N: 1, Of: entry.PartMessage, Thread: "t1", Role: "user", At: "/messages/0", Offset: int64(strings.Index(whole, message)), Length: int64(len(message)),
			Element: element, Results: []string{"c1"},
		},
		&entry.Decision{
			N: 1, Thread: "t1", Policy: "full", Stage: entry.StagePrune, Event: entry.StagePrune.Event(), Why: "because", Whole: 9, Before: 8, After: 5, Price: 0.25, Account: 1.5,
			Spent: 1.25, Slack: 0.05,
		},
		&entry.Edit{N: 1, Thread: "t1", Changes: 2, Body: &bodies[2]},
		&entry.Sent{N: 1, Attempt: 1, Edited: 1, Held: []string{"p1"}, Missing: []string{"p2: no room"}, Body: &bodies[1]},
		&entry.Note{ID: "n1", Class: ambit.ClassFinding, By: ambit.ByAgent, Refs: []string{"e4"}, Body: &bodies[3]})
	if err := errors.Join(err, unlock()); err != nil {
		t.Fatal(err)
	}
}
