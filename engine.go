package ambit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/selection"
	"ambit/journal"
	"ambit/provider"
	"ambit/source"
)

// Engine runs sessions of Ambit's own in a store: it keeps all that is said and done in them, and sends what the model is to
// see. It is safe for concurrent use.
type Engine struct {
	store *journal.Dir
	o     EngineOptions
}

// EngineOptions are an engine's hands on the world. The zero value is the real one.
type EngineOptions struct {
	Client *http.Client                                     // nil for one that follows no redirects; how long it waits is for Setup.Limits to say
	Now    func() time.Time                                 // nil for the clock; is called at any time, and from several goroutines
	Random io.Reader                                        // for the names of sessions; nil for the system's
	Wait   func(ctx context.Context, d time.Duration) error // until an attempt is repeated; nil for a timer
	Key    []byte                                           // by which refs with a suffix and cursors are known again, in another process, too; nil for one that anybody could have made
}

// NewEngine makes an engine over a store, which the caller closes after the last session.
func NewEngine(store *journal.Dir, o EngineOptions) *Engine {
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if len(o.Key) == 0 {
		o.Key = []byte("ambit without a secret")
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	return &Engine{store, o}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Agent is who works in a session.
type Agent struct {
	Name  string
	Role  string // what every agent of its kind is told first, word for word; empty for nothing
	Tools []Tool
}

// tools identifies what the model is told of the agent's tools: the SHA-256 of it, 64 lower-case hexadecimal digits; empty
// without tools.
func (a *Agent) tools() string {
	if len(a.Tools) == 0 {
		return ""
	}
	h := sha256.New()
	for _, t := range a.Tools {
		fmt.Fprintf(h, "%q %q %q\n", t.Name, t.Description, t.Schema)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Model is what answers, and where.
type Model struct {
	Provider   string // anthropic, openai or gemini: whose prices it has
	Type       string // its wire: provider.TypeMessages, TypeResponses, TypeChat or TypeGenerate
	Name       string
	BaseURL    string            // the wire's own path is put behind it
	Credential string            // is sent, and never kept
	Output     int               // the most tokens of an answer; 0 where the provider decides
	Window     int               // tokens, where the caller knows better than the table of models; 0 where not
	Rest       []provider.Member // what else its requests say
	Transport  Transport         // how they travel; empty for TransportSSE
}

// Setup is what a session works with. Run reads it at the beginning of each turn; Session.Switch replaces it.
type Setup struct {
	Agent  Agent
	Model  Model
	Dir    string // the folder that it works in
	Limits Bounds
	Retry  Retry
	Policy string // what is left out of requests, and how: PolicyRecord, PolicyCut or PolicyFull; empty for the last
	Mode   Mode   // empty for the one that the session has; a change waits until what was accepted before it is done
	Parent string // the session that it works for, as it began; empty for none

	Compose func() (source.Composition, error) // the sources of live facts, asked at each turn; nil for none
	Each    source.Each                        // by which they are read; nil for one after another

	Watch func(Event) // is told what happens while Run runs, in order, and should return soon; while Aside runs, too, at the same time; nil for nobody
}

// check says what of a setup cannot be worked with.
func (s *Setup) check() error {
	switch m := s.Model; {
	case !slices.Contains([]string{provider.TypeMessages, provider.TypeResponses, provider.TypeChat, provider.TypeGenerate}, m.Type):
		return sayf(ErrRefused, "%q is no wire that an agent can talk over: messages, responses, chat and generate are", m.Type)
	case m.Name == "":
		return sayf(ErrRefused, "no model is named")
	case s.Mode != "" && s.Mode != ModeOn && s.Mode != ModeOff:
		return sayf(ErrRefused, "context.mode is on or off; %q is neither", s.Mode)
	case !slices.Contains(transports[:], m.Transport):
		return sayf(ErrRefused, "there is no transport %q: sse, websocket, websocket-cached and auto are", m.Transport)
	case !hasSocket(m.Type) && (m.Transport == TransportWebSocket || m.Transport == TransportCached):
		return sayf(ErrRefused, "the wire %s has no %s: only responses has; sse and auto go over every wire", m.Type, m.Transport)
	}
	if _, known := selection.Named(orElse(s.Policy, PolicyFull)); !known {
		return sayf(ErrRefused, "there is no policy %q: %s, %s and %s are", s.Policy, PolicyRecord, PolicyCut, PolicyFull)
	}
	switch u, err := url.Parse(s.Model.BaseURL); {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return sayf(ErrRefused, "that is no base URL: it begins with http:// or https:// and names a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return sayf(ErrRefused, "the base URL of %s has more than host and path: it is recorded, so a credential is given apart", u.Host)
	}
	names := make(map[string]bool)
	for _, t := range s.Agent.Tools {
		if t.Name == "" || names[t.Name] {
			return sayf(ErrRefused, "two tools are called %q, or one has no name", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

// Client is how a session of Ambit's own says who leads it.
const Client = "ambit"

// Begin makes a session, which is durable when Begin returns. Its title is the first line of the text, which no purge reaches; without
// one it is called by how the first input begins. The caller closes it.
func (e *Engine) Begin(ctx context.Context, title string, setup Setup) (*Session, error) {
	if err := setup.check(); err != nil {
		return nil, err
	}
	id, err := SessionName(e.o.Now(), e.o.Random)
	if err != nil {
		return nil, err
	}
	unlock, err := e.store.Lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("begin session %s: %w", id, err)
	}
	s := e.session(id)
	s.unlock, s.own = unlock, &pool.Own{Idle: true}
	if err := s.stands(ctx, pool.New()); err != nil {
		return nil, errors.Join(err, unlock())
	}
	if err := s.works(ctx, setup, &entry.Session{ID: id, Title: firstLine(strings.TrimSpace(title)), Client: Client}); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return s, nil
}

// Resume takes up a session that Begin made, in this process or another, with what it works with from here on. What a client
// led, or was imported, is refused. A session that somebody else writes is a journal.BusyError.
func (e *Engine) Resume(ctx context.Context, id string, setup Setup) (*Session, error) {
	if err := setup.check(); err != nil {
		return nil, err
	}
	if !e.store.Present(ctx, id) { // a lock would make it
		return nil, fmt.Errorf("resume session %s: %w", id, journal.ErrNoSession)
	}
	unlock, err := e.store.Lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("resume session %s: %w", id, err)
	}
	s, err := e.take(ctx, id)
	if err == nil {
		s.unlock = unlock
		err = s.Switch(ctx, setup)
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return s, nil
}

// Left is what a session that Begin made worked with last, and what its model was told of live facts, nil before the first turn.
func (e *Engine) Left(ctx context.Context, id string) (*entry.Works, source.Snapshot, error) {
	s, err := e.take(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	told, err := s.told(ctx, s.own.Told)
	if errors.Is(err, journal.ErrPurged) {
		err = nil
	}
	return &s.own.Works, told, err
}

// take reads a session as it was left.
func (e *Engine) take(ctx context.Context, id string) (*Session, error) {
	p, err := pool.Load(ctx, e.store, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("resume session %s: %w", id, err)
	case p.Imported != nil:
		return nil, sayf(ErrEvidence, "session %s was recorded elsewhere: fork it to go on from it", id)
	case p.Purged != nil:
		return nil, fmt.Errorf("resume session %s: %w", id, journal.ErrPurged)
	case p.Own == nil:
		return nil, sayf(ErrRefused, "session %s is led by %s, not by Ambit", id, orElse(p.Session.Client, "another program"))
	}
	s := e.session(id)
	s.own, s.n = p.Own, p.Last()
	if err := errors.Join(s.reread(ctx, p), s.stands(ctx, p)); err != nil {
		return nil, fmt.Errorf("resume session %s: %w", id, err)
	}
	return s, nil
}

func (e *Engine) session(id string) *Session {
	return &Session{engine: e, id: id, asking: make(chan struct{}, 1), where: make(map[provider.Hash]entry.Seq), purged: make(map[provider.Hash]bool)}
}
