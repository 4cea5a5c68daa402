package ambit_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ambit"
	"ambit/entry"
	"ambit/provider"
	"ambit/provider/scripted"
	"ambit/source"
	"ambit/unit"
	"ambit/view"
)

// board is a live fact that a test changes.
type board struct {
	key, value string // an empty value is absent
	blocked    bool   // it cannot be read
	read       func() // called at each reading, if any
	volatile   bool
}

func (b *board) source() source.Source {
	return source.Of(source.Spec[string]{
		Key: b.key, Volatile: b.volatile,
		Load: func(context.Context) (string, error) {
			if b.read != nil {
				b.read()
			}
			switch {
			case b.blocked:
				return "", errors.New("the disk is asleep")
			case b.value == "":
				return "", source.ErrAbsent
			}
			return b.value, nil
		},
		Baseline: func(v string) string { return b.key + " is " + v },
		Update:   func(_, v string) string { return b.key + " is now " + v },
		Removal:  func(string) string { return b.key + " is no more" },
	})
}

// talker answers everything with a text.
func talker(n int) *scripted.Provider {
	turns := make([]scripted.Turn, n)
	for i := range turns {
		turns[i].Text = "Yes."
	}
	return scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: turns}}}, scripted.Options{Strict: true})
}

// newBoards is a desk of an agent that is told of live facts.
func newBoards(t *testing.T, boards ...*board) *desk {
	d := newDesk(t, provider.TypeMessages, talker(20))
	d.setup.Model.Name = "claude-opus-5-5"
	d.setup.Compose = func() (source.Composition, error) {
		list := make([]source.Source, len(boards))
		for i, b := range boards {
			list[i] = b.source()
		}
		return source.Compose(list...)
	}
	return d
}

// shown is what a request of the Messages API shows: its system, and of each message the role with what it says.
func (d *desk) shown(i int) (system string, messages []string) {
	d.t.Helper()
	body := d.asked[i].body
	p := ambit.Family("anthropic", "", "")
	v, _, err := p.(interface {
		Lift([]byte) (view.View, provider.LowerParams, error)
	}).Lift(body)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range v.Segments {
		text := ""
		for _, part := range s.Unit.Parts {
			text += part.Text
		}
		if s.Unit.Role == unit.System && s.Layer != "working" {
			system += text + "\n"
		} else {
			messages = append(messages, string(s.Unit.Role)+": "+text)
		}
	}
	return system, messages
}

// run works until nothing is left to do, and fails the test where that fails.
func (d *desk) run(s *ambit.Session, texts ...string) {
	d.t.Helper()
	d.say(s, texts...)
	if _, err := s.Run(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// The model is told of live facts once, in front of the conversation, and of what changes in one message behind what was said;
// what cannot be read changes nothing, what is gone is said to be, and what comes later joins. The baseline stays word
// for word, over a restart, too.
//
// covers: S-03
// covers: S-04
// covers: S-05
// covers: S-06
// covers: S-07 part
// covers: S-09
// covers: S-10
func TestLiveFacts(t *testing.T) {
	a, b, c := &board{key: "test/a", value: "1"}, &board{key: "test/b", value: "2"}, &board{key: "test/c"}
	d := newBoards(t, a, b, c)
	s := d.begin()
	d.run(s, "One.")
	a.value, b.value = "3", "4"
	d.run(s, "Two.")
	a.blocked = true
	d.run(s, "Three.")
	a.blocked, a.value, c.value = false, "", "5"
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
	if err != nil {
		t.Fatal(err)
	}
	d.run(s, "Four.")
	d.run(s, "Five.")
	const system = "You write code.\ntest/a is 1\n\ntest/b is 2\n"
	two := []string{"user: One.", "assistant: Yes.", "user: Two.", "system: test/a is now 3\n\ntest/b is now 4", "assistant: Yes."}
	four := slices.Concat(two, []string{"user: Three.", "assistant: Yes.", "user: Four.", "system: test/c is 5\n\ntest/a is no more"})
	for i, want := range [][]string{two[:1], two[:4], append(slices.Clone(two), "user: Three."), four, append(slices.Clone(four), "assistant: Yes.", "user: Five.")} {
		got, messages := d.shown(i)
		if got != system {
			t.Errorf("request %d has the system %q", i+1, got)
		}
		if !slices.Equal(messages, want) {
			t.Errorf("request %d shows %q, want %q", i+1, messages, want)
		}
	}
	d.check(s.ID(), provider.TypeMessages)
}

// A fact that cannot be read keeps the first turn from beginning: nobody is asked, the input waits, and runs once when it can be.
//
// covers: S-12 part
func TestBlockedAtFirst(t *testing.T) {
	a := &board{key: "test/a", value: "1", blocked: true}
	d := newBoards(t, a)
	s := d.begin("One.")
	_, err := s.Run(t.Context())
	if blocked, is := errors.AsType[*ambit.BlockedError](err); !is || !strings.Contains(err.Error(), "test/a: the disk is asleep") {
		t.Fatalf("%v, %v", blocked, err)
	}
	if len(d.asked) > 0 || slices.Contains(d.kinds(s.ID()), "promoted") {
		t.Errorf("%d requests were sent; entries %v", len(d.asked), d.kinds(s.ID()))
	}
	a.blocked = false
	d.run(s)
	if _, messages := d.shown(0); !slices.Equal(messages, []string{"user: One."}) {
		t.Errorf("the first request shows %q", messages)
	}
	d.run(s)
	if len(d.asked) != 1 {
		t.Errorf("%d requests were sent", len(d.asked))
	}
}

// Another model opens a fresh baseline, in which what was told since is told, and leaves the conversation as it is; while a fact
// cannot be read the old baseline stays in force.
//
// covers: S-11 part
// covers: S-18 part
//
func TestAnotherModel(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	a.value = "2"
	d.run(s, "Two.")
	d.setup.Model.Name, a.blocked = "claude-opus-5", true
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Three.")
	a.blocked = false
	d.run(s, "Four.")
	old, messages := d.shown(2)
	if !strings.Contains(old, "test/a is 1") || !slices.Contains(messages, "system: test/a is now 2") {
		t.Errorf("blocked: %q, %q", old, messages)
	}
	fresh, messages := d.shown(3)
	want := []string{"user: One.", "assistant: Yes.", "user: Two.", "assistant: Yes.", "user: Three.", "assistant: Yes.", "user: Four."}
	if !strings.Contains(fresh, "test/a is 2") || !slices.Equal(messages, want) {
		t.Errorf("afterwards: %q, %q", fresh, messages)
	}
	if !strings.Contains(string(d.asked[3].body), `"model":"claude-opus-5"`) {
		t.Errorf("the model is not named: %s", d.asked[3].body)
	}
	var kept []string // what left the view stays in the journal
	for _, f := range d.facts(s.ID()) {
		if f, is := f.(*entry.Told); is && !f.Baseline && f.Text != nil {
			text, err := d.store.Body(t.Context(), s.ID(), *f.Text)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, string(text))
		}
	}
	if !slices.Equal(kept, []string{"test/a is now 2"}) {
		t.Errorf("the journal keeps %q", kept)
	}
}

// An agent is switched while its facts are read: the request is the new one's, with its own baseline, and the input is promoted
// once. Where the new one's facts cannot be read nobody is asked, because the old one's baseline is not for it.
//
// covers: S-11 part
func TestAnotherAgent(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin("One.")
	other := d.setup
	other.Agent.Name, other.Agent.Role = "reviewer", "You review."
	other.Compose = func() (source.Composition, error) {
		return source.Compose((&board{key: "test/a", value: "the reviewer's"}).source())
	}
	times := 0
	a.read = func() {
		if times++; times == 1 {
			a.read = nil
			if err := s.Switch(t.Context(), other); err != nil {
				t.Error(err)
			}
		}
	}
	d.run(s)
	system, messages := d.shown(0)
	if len(d.asked) != 1 || !strings.Contains(system, "You review.") || strings.Contains(system, "You write") || !strings.Contains(system, "test/a is the reviewer's") || !slices.Equal(messages, []string{"user: One."}) {
		t.Errorf("%d requests: %q, %q", len(d.asked), system, messages)
	}
	a.blocked = true
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.say(s, "Two.")
	_, err := s.Run(t.Context())
	if blocked, is := errors.AsType[*ambit.BlockedError](err); !is || blocked.Agent != "coder" || len(d.asked) != 1 {
		t.Errorf("%v, %d requests", err, len(d.asked))
	}
	a.blocked = false
	d.run(s)
	if system, messages = d.shown(1); !strings.Contains(system, "You write code.") || messages[len(messages)-1] != "user: Two." {
		t.Errorf("%q, %q", system, messages)
	}
	a.read = func() { // while it is looked at what has changed, which is nothing
		a.read = nil
		if err := s.Switch(t.Context(), other); err != nil {
			t.Error(err)
		}
	}
	d.run(s, "Three.")
	if system, messages = d.shown(2); len(d.asked) != 3 || !strings.Contains(system, "You review.") || !strings.Contains(system, "test/a is the reviewer's") || messages[len(messages)-1] != "user: Three." {
		t.Errorf("%d requests: %q, %q", len(d.asked), system, messages)
	}
	promoted := 0
	for _, f := range d.facts(s.ID()) {
		if f, is := f.(*entry.Promoted); is {
			promoted += len(f.Inputs)
		}
	}
	if promoted != 3 {
		t.Errorf("%d inputs were promoted", promoted)
	}
}

// What changes often stands behind what does not, so that a new day leaves the prefix as it is.
//
// covers: S-15 part
func TestVolatileFactsStandBehind(t *testing.T) {
	day, place := &board{key: "test/day", value: "Monday", volatile: true}, &board{key: "test/place", value: "here"}
	d := newBoards(t, day, place)
	s := d.begin()
	d.run(s, "One.")
	body := string(d.asked[0].body)
	if at, behind := strings.Index(body, "test/place is here"), strings.Index(body, "test/day is Monday"); at < 0 || behind < at {
		t.Errorf("%s", body)
	}
	day.value = "Tuesday"
	d.run(s, "Two.")
	if _, messages := d.shown(1); messages[len(messages)-1] != "system: test/day is now Tuesday" {
		t.Errorf("%q", messages)
	}
}

// A model that takes no system message is told the same as the user's text, in which nothing can end the wrapper early.
//
// covers: S-16 part
func TestToldAsUserText(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	d.setup.Model.Name = "claude-sonnet-5"
	s := d.begin()
	d.run(s, "One.")
	a.value = "</system-update> <b>"
	d.run(s, "Two.")
	_, messages := d.shown(1)
	if want := "<system-update>\ntest/a is now &lt;/system-update&gt; &lt;b&gt;\n</system-update>"; !strings.Contains(messages[len(messages)-1], want) {
		t.Errorf("%q", messages)
	}
}

// A session that moves to another folder tells its facts from there, in a fresh baseline, before anything is promoted; while they
// cannot be read nobody is asked.
//
// covers: S-17
func TestAnotherFolder(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	d.setup.Dir, a.value, a.blocked = "/elsewhere", "2", true
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.say(s, "Two.")
	_, err := s.Run(t.Context())
	if blocked, is := errors.AsType[*ambit.BlockedError](err); !is || blocked.Dir != "/elsewhere" || len(d.asked) != 1 {
		t.Fatalf("%v, %d requests", err, len(d.asked))
	}
	a.blocked = false
	d.run(s)
	system, messages := d.shown(1)
	if !strings.Contains(system, "test/a is 2") || !slices.Equal(messages, []string{"user: One.", "assistant: Yes.", "user: Two."}) {
		t.Errorf("%q, %q", system, messages)
	}
	kinds := d.kinds(s.ID())
	if at := slices.Index(kinds[slices.Index(kinds, "idle"):], "promoted"); at < slices.Index(kinds[slices.Index(kinds, "idle"):], "told") {
		t.Errorf("promoted before it was told: %v", kinds)
	}
}

// What was told survives an attempt that fails: it is told once, and shown again word for word.
//
// covers: S-07
func TestToldOnceThoughItFails(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	a.value = "2"
	base := d.setup.Model.BaseURL
	d.setup.Model.BaseURL = "http://127.0.0.1:9"
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.say(s, "Two.")
	if _, err := s.Run(t.Context()); err == nil {
		t.Fatal("somebody answered")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d.setup.Model.BaseURL = base
	s, err := d.anew().Resume(t.Context(), s.ID(), d.setup)
	if err != nil {
		t.Fatal(err)
	}
	d.run(s)
	if _, messages := d.shown(1); !slices.Equal(messages, []string{"user: One.", "assistant: Yes.", "user: Two.", "system: test/a is now 2"}) {
		t.Errorf("%q", messages)
	}
	told := 0
	for _, k := range d.kinds(s.ID()) {
		told += strings.Count(k, "told")
	}
	if told != 2 {
		t.Errorf("it was told %d times", told)
	}
}

// With context.mode off no source is read, nothing is told to be gone, and no baseline is opened: the conversation goes on as it is.
//
// covers: R-08 part
func TestModeOff(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	d := newBoards(t, a)
	s := d.begin()
	d.run(s, "One.")
	a.value, a.read = "2", func() { t.Error("a source was read") }
	d.setup.Mode, d.setup.Model.Name = ambit.ModeOff, "claude-opus-5"
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Two.")
	system, messages := d.shown(1)
	if !strings.Contains(system, "test/a is 1") || !slices.Equal(messages, []string{"user: One.", "assistant: Yes.", "user: Two."}) {
		t.Errorf("%q, %q", system, messages)
	}
	a.read, d.setup.Mode = nil, ambit.ModeOn
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Three.")
	if system, _ = d.shown(2); !strings.Contains(system, "test/a is 2") {
		t.Errorf("on again: %q", system)
	}
}

// A plug-in's source is told of when it is registered, and gone when it is not, once each.
//
// covers: S-19 part
func TestRegisteredWhileItRuns(t *testing.T) {
	a, plug := &board{key: "test/a", value: "1"}, &board{key: "plug/x", value: "9"}
	d := newBoards(t, a)
	var registry source.Registry
	d.setup.Compose = func() (source.Composition, error) { return registry.Compose(a.source()) }
	s := d.begin()
	d.run(s, "One.")
	unregister, err := registry.Register(plug.source())
	if err != nil {
		t.Fatal(err)
	}
	d.run(s, "Two.")
	d.run(s, "Three.")
	unregister()
	d.run(s, "Four.")
	d.run(s, "Five.")
	_, messages := d.shown(4)
	var told []string
	for _, m := range messages {
		if strings.HasPrefix(m, "system: ") {
			told = append(told, m)
		}
	}
	if !slices.Equal(told, []string{"system: plug/x is 9", "system: plug/x is no more"}) {
		t.Errorf("%q", messages)
	}
}

// An agent that is told another role, or has other tools, begins a baseline: within one the system and the tools stay.
//
// covers: S-04
// covers: X-09 part
func TestAnotherRole(t *testing.T) {
	for name, change := range map[string]func(*ambit.Setup){
		"role":  func(s *ambit.Setup) { s.Agent.Role = "You write good code." },
		"tools": func(s *ambit.Setup) { s.Agent.Tools = s.Agent.Tools[:1] },
	} {
		a := &board{key: "test/a", value: "1"}
		d := newBoards(t, a)
		s := d.begin()
		d.run(s, "One.")
		a.value = "2"
		change(&d.setup)
		if err := s.Switch(t.Context(), d.setup); err != nil {
			t.Fatal(err)
		}
		d.run(s, "Two.")
		if system, messages := d.shown(1); !strings.Contains(system, "test/a is 2") || messages[len(messages)-1] != "user: Two." {
			t.Errorf("%s: %q, %q", name, system, messages)
		}
		a.blocked, d.setup.Agent.Role = true, "You write the best code."
		if err := s.Switch(t.Context(), d.setup); err != nil {
			t.Fatal(err)
		}
		d.say(s, "Three.")
		if _, err := s.Run(t.Context()); err == nil || len(d.asked) != 2 {
			t.Errorf("%s: the old baseline stood under another role: %v", name, err)
		}
	}
}

// After the text of an entry was purged, of any kind that the conversation is made of, the session is taken up and goes on: what was
// purged is said to be, an answer goes with its calls and their results, and live facts are told anew.
//
// covers: J-13 part
func TestPurgedOfAnOwnSession(t *testing.T) {
	for _, kind := range []entry.Kind{entry.KindInput, entry.KindTold, entry.KindResult, entry.KindResponse, entry.KindRequest} {
		a := &board{key: "test/a", value: "SECRET fact"}
		d := newDesk(t, provider.TypeMessages, scripted.NewWith(scripted.Script{Conversations: []scripted.Conversation{{Turns: []scripted.Turn{
			{Text: "SECRET answer.", Calls: []scripted.Call{scriptedCall("read", "SECRET")}}, {Text: "Done."}, {Text: "Really."}, {Text: "Really."},
		}}}}, scripted.Options{}))
		d.setup.Model.Rest = nil
		d.setup.Compose = func() (source.Composition, error) { return source.Compose(a.source()) }
		s := d.begin("SECRET task.")
		d.run(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var of entry.Seq
		for i, f := range d.facts(s.ID()) {
			if f.Kind() == kind && of == 0 {
				of = entry.Seq(i + 1)
			}
		}
		r, err := ambit.OpenRecording(t.Context(), d.store, s.ID())
		if err != nil {
			t.Fatal(err)
		}
		unlock, err := d.store.Lock(t.Context(), s.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.PurgeText(t.Context(), key, of.Ref()); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		a.value = "plain fact"
		s, err = d.anew().Resume(t.Context(), s.ID(), d.setup)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		d.say(s, "Go on.")
		if out, err := s.Run(t.Context()); err != nil || out.Turns != 1 {
			t.Fatalf("%s: %+v, %v", kind, out, err)
		}
		system, messages := d.shown(len(d.asked) - 1)
		all := system + strings.Join(messages, "|")
		if !strings.HasSuffix(all, "Go on.") && !strings.Contains(all, "is now plain fact") || kind == entry.KindInput && !strings.Contains(all, "was purged") ||
			kind == entry.KindResponse && strings.Contains(all, "text of ") || kind == entry.KindTold && !strings.Contains(system, "plain fact") {
			t.Errorf("%s: %s", kind, all)
		}
	}
}

// Another base URL is recorded, because its provider has another cache, and opens no baseline; another credential leaves no trace, and is
// what the next request is sent with.
//
// covers: S-11 part
func TestAnotherAddress(t *testing.T) {
	a := &board{key: "test/a", value: "1"}
	model := talker(9)
	var with []string
	d := newDesk(t, provider.TypeMessages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		with = append(with, r.Host+" "+r.Header.Get("x-api-key"))
		model.ServeHTTP(w, r)
	}))
	d.setup.Model.Name = "claude-opus-5-5"
	d.setup.Compose = func() (source.Composition, error) { return source.Compose(a.source()) }
	s := d.begin()
	d.run(s, "One.")
	before := len(d.facts(s.ID()))
	d.setup.Model.Credential = "another secret"
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	if got := d.kinds(s.ID()); len(got) != before {
		t.Errorf("another credential is recorded: %v", got[before:])
	}
	d.run(s, "Two.")
	before = len(d.facts(s.ID()))
	d.setup.Model.BaseURL = strings.Replace(d.setup.Model.BaseURL, "127.0.0.1", "localhost", 1)
	if err := s.Switch(t.Context(), d.setup); err != nil {
		t.Fatal(err)
	}
	d.run(s, "Three.")
	if got := d.kinds(s.ID())[before:]; got[0] != "works" || slices.Contains(got, "told") {
		t.Errorf("another base URL is recorded as %v", got)
	}
	if len(with) != 3 || !strings.HasSuffix(with[0], " secret") || with[0] == with[1] || !strings.HasPrefix(with[2], "localhost:") || !strings.HasSuffix(with[2], " another secret") {
		t.Errorf("asked at %v", with)
	}
	d.check(s.ID(), provider.TypeMessages)
}
