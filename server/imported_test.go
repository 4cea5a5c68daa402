package server

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"testing"
	"time"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// TestImportedIsEvidence puts sessions in the place of which the same have been imported, by the same secret. Nobody is
// recognised by them, nothing goes on from them, and nothing is added to them; but a fork of one is gone on with.
//
// covers: J-09 part
func TestImportedIsEvidence(t *testing.T) {
	ctx := context.Background()
	var at time.Time
	now := func(o *Options) { o.Now = func() time.Time { return at } }
	at = time.Unix(1e9, 0)
	g := newRig(t, echo, now)
	requests := []struct {
		path    string
		headers []string
	}{
		{"/anthropic/v1/messages", []string{"X-Api-Key", "somebody"}},
		{"/openai/v1/responses", []string{"Session-Id", "s"}},
		{"/anthropic/s/tag/v1/messages", nil},
		{"/anthropic/v1/messages", []string{"X-Session-Id", "parent"}},
		{"/anthropic/v1/messages", []string{"X-Session-Id", "child", "X-Parent-Session-Id", "parent"}},
		{"/anthropic/v1/messages", []string{"X-Session-Id", "grandchild", "X-Parent-Session-Id", "child"}},
	}
	send := func(only int) {
		t.Helper()
		sent := 0
		for i, r := range requests {
			if only >= 0 && i != only {
				continue
			}
			at = at.Add(time.Second)
			body := fmt.Sprintf(`{"tools":[{"name":"t"}],"messages":[{"role":"user","content":"number %d"}],"input":"number %d"}`, i, i)
			if _, _, err := g.post(r.path, []byte(body), r.headers...); err != nil {
				t.Fatal(err)
			}
			sent++
			g.settle(2 * sent)
		}
	}
	send(-1)
	recorded := g.pools()
	exports := g.importAgain()
	g.start(now)
	send(-1)
	pools := g.pools()
	if len(recorded) != 4 || len(pools) != 8 {
		t.Fatalf("%d sessions were recorded, and with those that were recorded again they are %d", len(recorded), len(pools))
	}
	for name, p := range pools {
		old := recorded[name] != nil
		if old != (p.Imported != nil) {
			t.Errorf("session %s: imported %+v", name, p.Imported)
		}
		if !old && (p.Exchanges[0].Request.N != 1 || p.Exchanges[0].Relation.How != entry.Root) {
			t.Errorf("session %s begins with %+v", name, p.Exchanges[0].Relation)
		}
	}
	for name, export := range exports {
		if !bytes.Equal(g.export(name), export) {
			t.Errorf("session %s has changed", name)
		}
	}
	forked := ""
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range recorded {
		if p.Session.Key == ambit.TagKey("tag") {
			forked = name
		}
	}
	const fork = "zz"
	err = ambit.Fork(ctx, d, forked, pools[forked].Seq, entry.Session{ID: fork, Key: ambit.TagKey("tag")})
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	g.start(now)
	send(2)
	again := g.pools()
	if p := again[fork]; p == nil || p.Imported != nil || len(p.Exchanges) != 2 || len(again) != 9 {
		t.Errorf("of %d sessions the fork is %+v", len(again), p)
	}
	if !bytes.Equal(g.export(forked), exports[forked]) {
		t.Errorf("session %s has changed", forked)
	}
}

// importAgain removes all sessions and imports what was exported of them.
func (g *rig) importAgain() map[string][]byte {
	g.t.Helper()
	ctx := context.Background()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Sessions(ctx)
	if err != nil {
		g.t.Fatal(err)
	}
	exports := make(map[string][]byte)
	for _, name := range names {
		export := g.export(name)
		g.remove(d.Folder(name))
		read, err := journal.ReadExport(ctx, bytes.NewReader(export))
		if err != nil {
			g.t.Fatal(err)
		}
		session, made, err := d.Import(ctx, bytes.NewReader(export), read, "x.jsonl")
		if err != nil || !made || session != name {
			g.t.Fatalf("session %q was imported as %q, made %v: %v", name, session, made, err)
		}
		exports[name] = export
	}
	return exports
}

// remove takes a file or a folder away with all that it holds.
func (g *rig) remove(name string) {
	g.t.Helper()
	if names, err := g.mem.List(name); err == nil {
		for _, n := range names {
			g.remove(path.Join(name, n))
		}
	}
	if err := g.mem.Remove(name); err != nil {
		g.t.Fatal(err)
	}
}

func (g *rig) export(session string) []byte {
	g.t.Helper()
	d, err := journal.Open("/data", journal.Options{FS: g.mem})
	if err != nil {
		g.t.Fatal(err)
	}
	defer d.Close()
	var out bytes.Buffer
	if err := journal.Export(context.Background(), d, session, &out); err != nil {
		g.t.Fatal(err)
	}
	return out.Bytes()
}
