// Package ambit is a context engine for AI agents: it keeps everything and sends what matters.
//
// Every byte that passes between an agent and a model provider goes into a durable journal, from which it can be
// rebuilt, proven and explained. On that record is chosen, turn by turn and under a budget, what the model
// receives. What there is:
//
//   - An Entry (package entry) is one immutable durable fact of a session. What it says is its Fact: that the session
//     began, that a request arrived, what came back for it, whose it is (a relation), what was new in it (a unit), or
//     that something passed unrecorded (a gap).
//   - A Journal (package journal) is the ordered entries of one session, hash-chained and only ever appended to. With
//     its bodies it is the only truth; everything else is derived from it and can be deleted.
//   - A Body is the exact bytes of a request or a response, kept whether or not they are understood, by difference to
//     what the session already holds, with the SHA-256 of the whole.
//   - A Session is one agent's work as one journal keeps it. It has one writer at a time, in whatever process.
//   - A Protocol (package provider) reads the exchanges of one wire family: what was asked, of which canonical elements,
//     which model answered what, and what it took. It never changes them.
//   - A Thread (internal/thread) is one growing conversation of a session. Every request has one parent, found from
//     evidence, and the tree of parents is the truth.
//   - A Recording (this package) is a session as it was recorded: its exchanges decoded, its public text searched and read.
//   - The Proxy (package server) stands between an agent and its provider, passes the bytes on unchanged, and journals
//     from the copy.
//   - The command (cmd/ambit) runs the proxy with `ambit up` and reads, proves and exports what was recorded.
//
// This package is the place of the Engine and its Session type, the turn loop and its controls: a Go program opens a store
// with journal.Open, makes an engine over it, begins a session, admits inputs and runs it. One that wants what was recorded
// opens that with OpenRecording, or goes on from it with Fork. The tests beside this file hold the rules of the whole module: which package may import which,
// which are pure, which words are used, what must be documented, what must be covered.
//
// Where to look next: CONTEXT.md for every word and what it does not mean, ARCHITECTURE.md for how the packages
// stand to each other, docs/format/journal.md for the bytes on disk, CONTRIBUTING.md for changing any of it.
package ambit
