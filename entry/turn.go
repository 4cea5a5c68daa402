package entry

// Input is something said to an agent of Ambit's own, durable before it is acknowledged. It becomes a part of the
// conversation with the Promoted entry that names it.
type Input struct {
	ID       string   `json:"id"` // the sender's own; the same again is the same input
	Delivery Delivery `json:"delivery"`
	By       string   `json:"by"` // user, or parent for what an agent tells its sub-agent
	Body     *Body    `json:"body,omitempty"`
}

// Delivery is when an input is taken up.
type Delivery string

// The deliveries.
const (
	Steer Delivery = "steer" // with the next request of the activity that runs
	Queue Delivery = "queue" // in an activity of its own
)

// Promoted says that inputs are said from here on, in this order.
type Promoted struct {
	Activity int   `json:"activity"` // that they belong to, from 1
	Inputs   []Seq `json:"inputs"`   // their entries
}

// Works says what a session of Ambit's own works with from here on: all of it, not what has changed.
type Works struct {
	Agent    string `json:"agent"`                  // its name
	Role     *Body  `json:"role_text,omitempty"`    // the text that every agent of its kind begins with
	Tools    string `json:"tools_sha256,omitempty"` // of what it is told of its tools, 64 lower-case hexadecimal digits
	Parent   string `json:"works_for,omitempty"`    // the session that it works for
	Provider string `json:"provider"`               // whose prices and route they are: anthropic, openai or gemini
	Type     string `json:"type"`                   // the wire, as requests name it: messages, responses, chat or generate
	Model    string `json:"model"`
	BaseURL  string `json:"base_url,omitempty"`  // where the model is asked
	Output   int    `json:"output,omitempty"`    // the most tokens of an answer; 0 where the provider decides
	Window   int    `json:"window,omitempty"`    // the model's, in tokens, as whoever leads the session says; 0 where they do not
	Travels  string `json:"transport,omitempty"` // how requests travel: sse, websocket, websocket-cached or auto; empty for sse
	Policy   string `json:"policy,omitempty"`    // what is left out of requests: record, cut or full
	Dir      string `json:"dir,omitempty"`       // the folder that it works in
	Plain    bool   `json:"mode_off,omitempty"`  // context.mode is off
}

// Told is what a model is told about live facts: a baseline, which stands in front of the conversation, or a message in it.
// The text and the values that later ones are compared with are one fact.
type Told struct {
	Baseline bool      `json:"baseline,omitempty"` // in front, until the next; else here, as a message of the system
	Text     *Body     `json:"text,omitempty"`
	Volatile *Body     `json:"volatile,omitempty"` // of a baseline: what changes often, and so stands behind the text
	Values   *Body     `json:"values,omitempty"`   // a source.Snapshot; nil where nothing is told and only Missing has changed
	Missing  []Missing `json:"missing,omitempty"`  // sources that could not be read
	Why      string    `json:"why,omitempty"`      // of a baseline: what it was opened for
}

// Missing is a source that could not be read.
type Missing struct {
	Key string `json:"source"`
	Why string `json:"why"`
}

// Call says that a tool is about to be run. A call whose result is missing when a session is taken up again was
// interrupted, and is not run again.
type Call struct {
	N    int    `json:"n"` // of the exchange whose answer asks for it
	ID   string `json:"call_id"`
	Name string `json:"tool"`
}

// Result is what a tool gave back.
type Result struct {
	N      int     `json:"n"`
	ID     string  `json:"call_id"`
	Failed bool    `json:"failed,omitempty"`
	Ended  Settled `json:"settled"`
	TookMS int64   `json:"took_ms"`
	Body   *Body   `json:"body,omitempty"` // its text
}

// Settled is how a call came to its result.
type Settled string

// The ways in which calls are settled.
const (
	SettledRun         Settled = "run"         // the tool ran
	SettledDenied      Settled = "denied"      // it was not allowed to
	SettledInterrupted Settled = "interrupted" // it was begun, and nobody knows how far it came
	SettledUnsaid      Settled = "not-run"     // it never began
)

// Idle says how an activity ended.
type Idle struct {
	Activity int    `json:"activity"`
	Turns    int    `json:"turns"`
	Ended    Ending `json:"ended"`
	Why      string `json:"why,omitempty"` // one sentence for people, where it did not simply end
}

// Aside says that the request of the same number asks a question beside the conversation: neither it nor its answer is a part
// of that.
type Aside struct {
	N      int    `json:"n"`
	ID     string `json:"id"` // the asker's own; the same again is the same question, asked again where nobody answered
	Thread string `json:"thread"`
	Body   *Body  `json:"body,omitempty"` // the question
}

// Ending is how an activity ended.
type Ending string

// The endings.
const (
	EndingDone     Ending = "done"  // the agent has nothing left to do
	EndingLimit    Ending = "limit" // of turns, time, output or money
	EndingCanceled Ending = "canceled"
	EndingFailed   Ending = "failed" // the provider, a source or the disk
)

// Kind returns KindInput.
func (*Input) Kind() Kind { return KindInput }

// Kind returns KindPromoted.
func (*Promoted) Kind() Kind { return KindPromoted }

// Kind returns KindWorks.
func (*Works) Kind() Kind { return KindWorks }

// Kind returns KindTold.
func (*Told) Kind() Kind { return KindTold }

// Kind returns KindCall.
func (*Call) Kind() Kind { return KindCall }

// Kind returns KindResult.
func (*Result) Kind() Kind { return KindResult }

// Kind returns KindIdle.
func (*Idle) Kind() Kind { return KindIdle }

// Kind returns KindAside.
func (*Aside) Kind() Kind { return KindAside }

func (*Aside) sealed()    {}
func (*Input) sealed()    {}
func (*Promoted) sealed() {}
func (*Works) sealed()    {}
func (*Told) sealed()     {}
func (*Call) sealed()     {}
func (*Result) sealed()   {}
func (*Idle) sealed()     {}
