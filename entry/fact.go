package entry

import (
	"encoding/json"
	"time"
)

// Kind is the name of a Fact's type in the journal.
type Kind string

// The kinds that this version writes. A reader keeps what it does not know as an Unknown.
const (
	KindSession  Kind = "session"
	KindRequest  Kind = "request"
	KindResponse Kind = "response"
	KindRelation Kind = "relation"
	KindUnit     Kind = "unit"
	KindGap      Kind = "gap"
	KindImported Kind = "imported"
	KindPurged   Kind = "purged"
	KindDecision Kind = "decision"
	KindEdit     Kind = "edit"
	KindSent     Kind = "sent"
	KindPin      Kind = "pin"
	KindNote     Kind = "note"

	// Of sessions of Ambit's own.
	KindInput    Kind = "input"
	KindPromoted Kind = "promoted"
	KindWorks    Kind = "works"
	KindTold     Kind = "told"
	KindCall     Kind = "call"
	KindResult   Kind = "result"
	KindIdle     Kind = "idle"
	KindAside    Kind = "aside"
)

// Fact is what an entry says: a *Session, *Request, *Response, *Relation, *Unit, *Gap, *Imported, *Purged, *Decision,
// *Edit, *Sent, *Pin, *Note, *Input, *Promoted, *Works, *Told, *Call, *Result, *Idle, *Aside or *Unknown. The set is sealed, so a switch over these is complete.
type Fact interface {
	Kind() Kind
	sealed()
}

// Session is the first entry of every session: whose it is.
type Session struct {
	ID     string `json:"id"`               // Ambit's own name for the session
	Title  string `json:"title,omitempty"`  // for people
	Client string `json:"client,omitempty"` // the program that talks, as it names itself, such as codex/0.171.0
	Key    string `json:"key,omitempty"`    // what its requests are recognised by; never a credential
	From   *Fork  `json:"from,omitempty"`   // where it goes on from; nil when it begins by itself
}

// Fork is the place in another session from which a session goes on: its entries up to Seq are the fork's, too.
type Fork struct {
	Session string `json:"session"`
	Seq     Seq    `json:"seq"`
	Sum     string `json:"sum"` // of the frame of that entry, 64 lower-case hexadecimal digits

	Imported bool `json:"imported,omitempty"` // the other session was, so that what both share stays evidence
}

// Request is one request as it arrived. A recorded request without a body has a nil Body.
type Request struct {
	N        int               `json:"n"`        // its number in the session, from 1, in order of arrival
	Provider string            `json:"provider"` // the route it took: anthropic, openai or gemini
	Type     string            `json:"type"`     // what it asks for, such as messages or count_tokens; empty when not understood
	Method   string            `json:"method"`
	Path     string            `json:"path"`              // path and query behind the provider's name, credentials left out
	Headers  map[string]string `json:"headers,omitempty"` // those that say who sent it and how to read the body; names in lower case
	Model    string            `json:"model,omitempty"`
	Effort   string            `json:"effort,omitempty"`   // how hard the model is to think, in an imported recording's own word
	Arrived  time.Time         `json:"arrived"`            // when its first byte did
	Partial  bool              `json:"partial,omitempty"`  // Body ends early: the client left, or was answered before it had sent all
	Recorded *Place            `json:"recorded,omitempty"` // where an imported recording has it; nil for one that passed
	Body     *Body             `json:"body,omitempty"`
}

// Place is where something stands in a recording that was imported.
type Place struct {
	In     Seq   `json:"in"`             // of the Imported entry that has the recording
	Line   int   `json:"line,omitempty"` // of the recording, from 1
	Offset int64 `json:"offset"`         // in the recording, in bytes
	Length int64 `json:"length"`         // in bytes; 0 when the recording only tells that it was
}

// End is how a response ended.
type End string

// The ways in which a response ends.
const (
	EndComplete End = "complete"     // the provider sent all of it
	EndDropped  End = "dropped"      // the provider's connection broke before the end
	EndCanceled End = "client-gone"  // the client left before the end
	EndNone     End = "no-response"  // no response came; Error says why
	EndUnkept   End = "not-recorded" // it passed, but its body was not kept; Error says why
)

// Response is what came back for the request of the same number.
type Response struct {
	N           int               `json:"n"`
	Status      int               `json:"status,omitempty"` // HTTP status; 0 when no response came
	Headers     map[string]string `json:"headers,omitempty"`
	Model       string            `json:"model,omitempty"` // as the provider names it
	Usage       *Usage            `json:"usage,omitempty"` // nil when the provider gave none
	End         End               `json:"end"`
	Error       string            `json:"error,omitempty"`
	FirstByteMS int64             `json:"first_byte_ms"`      // from the request's arrival to the response's header
	DurationMS  int64             `json:"duration_ms"`        // from the request's arrival to the response's end
	AskedMS     int64             `json:"asked_ms,omitempty"` // of a recording: from the request's arrival until all that it holds was said
	Recorded    *Place            `json:"recorded,omitempty"`
	Body        *Body             `json:"body,omitempty"`
}

// Relation says where the request of the same number belongs: which thread, which earlier request it follows, and how.
type Relation struct {
	N        int      `json:"n"`
	Thread   string   `json:"thread,omitempty"` // t1 and on, in the order in which threads begin; empty for what is in none
	Parent   int      `json:"parent,omitempty"` // number of the request that it follows; 0 for the first of a thread
	How      Relating `json:"relation"`
	Evidence string   `json:"evidence,omitempty"` // what it was found by
	Owner    int      `json:"owner,omitempty"`    // of a sub-agent's first: number of the request whose answer called for it
	Call     string   `json:"call,omitempty"`     // and the id of that call
	Alias    string   `json:"alias,omitempty"`    // of a sub-agent's first: what requests are recognised by that name it as their parent
	About    int      `json:"about,omitempty"`    // of a side request: number of the newest request whose answer it quotes
	Key      string   `json:"key,omitempty"`      // what narrowed the search; never a client's own id
	Messages int      `json:"messages"`           // how many it holds, those included that the provider keeps for it
	Chain    string   `json:"chain,omitempty"`    // identifies these messages, 32 lower-case hexadecimal digits
	Tools    bool     `json:"tools,omitempty"`    // it offers tools
}

// Relating is how a request stands to the one that it follows, or what it is when it follows none.
type Relating string

// The ways in which requests relate. Only a rewind leaves text behind.
const (
	Extends          Relating = "extends"           // it adds to what was said and answered
	Again            Relating = "again"             // the same after a failed attempt, or another tail to the same calls
	ClientEdit       Relating = "client-edit"       // earlier messages stand, some of them changed by the client
	ClientCompaction Relating = "client-compaction" // the client put something shorter in the place of most messages
	Rewind           Relating = "rewind"            // it goes back to where a branch, which had grown, was shorter
	Root             Relating = "root"              // the first of a conversation
	Agent            Relating = "agent"             // the first of a sub-agent's
	Side             Relating = "side"              // by itself, without tools; a conversation once something extends it
	Count            Relating = "count"             // it only asks how long a request would be
)

// Unit is one message, or one answer, where it first passed. Its text stands in the body of exchange N; the unit says
// where. What a client sends again is no unit again.
type Unit struct {
	N       int      `json:"n"`
	Of      Part     `json:"of"`
	Thread  string   `json:"thread,omitempty"`
	Role    string   `json:"role,omitempty"`    // as the wire names it
	At      string   `json:"at,omitempty"`      // JSON pointer into the decoded request body; empty for an answer
	Offset  int64    `json:"offset,omitempty"`  // where it stands in the decoded body, in bytes; 0 for an answer
	Length  int64    `json:"length"`            // in bytes; of an answer, its public text
	Element string   `json:"element,omitempty"` // SHA-256 of its canonical form, 64 lower-case hexadecimal digits
	Calls   []string `json:"calls,omitempty"`   // ids of the calls that it makes
	Results []string `json:"results,omitempty"` // ids of the calls whose results it holds
	Name    string   `json:"name,omitempty"`    // of an answer: the id by which later requests may follow it
	Whole   bool     `json:"whole,omitempty"`   // of an answer: it came to its end
	Unknown bool     `json:"unknown,omitempty"` // it holds something of a kind that is not known
	In      Seq      `json:"in,omitempty"`      // of the Imported entry in whose recording it stands; Offset and Length are then in that
	Line    int      `json:"line,omitempty"`    // of the recording, from 1
}

// Answers reports whether the unit is of what came back, not of what was asked.
func (u *Unit) Answers() bool {
	return u.Of == PartAnswer || u.Of == PartResponse || u.Of == PartRecord && u.Role == "assistant"
}

// Part is what of an exchange a unit is.
type Part string

// The parts of an exchange.
const (
	PartMessage  Part = "message"  // an element of the request's messages
	PartAnswer   Part = "answer"   // the decoded answer
	PartRequest  Part = "request"  // the request's body as it stands: it is not understood
	PartResponse Part = "response" // the response's body as it stands: it is not understood
	PartMore     Part = "more"     // no text: ids that the unit before it has no room for
	PartRecord   Part = "record"   // a message as an imported recording has it
	PartPruned   Part = "pruned"   // no text: from this request on the client left out the results of these calls
	PartResumed  Part = "resumed"  // no text: the client was started anew before this request
)

// Silent reports whether such a unit has no text of its own.
func (p Part) Silent() bool { return p == PartMore || p == PartPruned || p == PartResumed }

// Gap says that traffic passed and was not recorded.
type Gap struct {
	Exchanges int       `json:"exchanges"`     // requests or responses that are missing
	Bytes     int64     `json:"missing_bytes"` // of their bodies
	Cause     string    `json:"cause"`
	Since     time.Time `json:"since"`
}

// Imported says that a session was recorded elsewhere. What it holds is evidence: nothing in it has authority here, and
// nothing of it may be played again.
//
// Of another agent's recording it is the entry that has it, verbatim, and the entries behind it point into that; a
// recording that has grown is imported again, into the same session. Of a session that Ambit exported it is the last
// entry, and all before it are the session's own.
type Imported struct {
	Format  string `json:"format"`            // how the recording is spelled, such as claude-code; FormatAmbit for an export
	Name    string `json:"name,omitempty"`    // of the file, without its folder
	Version string `json:"version,omitempty"` // of the program that wrote it, as it says itself
	Key     string `json:"key,omitempty"`     // the same for each version of one recording; never a client's own id
	Lines   int    `json:"lines"`
	Title   *Place `json:"title_at,omitempty"` // what people may call the session: a JSON string or text in the recording
	SHA256  string `json:"sha256"`             // of the file's bytes, 64 lower-case hexadecimal digits
	Body    *Body  `json:"body,omitempty"`     // the recording; nil for an export
}

// FormatAmbit is the format of what ambit export writes.
const FormatAmbit = "ambit"

// Purged says that the bytes of all bodies before it were overwritten, for good, or the text of one entry. Hashes stay.
type Purged struct {
	Bodies int   `json:"bodies"`            // that cannot be rebuilt any more
	Bytes  int64 `json:"purged_bytes"`      // of these bodies, together; of one entry: of the literal text that was overwritten
	Of     Seq   `json:"text_of,omitempty"` // the entry; 0 when it was the session
	Runs   []Run `json:"runs,omitempty"`    // of one entry: what was overwritten of the session's literal text, in ascending order
}

// Run is some of a session's literal text.
type Run struct {
	At     uint64 `json:"at"`    // literal address
	Length uint64 `json:"bytes"` // more than 0
}

// Unknown is a fact of a kind that this version does not know, kept as it stands.
type Unknown struct {
	Name Kind
	Raw  json.RawMessage // the whole entry object
}

// Kind returns KindSession.
func (*Session) Kind() Kind { return KindSession }

// Kind returns KindRequest.
func (*Request) Kind() Kind { return KindRequest }

// Kind returns KindResponse.
func (*Response) Kind() Kind { return KindResponse }

// Kind returns KindRelation.
func (*Relation) Kind() Kind { return KindRelation }

// Kind returns KindUnit.
func (*Unit) Kind() Kind { return KindUnit }

// Kind returns KindGap.
func (*Gap) Kind() Kind { return KindGap }

// Kind returns KindImported.
func (*Imported) Kind() Kind { return KindImported }

// Kind returns KindPurged.
func (*Purged) Kind() Kind { return KindPurged }

// Kind returns the kind that the journal names.
func (u *Unknown) Kind() Kind { return u.Name }

func (*Session) sealed()  {}
func (*Request) sealed()  {}
func (*Response) sealed() {}
func (*Relation) sealed() {}
func (*Unit) sealed()     {}
func (*Gap) sealed()      {}
func (*Imported) sealed() {}
func (*Purged) sealed()   {}
func (*Unknown) sealed()  {}

// Bodies returns the bodies that a fact relies on.
func Bodies(f Fact) []Body {
	var all []*Body
	switch f := f.(type) {
	case *Request:
		all = []*Body{f.Body}
	case *Response:
		all = []*Body{f.Body}
	case *Imported:
		all = []*Body{f.Body}
	case *Decision:
		all = []*Body{f.Checkpoint}
	case *Edit:
		all = []*Body{f.Body}
	case *Sent:
		all = []*Body{f.Body, f.Refused}
	case *Pin:
		all = []*Body{f.Body}
	case *Note:
		all = []*Body{f.Body}
	case *Input:
		all = []*Body{f.Body}
	case *Works:
		all = []*Body{f.Role}
	case *Told:
		all = []*Body{f.Text, f.Volatile, f.Values}
	case *Result:
		all = []*Body{f.Body}
	case *Aside:
		all = []*Body{f.Body}
	}
	var bodies []Body
	for _, b := range all {
		if b != nil {
			bodies = append(bodies, *b)
		}
	}
	return bodies
}
