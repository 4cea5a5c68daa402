package ambit

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"ambit/entry"
	"ambit/internal/pool"
	"ambit/internal/reading"
	"ambit/internal/transcript"
	"ambit/journal"
)

// Importer takes other agents' recordings into a store. It keeps what it has found of the sessions there: make one for a
// run of imports. It is not safe for concurrent use.
type Importer struct {
	store    *journal.Dir
	now      func() time.Time
	sessions map[string][]string // by the keys of the recordings that they are of, or have
	learned  bool                // sub-agents' recordings that sessions have are among these
}

// Imported is a session that a recording was imported into.
type Imported struct {
	Session  string
	Format   string
	Entries  int // of the session
	Turns    int // of the recording: requests that were answered
	Already  bool
	Grown    bool // the session had an earlier version of the recording, or of the session whose sub-agent this is
	Warnings []Warning
}

// Warning is something in a recording that could not be read.
type Warning struct {
	Line int    `json:"line"` // from 1
	Text string `json:"text"`
}

// ErrFormat says that a file is no recording of a format that is known.
var ErrFormat = transcript.ErrFormat

// NewImporter looks at the sessions of a store.
func NewImporter(ctx context.Context, store *journal.Dir, now func() time.Time) (*Importer, error) {
	m := &Importer{store: store, now: now, sessions: make(map[string][]string)}
	all, err := store.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		f, err := store.First(ctx, name)
		if first, ok := f.Fact.(*entry.Session); err == nil && ok && IsImport(first) {
			m.know(first.Key, name)
		}
	}
	return m, nil
}

func (m *Importer) know(key, name string) {
	if !slices.Contains(m.sessions[key], name) {
		m.sessions[key] = append(m.sessions[key], name)
	}
}

// learn finds which sub-agents' recordings the sessions have.
func (m *Importer) learn(ctx context.Context) error {
	if m.learned {
		return nil
	}
	m.learned = true
	var all []string
	for _, names := range m.sessions {
		all = append(all, names...)
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		p, err := pool.Load(ctx, m.store, name)
		if p == nil {
			if ctx.Err() != nil {
				return err
			}
			continue // it is damaged, or gone
		}
		for _, r := range p.Recordings {
			m.know(r.Key, name)
		}
	}
	return nil
}

// Awaits reports whether a recording is a sub-agent's, and its parent's was not imported yet. It can be imported all the
// same, and its parent's later.
func (m *Importer) Awaits(ctx context.Context, t *Transcript) (bool, error) {
	if t.Parent == "" {
		return false, nil
	}
	if len(m.sessions[t.parent()]) == 0 {
		if err := m.learn(ctx); err != nil {
			return false, err
		}
	}
	for _, name := range m.sessions[t.parent()] {
		p, err := pool.Load(ctx, m.store, name)
		if p == nil {
			if ctx.Err() != nil {
				return false, err
			}
			continue
		}
		if slices.ContainsFunc(p.Recordings, func(r pool.Recording) bool { return r.Key == t.parent() }) {
			return false, nil
		}
	}
	return true, nil
}

// importKey begins the keys of recordings that were imported.
const importKey = "import:"

// IsImport reports whether a session was made of another agent's recording.
func IsImport(first *entry.Session) bool { return strings.HasPrefix(first.Key, importKey) }

// keyOf is the same for each version of a recording: of its format and the client's own id, or where it has none of its
// bytes.
func keyOf(format, id, sum string) string {
	hash := sha256.Sum256([]byte(format + "\x00" + cmp.Or(id, "\x00"+sum)))
	return importKey + hex.EncodeToString(hash[:16])
}

// Transcript is a recording that was read and can be imported.
type Transcript struct {
	name string
	data []byte
	sum  string
	*transcript.Recording
}

// parent is the key of the recording whose sub-agent this is.
func (t *Transcript) parent() string { return keyOf(t.Format, t.Parent, "") }

// ReadTranscript reads a recording: data are the bytes of a file of this name. The error is ErrFormat when it is none.
// The data must not be changed as long as the transcript is used.
func ReadTranscript(name string, data []byte) (*Transcript, error) {
	r, err := transcript.Read(data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &Transcript{name, data, hex.EncodeToString(sum[:]), r}, nil
}

// Import takes a recording in: into a session of its own, or where an earlier version of it was imported, and this one
// only adds to it, into that one's; a sub-agent's into its parent's, in either order. The recording becomes one body, and the entries
// point into it. What was imported before changes nothing. It returns after everything is durable; after an error
// nothing is there that was not.
func (m *Importer) Import(ctx context.Context, t *Transcript) (Imported, error) {
	done := Imported{Format: t.Format, Turns: t.Turns}
	for _, w := range t.Warnings {
		done.Warnings = append(done.Warnings, Warning{w.Line, w.Text})
	}
	key := keyOf(t.Format, t.ID, t.sum)
	if t.Parent != "" && len(m.sessions[key]) == 0 {
		if err := m.learn(ctx); err != nil {
			return done, err
		}
	}
	candidates := slices.Clone(m.sessions[key])
	if t.Parent != "" {
		candidates = append(candidates, m.sessions[t.parent()]...)
	}
	for _, name := range slices.Backward(candidates) {
		p, err := pool.Load(ctx, m.store, name)
		if errors.Is(err, journal.ErrNoSession) {
			continue
		}
		if err != nil {
			return done, err
		}
		for _, r := range p.Recordings {
			if r.SHA256 == t.sum && p.Purged == nil {
				done.Session, done.Entries, done.Already = name, int(p.Seq), true
				return done, nil
			}
		}
	}
	for _, name := range slices.Backward(candidates) {
		last, err := m.grow(ctx, name, key, t)
		if err == nil && last != 0 {
			m.know(key, name) // so that a sub-agent's own sub-agents are found
			done.Session, done.Entries, done.Grown = name, int(last), true
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
	name, last, err := m.begin(ctx, key, t)
	done.Session, done.Entries = name, int(last)
	return done, err
}

// Purged is the session that had a recording, or an earlier version of it, and was purged; empty where there is none.
func (m *Importer) Purged(ctx context.Context, t *Transcript) (string, error) {
	key := keyOf(t.Format, t.ID, t.sum)
	for _, name := range m.sessions[key] {
		p, err := pool.Load(ctx, m.store, name)
		if err != nil && !errors.Is(err, journal.ErrNoSession) {
			return "", err
		}
		if err == nil && p.Purged != nil && slices.ContainsFunc(p.Recordings, func(r pool.Recording) bool { return r.Key == key }) {
			return name, nil
		}
	}
	return "", nil
}

// begin makes a session of a recording. It has the time of the recording in its name, so that sessions are in the order
// in which they were.
func (m *Importer) begin(ctx context.Context, key string, t *Transcript) (name string, last entry.Seq, err error) {
	at, now := t.Began, m.now()
	if at.IsZero() || at.After(now) || at.Year() < 2000 {
		at = now
	}
	for {
		if name, err = SessionName(at, rand.Reader); err != nil {
			return "", 0, err
		}
		if _, err = m.store.First(ctx, name); errors.Is(err, journal.ErrNoSession) {
			break
		}
		if err != nil {
			return "", 0, err
		}
	}
	client := t.Client
	if client != "" && t.Version != "" {
		client += "/" + t.Version
	}
	first := &entry.Session{ID: name, Client: client, Key: key}
	if t.Parent != "" {
		first.Key = t.parent() // which may come yet
	}
	last, err = m.write(ctx, name, func() ([]entry.Fact, error) {
		r, err := t.renumbered(2, aligned{})
		return append([]entry.Fact{first, t.imported(key, 2)}, r.fresh...), err
	}, t)
	if err != nil {
		return name, 0, errors.Join(err, m.store.Discard(context.WithoutCancel(ctx), name))
	}
	m.know(first.Key, name)
	m.know(key, name)
	return name, last, nil
}

// write appends facts to a session, with the recording's bytes as the body of the second of them, or of the first.
func (m *Importer) write(ctx context.Context, name string, facts func() ([]entry.Fact, error), t *Transcript) (last entry.Seq, err error) {
	unlock, err := m.store.Lock(ctx, name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	list, err := facts()
	if err != nil || len(list) == 0 {
		return 0, err
	}
	body, err := m.store.Put(ctx, name, t.data)
	if err != nil {
		return 0, err
	}
	for _, f := range list[:min(len(list), 2)] {
		if imported, ok := f.(*entry.Imported); ok {
			imported.Body = &body
		}
	}
	return m.store.Append(ctx, name, list...)
}

// imported is the fact that has the recording, as the entry of a number.
func (t *Transcript) imported(key string, at entry.Seq) *entry.Imported {
	f := &entry.Imported{Format: t.Format, Name: t.name, Version: t.Version, Key: key, Lines: t.Lines, SHA256: t.sum}
	if t.Title != nil {
		title := *t.Title
		title.In = at
		f.Title = &title
	}
	return f
}

// grow adds to a session what a recording adds to the earlier version of it that the session has, or to the recording
// whose sub-agent this is, or to those of its sub-agents. It adds nothing, and returns 0, where the recording is another one.
func (m *Importer) grow(ctx context.Context, name, key string, t *Transcript) (entry.Seq, error) {
	last, err := m.write(ctx, name, func() ([]entry.Fact, error) {
		p, err := pool.Load(ctx, m.store, name)
		if err != nil || p.Purged != nil || p.Imported == nil || p.Session.From != nil {
			return nil, err
		}
		old, err := m.old(ctx, name, key, p)
		if err != nil {
			return nil, err
		}
		first := len(old.told) == 0
		if first && p.Session.Key != key && t.Parent == "" {
			return nil, nil
		}
		at := p.Seq + 1
		r, err := t.renumbered(at, old)
		if err != nil || !r.same {
			return nil, err
		}
		if first && t.Parent != "" {
			if err := m.own(ctx, name, p, t, r.fresh); err != nil {
				return nil, err
			}
		}
		owned, err := m.owned(ctx, name, p, t, r.fresh)
		return slices.Concat([]entry.Fact{t.imported(key, at)}, r.fresh, owned), err
	}, t)
	if errors.Is(err, journal.ErrNoSession) {
		return 0, nil
	}
	return last, err
}

// own gives the first request of a sub-agent's recording the call that it works for, as its parent's recording says.
func (m *Importer) own(ctx context.Context, name string, p *pool.Pool, t *Transcript, facts []entry.Fact) error {
	i := slices.IndexFunc(facts, func(f entry.Fact) bool { return f.Kind() == entry.KindRelation })
	if i < 0 {
		return nil
	}
	first := facts[i].(*entry.Relation)
	first.How = entry.Agent
	for _, rec := range slices.Backward(p.Recordings) {
		if rec.Key != t.parent() || rec.Body == nil {
			continue
		}
		data, err := m.store.Body(ctx, name, *rec.Body)
		if err != nil {
			return err
		}
		parent, err := transcript.Read(data)
		if err != nil {
			continue
		}
		if call := parent.Agents[t.Agent]; call != "" {
			first.Call = reading.ID(call)
			for i := range p.Units {
				if slices.Contains(p.Units[i].Calls, first.Call) {
					first.Owner = p.Units[i].N
					break
				}
			}
			return nil
		}
	}
	return nil
}

// owned says of the sub-agents whose recordings a session has for which calls of this one they work, where that was not
// known: they may come first.
func (m *Importer) owned(ctx context.Context, name string, p *pool.Pool, t *Transcript, facts []entry.Fact) (relations []entry.Fact, err error) {
	makers := make(map[string]int) // of calls, by their ids
	for i := range p.Units {
		for _, id := range p.Units[i].Calls {
			makers[id] = p.Units[i].N
		}
	}
	for _, f := range facts {
		if u, ok := f.(*entry.Unit); ok {
			for _, id := range u.Calls {
				makers[id] = u.N
			}
		}
	}
	seen := make(map[string]bool)
	for _, rec := range p.Recordings {
		if seen[rec.Key] || rec.Body == nil || len(t.Agents) == 0 {
			continue
		}
		seen[rec.Key] = true
		i := slices.IndexFunc(p.Exchanges, func(x pool.Exchange) bool {
			return x.Request.Recorded != nil && x.Request.Recorded.In == rec.Seq && x.Relation != nil
		})
		if i < 0 || p.Exchanges[i].Relation.Call != "" {
			continue
		}
		data, err := m.store.Body(ctx, name, *rec.Body)
		if err != nil {
			return nil, err
		}
		agent, err := transcript.Read(data)
		if err != nil || agent.Parent != t.ID || t.Agents[agent.Agent] == "" {
			continue
		}
		f := *p.Exchanges[i].Relation
		f.How, f.Call = entry.Agent, reading.ID(t.Agents[agent.Agent])
		f.Owner = makers[f.Call]
		relations = append(relations, &f)
	}
	return relations, nil
}
