package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"ambit"
	"ambit/entry"
	"ambit/internal/index"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pinning is what the tool pin takes.
type pinning struct {
	Text  string `json:"text,omitempty" jsonschema:"the text to keep, exactly; up to 16384 bytes"`
	Ref   string `json:"ref,omitempty" jsonschema:"or the entry that says it, such as e412.k7q3abcd"`
	Field string `json:"field,omitempty" jsonschema:"of that entry only this field"`
}

// unpinning is what the tool unpin takes.
type unpinning struct {
	Pin string `json:"pin" jsonschema:"the pin to take off, such as p1"`
}

// finding is what the tool record_finding takes.
type finding struct {
	Text string   `json:"text" jsonschema:"what was found out; up to 16384 bytes"`
	Refs []string `json:"refs,omitempty" jsonschema:"the entries that it rests on, such as e412.k7q3abcd"`
}

// nothing is what the tool context takes.
type nothing struct{}

// add adds the tools to a server.
func (b *toolbox) add(s *mcp.Server) {
	looks := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	adds := &mcp.ToolAnnotations{DestructiveHint: new(bool), IdempotentHint: true, OpenWorldHint: new(bool)}
	mcp.AddTool(s, &mcp.Tool{
		Name: "search", Annotations: looks, Description: ambit.SearchAbout, InputSchema: json.RawMessage(ambit.SearchSchema),
	}, b.search)
	mcp.AddTool(s, &mcp.Tool{
		Name: "read", Annotations: looks, Description: ambit.ReadAbout, InputSchema: json.RawMessage(ambit.ReadSchema),
	}, b.read)
	mcp.AddTool(s, &mcp.Tool{
		Name: "pin", Annotations: adds,
		Description: "Keep a text, or what an entry says, in every later request of this session that Ambit edits. For constraints that must not be lost; pins are few and cost tokens in each request.",
	}, b.pin)
	mcp.AddTool(s, &mcp.Tool{
		Name: "unpin", Annotations: adds,
		Description: "Take off a pin that an agent made. A person's pins only a person takes off.",
	}, b.unpin)
	mcp.AddTool(s, &mcp.Tool{
		Name: "record_finding", Annotations: adds,
		Description: "Record something that was found out, with the entries that it rests on. It stays marked as unverified.",
	}, b.record)
	mcp.AddTool(s, &mcp.Tool{
		Name: "context", Annotations: looks,
		Description: "How full the model's window is, what takes the room, and which pins and findings there are.",
	}, b.context)
}

func (b *toolbox) search(ctx context.Context, _ *mcp.CallToolRequest, in ambit.SearchArgs) (*mcp.CallToolResult, any, error) {
	session, how, err := b.meant(ctx, "", in.Cursor)
	if err != nil {
		return nil, nil, err
	}
	rec, err := b.open(ctx, session)
	if err != nil {
		return nil, nil, err
	}
	q := in.Query()
	if b.session == "" && q.Limits.OutputBytes == 0 {
		q.Limits.OutputBytes = index.MaxOutputBytes - index.MaxResults*maxSuffix
	}
	a := rec.Search(ctx, b.o.Key, q)
	if b.session == "" {
		for i := range a.Results {
			a.Results[i].Ref = rec.Handle(b.o.Key, entry.ParseRef(a.Results[i].Ref))
		}
	}
	return labelled(session, how, a), nil, ctx.Err()
}

// maxSuffix is how much longer a ref becomes by its suffix, in bytes.
const maxSuffix = 16

func (b *toolbox) read(ctx context.Context, _ *mcp.CallToolRequest, in ambit.ReadArgs) (*mcp.CallToolResult, any, error) {
	session, how, err := b.meant(ctx, in.Ref, in.Cursor)
	if errors.Is(err, errUnauthorized) {
		return labelled("", "", index.Refusal(index.NotAuthorized, index.NotInCapture)), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	rec, err := b.open(ctx, session)
	if err != nil {
		return nil, nil, err
	}
	return labelled(session, how, rec.Read(ctx, b.o.Key, in.Reading())), nil, ctx.Err()
}

// labelled is an answer with what it is in front of it.
func labelled(session, how string, a ambit.Recalled) *mcp.CallToolResult {
	label, answer, failed := ambit.Labelled(session, how, a)
	r := texts(label, answer)
	r.IsError = failed
	return r
}

// plain is a value as the command prints it, without the line end.
func plain(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func texts(all ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	for _, text := range all {
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	return r
}

func (b *toolbox) pin(ctx context.Context, _ *mcp.CallToolRequest, in pinning) (*mcp.CallToolResult, any, error) {
	switch {
	case in.Text != "" && in.Ref != "":
		return nil, nil, errors.New("text and ref are two pins: give the text alone, or the ref alone, and call pin again for the other")
	case in.Text == "" && in.Ref == "":
		return nil, nil, errors.New("give a text, or the ref of the entry that says it, such as e412.k7q3abcd")
	case in.Field != "" && in.Ref == "":
		return nil, nil, errors.New("field goes with a ref: leave it out to pin the text")
	}
	return b.act(ctx, ActPin, in.Ref, Ask{Text: in.Text, Ref: in.Ref, Field: in.Field})
}

func (b *toolbox) unpin(ctx context.Context, _ *mcp.CallToolRequest, in unpinning) (*mcp.CallToolResult, any, error) {
	return b.act(ctx, ActUnpin, "", Ask{Pin: in.Pin})
}

func (b *toolbox) record(ctx context.Context, _ *mcp.CallToolRequest, in finding) (*mcp.CallToolResult, any, error) {
	ref := ""
	if len(in.Refs) > 0 {
		ref = in.Refs[0]
	}
	return b.act(ctx, ActNote, ref, Ask{Text: in.Text, Refs: in.Refs})
}

// act does what an agent asks of the session that is meant.
func (b *toolbox) act(ctx context.Context, act, ref string, a Ask) (*mcp.CallToolResult, any, error) {
	session, how, err := b.meant(ctx, ref, "")
	if err != nil {
		return nil, nil, err
	}
	a.By = ambit.ByAgent
	b.acting.Lock()
	defer b.acting.Unlock()
	done, err := b.o.Act(ctx, session, act, a)
	switch {
	case errors.Is(err, ambit.ErrNoRef):
		return nil, nil, fmt.Errorf("%w: %w; give a ref as search or a marker shows it, such as e412.k7q3abcd", errUnauthorized, err)
	case errors.Is(err, ambit.ErrForbidden):
		return nil, nil, fmt.Errorf("%w: %w", errUnauthorized, err)
	case errors.Is(err, ambit.ErrNoPin):
		return nil, nil, fmt.Errorf("%w; the tool context lists them", err)
	case err != nil:
		return nil, nil, err
	}
	return texts("Done in session "+session+how+".", plain(done)), nil, nil
}
