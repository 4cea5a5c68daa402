package replay

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"ambit/entry"
	"ambit/internal/conversation"
	"ambit/internal/pool"
	"ambit/internal/transcript"
	"ambit/journal"
	"ambit/provider"
)

// File is one recorded session that is replayed.
type File struct {
	Path          string // as the reader named it
	Format        string // of the recording; entry.FormatAmbit for a session of Ambit's own
	Conversations []*conversation.Conversation
	Raw           func(n int) []byte // the decoded body of a request that passed; nil where none did
	Lacks         []string           // what the recording does not tell, for people
}

// OfTranscript makes the conversations of another agent's recording, as it was read from data.
func OfTranscript(path string, r *transcript.Recording, data []byte) File {
	p := fold(r)
	read := conversation.Reader{
		Message: func(u *pool.Unit) (provider.Message, error) {
			raw := data[u.Offset : u.Offset+u.Length]
			if u.Of == entry.PartRecord {
				return transcript.Message(r.Format, u.Unit, raw), nil
			}
			return wire(p.Exchange(u.N)).message(raw, u.At), nil
		},
		Answer: func(n int) (provider.Answer, error) { return answerIn(p.Exchange(n), data), nil },
		Body:   func(n int) ([]conversation.Element, error) { return bodyIn(p.Exchange(n), data), nil },
	}
	f := OfConversations(path, r.Format, conversation.Of(p, read))
	f.Raw = func(n int) []byte {
		if x := p.Exchange(n); x != nil {
			return logged(x.Request.Recorded, data)
		}
		return nil
	}
	return f
}

// fold makes a pool of a recording's facts, as an import does. Entries are numbered as they stand.
func fold(r *transcript.Recording) *pool.Pool {
	p := pool.New()
	for i, f := range r.Facts {
		seq := entry.Seq(i + 1)
		// What the codec makes of a fact does not matter here, and neither do the sums of frames.
		_ = p.Fold(journal.Frame{Entry: entry.Entry{Seq: seq, Fact: f}, Sum: blankSum, Prev: blankSum})
	}
	return p
}

const blankSum = "0000000000000000000000000000000000000000000000000000000000000000"

// OfConversations makes a file of the conversations of a recording, the one with the most turns first.
func OfConversations(path, format string, all []*conversation.Conversation) File {
	f := File{Path: path, Format: format, Conversations: all}
	slices.SortStableFunc(f.Conversations, func(a, b *conversation.Conversation) int { return cmp.Compare(len(b.Turns), len(a.Turns)) })
	f.lacks()
	return f
}

// lacks notes what nobody recorded and a figure would need.
func (f *File) lacks() {
	turns, times, models, usages, missing := 0, 0, 0, 0, 0
	for _, c := range f.Conversations {
		missing += c.Missing
		for i := range c.Turns {
			t := &c.Turns[i]
			turns++
			times += one(!t.At.IsZero())
			models += one(t.Model != "")
			usages += one(t.Usage != nil)
		}
	}
	f.lack(turns, times, "times: gaps between requests are taken as "+noGap.String())
	f.lack(turns, models, "models: the prices of "+f.usual()+" are taken")
	f.lack(turns, usages, "usage: tokens are estimated by default weights, and what the recorded requests cost is simulated")
	if missing > 0 {
		f.Lacks = append(f.Lacks, plural(missing, "message")+" that cannot be read")
	}
}

func (f *File) lack(turns, have int, what string) {
	switch {
	case turns == 0 || have == turns:
	case have == 0:
		f.Lacks = append(f.Lacks, "no "+what)
	case have < turns*9/10:
		f.Lacks = append(f.Lacks, plural(turns-have, "request")+" without "+what)
	}
}

// noGap is between requests of a recording without times.
const noGap = 20 * time.Second

// usual is the model that is taken where a recording names none: one that its program is used with.
func (f *File) usual() string {
	switch f.Format {
	case transcript.GeminiCLI:
		return "gemini-2.5-pro"
	case transcript.Codex, transcript.OpenAI:
		return "gpt-5"
	case transcript.MiniSWE:
		return "deepseek-chat"
	}
	return "claude-sonnet-4-5"
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
