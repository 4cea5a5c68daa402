package ambit_test

import (
	"context"
	"errors"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/journal"
	"ambit/provider"
	"ambit/provider/scripted"
)

// A session in a store in memory works as any other, and is gone with the store: whoever resumes, forks, reads or recalls it is
// told that the store is closed, or in another one that there is no such session.
//
// covers: J-12
func TestEphemeral(t *testing.T) {
	d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
		{Calls: []scripted.Call{scriptedCall("read", "a"), {Name: "probe"}}}, {Text: "Done."}, {Text: "More."},
	}}}}, scripted.Options{Strict: true}))
	onDisk := d.store
	memory, err := journal.OpenMemory(journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.store = memory
	d.engine = d.anew()
	var late context.Context
	d.setup.Agent.Tools = append(d.setup.Agent.Tools, d.probe(func(ctx context.Context) {
		late = context.WithoutCancel(ctx)
		if a, _ := d.recall(ctx, ambit.RecallSearch, `{"text":"text of"}`); recalled(a) != `found|complete|text of {"path":"a"}` {
			t.Errorf("%+v", a)
		}
	}))
	s := d.begin("Go.")
	d.run(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = d.engine.Resume(t.Context(), s.ID(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "On.") // as long as the store is held
	if err := errors.Join(s.Close(), memory.Close()); err != nil {
		t.Fatal(err)
	}
	other, err := journal.OpenMemory(journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, w := range map[string]struct {
		store *journal.Dir
		want  error
	}{"the same": {memory, journal.ErrClosed}, "another": {other, journal.ErrNoSession}, "on disk": {onDisk, journal.ErrNoSession}} {
		d.store = w.store
		e := d.anew()
		_, resumed := e.Resume(t.Context(), s.ID(), d.setup)
		_, _, left := e.Left(t.Context(), s.ID())
		_, opened := ambit.OpenRecording(t.Context(), w.store, s.ID())
		_, recalled := e.Recall()[0].Run(late, []byte(`{"text":"text of"}`))
		forked := ambit.Fork(t.Context(), w.store, s.ID(), 3, entry.Session{ID: "fork"})
		for what, err := range map[string]error{"resumed": resumed, "left": left, "opened": opened, "recalled": recalled, "forked": forked} {
			if !errors.Is(err, w.want) {
				t.Errorf("%s store, %s: %v, want %v", name, what, err, w.want)
			}
		}
	}
}
