package ambit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/pressure"
	"ambit/internal/selection"
	"ambit/journal"
	"ambit/provider"
)

// Session is one agent's work. Run has one caller at a time; everything else may be called while it runs.
type Session struct {
	engine *Engine
	id     string
	unlock func() error

	running sync.Mutex    // held by Run
	asking  chan struct{} // holds one while Aside asks

	mu      sync.Mutex // guards what follows
	setup   Setup
	fence   int // raised by each switch
	own     *pool.Own
	n       int      // number of the newest request
	main    int      // and of the newest of the conversation
	sent    past     // what that held
	said    []spoken // the conversation
	heard   int      // how many of own's steps it is made of
	turning *turning // nil where no change of mode waits
	line    line     // over which requests travel
	broken  error    // why nothing can be appended any more

	thread *pressure.Thread // by what requests are edited, and what they cost
	pins   []selection.Pin
	where  map[provider.Hash]entry.Seq // the entries that have messages
	answer entry.Seq                   // that of the newest answer
	purged map[provider.Hash]bool      // messages whose entries were purged
}

// ID is the session's name.
func (s *Session) ID() string { return s.id }

// Close lets the session go, so that others may take it up, and closes its connection. Run must have returned.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		if p, err := pool.Load(context.Background(), s.engine.store, s.id); err == nil {
			_ = pool.Store(s.engine.store, s.id, p) // who takes it up reads less; without it, all of the journal
		}
	}
	s.broken = errors.Join(s.broken, errClosed)
	if s.line.socket != nil {
		s.line.socket.close()
		s.line.socket = nil
	}
	return s.unlock()
}

var errClosed = errors.New("the session is closed")

// append adds facts to the journal, all or none, and to what is known of the session.
func (s *Session) append(ctx context.Context, facts ...entry.Fact) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.add(ctx, facts...)
	return err
}

// add is append for who holds mu. It returns the number of the first entry.
func (s *Session) add(ctx context.Context, facts ...entry.Fact) (entry.Seq, error) {
	if s.broken != nil {
		return 0, s.broken
	}
	last, err := s.engine.store.Append(context.WithoutCancel(ctx), s.id, facts...)
	if errors.Is(err, journal.ErrTooLarge) {
		return 0, fmt.Errorf("session %s takes no such entry: %w", s.id, err)
	}
	if err != nil {
		s.broken = fmt.Errorf("session %s cannot be written: %w", s.id, err)
		return 0, s.broken
	}
	first := last - entry.Seq(len(facts)) + 1
	for i, f := range facts {
		s.own.Take(f, first+entry.Seq(i))
		if u, is := f.(*entry.Unit); is {
			s.know(u, first+entry.Seq(i))
		}
	}
	return first, nil
}

// put stores a text; nil for none.
func (s *Session) put(ctx context.Context, text string) (*entry.Body, error) {
	if text == "" || s.broken != nil {
		return nil, s.broken
	}
	b, err := s.engine.store.Put(context.WithoutCancel(ctx), s.id, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("session %s cannot be written: %w", s.id, err)
	}
	return &b, nil
}

// text reads what put stored.
func (s *Session) text(ctx context.Context, b *entry.Body) (string, error) {
	if b == nil {
		return "", nil
	}
	data, err := s.engine.store.Body(context.WithoutCancel(ctx), s.id, *b) // what is begun comes to its end
	return string(data), err
}

// Switch replaces what the session works with, from the next turn on. Another agent, model or folder opens a new baseline; the
// conversation goes on. Another base URL opens none, since what is told stays true, and is recorded all the same: who answers
// there has a cache of its own, which holds nothing of the session yet. Another credential is not recorded. A turn that is being made ready begins again with the new setup; one whose request is on its way
// comes to its end.
func (s *Session) Switch(ctx context.Context, setup Setup) error {
	if err := setup.check(); err != nil {
		return err
	}
	return s.works(ctx, setup)
}

// works records what the session works with from here on, behind other facts, if it is anything else than before.
func (s *Session) works(ctx context.Context, setup Setup, facts ...entry.Fact) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	role, err := s.put(ctx, setup.Agent.Role)
	if err != nil {
		return err
	}
	setup.Parent = orElse(s.own.Works.Parent, setup.Parent) // whoever began it, owns it
	next := entry.Works{
		Agent: setup.Agent.Name, Role: role, Parent: setup.Parent, Provider: setup.Model.Provider, Type: setup.Model.Type,
		Model: setup.Model.Name, Output: setup.Model.Output, Dir: setup.Dir, Plain: s.mode(setup.Mode), Tools: setup.Agent.tools(),
		BaseURL: setup.Model.BaseURL, Window: setup.Model.Window, Travels: string(setup.Model.Transport),
		Policy: orElse(setup.Policy, PolicyFull),
	}
	if setup.Model.Transport == TransportSSE {
		next.Travels = ""
	}
	if len(facts) > 0 || !sameWorks(s.own.Works, next) {
		if _, err := s.add(ctx, append(facts, &next)...); err != nil {
			return err
		}
		s.fence++
	}
	s.setup = setup
	return nil
}

// stale says why the next turn opens a new baseline; empty when it does not. The caller holds mu.
func (s *Session) stale() string {
	switch {
	case s.own.Baseline == nil:
		return "the session begins"
	case s.own.Works.Plain:
		return ""
	}
	why := switched(s.own.For, s.own.Works)
	if why == "" && s.own.Compacted != 0 {
		why = compacted
	}
	return why
}

// compacted is why a baseline is opened where a checkpoint begins to stand for what was said: it says what was told since.
const compacted = "the conversation is compacted"

// sameWorks compares two, whose roles may be stored in two places.
func sameWorks(a, b entry.Works) bool {
	same := sameBody(a.Role, b.Role)
	a.Role, b.Role = nil, nil
	return same && a == b
}

func sameBody(a, b *entry.Body) bool {
	return (a == nil) == (b == nil) && (a == nil || a.SHA256 == b.SHA256)
}

// switched says for what a new baseline is opened.
func switched(was, is entry.Works) string {
	switch {
	case was.Dir != is.Dir:
		return "the session works in another folder"
	case was.Agent != is.Agent:
		return "another agent works in it"
	case !sameBody(was.Role, is.Role) || was.Tools != is.Tools:
		return "its agent has another role, or other tools"
	case was.Provider != is.Provider || was.Type != is.Type || was.Model != is.Model:
		return "another model answers"
	}
	return ""
}

// Input is something that is said to a session.
type Input struct {
	ID       string         // the sender's own, by which the same input is known again; empty for a new one each time
	Delivery entry.Delivery // entry.Steer or entry.Queue; empty for queue
	Text     string
	By       string // ByUser or ByParent; empty for the user
}

// ByParent is what an agent says to one that works for it.
const ByParent = "parent"

// MaxInput is the longest input, in bytes.
const MaxInput = 4 << 20

// maxInputID is the longest id of an input, in bytes.
const maxInputID = 256

// Receipt says that an input is durable.
type Receipt struct {
	ID  string
	Seq entry.Seq // its entry
}

// ErrConflict says that an id already names something else.
var ErrConflict = errors.New("the id is taken")

// Admit makes an input durable and returns after that. It is said at the next boundary: one that steers with the next request
// of the activity that runs, one that is queued in an activity of its own. The same input once more gives the same
// receipt; another one of the same id is ErrConflict.
func (s *Session) Admit(ctx context.Context, in Input) (Receipt, error) {
	if err := writable("an input", in.Text, MaxInput); err != nil {
		return Receipt{}, err
	}
	if len(in.ID) > maxInputID || !utf8.ValidString(in.ID) {
		return Receipt{}, sayf(ErrRefused, "the id of an input is UTF-8 of at most %d bytes", maxInputID)
	}
	if in.Delivery == "" {
		in.Delivery = entry.Queue
	}
	if in.By == "" {
		in.By = ByUser
	}
	if in.Delivery != entry.Steer && in.Delivery != entry.Queue {
		return Receipt{}, sayf(ErrRefused, "an input steers or is queued; %q is neither", in.Delivery)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.own.Inputs) + 1; in.ID == ""; n++ {
		if id := fmt.Sprintf("input-%d", n); s.input(id) == nil {
			in.ID = id
		}
	}
	body, err := s.put(ctx, in.Text)
	if err != nil {
		return Receipt{}, err
	}
	if old := s.input(in.ID); old != nil {
		if old.Body.SHA256 != body.SHA256 || old.Delivery != in.Delivery || old.By != in.By {
			return Receipt{}, sayf(ErrConflict, "session %s has another input %q, as %s", s.id, in.ID, old.Seq.Ref())
		}
		return Receipt{old.ID, old.Seq}, nil
	}
	seq, err := s.add(ctx, &entry.Input{ID: in.ID, Delivery: in.Delivery, By: in.By, Body: body})
	return Receipt{in.ID, seq}, err
}

// input is the one of an id; nil when there is none.
func (s *Session) input(id string) *pool.Input {
	i := slices.IndexFunc(s.own.Inputs, func(old pool.Input) bool { return old.ID == id })
	if i < 0 {
		return nil
	}
	return &s.own.Inputs[i]
}

// promote says what waits: what steers, and at the beginning of an activity the oldest input that is queued, unless it goes on with
// one that never came to its end. It reports whether something was said that nobody has answered; not behind when the session was switched
// since the fence, and then it does nothing.
func (s *Session) promote(ctx context.Context, begins bool, fence int) (more, behind bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence != fence {
		return false, false, nil
	}
	open, activity := s.open(), s.own.Activity
	queued := begins && (!open || s.own.Idle)
	var inputs []entry.Seq
	for _, in := range s.own.Waiting() {
		if in.Delivery == entry.Steer || queued {
			inputs = append(inputs, in.Seq)
			queued = queued && in.Delivery == entry.Steer
		}
	}
	if begins {
		activity++
	}
	if len(inputs) == 0 && !(begins && open) {
		return open, true, nil
	}
	if _, err := s.add(ctx, &entry.Promoted{Activity: activity, Inputs: inputs}); err != nil {
		return false, true, err
	}
	return true, true, s.hear(ctx, nil)
}
