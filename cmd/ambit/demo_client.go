package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	demoModel = "claude-sonnet-4-6"
	demoKey   = "demo-key-not-secret"
)

// demoClient sends Anthropic Messages requests to one base URL, as an agent's client does.
type demoClient struct {
	base     string
	http     *http.Client
	requests int // sent, refused ones included
	retries  int
}

// demoRequest is a Messages request; without MaxTokens and Stream it is one of count_tokens.
type demoRequest struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens,omitempty"`
	Stream    bool              `json:"stream,omitempty"`
	System    []demoBlock       `json:"system"`
	Tools     []json.RawMessage `json:"tools"`
	Messages  []demoMessage     `json:"messages"`
}

// demoMessage is one message of a conversation.
type demoMessage struct {
	Role    string      `json:"role"`
	Content []demoBlock `json:"content"`
}

// demoBlock is a content block: text, a tool call or a tool result.
type demoBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *demoCache      `json:"cache_control,omitempty"`
}

// demoCache is a cache marker.
type demoCache struct {
	Type string `json:"type"`
}

// marked copies a request and puts its two cache markers: on the last system block, and on the last block of the
// last message, from where it moves on with the next request.
func (r demoRequest) marked() demoRequest {
	r.System = slices.Clone(r.System)
	r.System[len(r.System)-1].Cache = &demoCache{"ephemeral"}
	r.Messages = slices.Clone(r.Messages)
	last := &r.Messages[len(r.Messages)-1]
	last.Content = slices.Clone(last.Content)
	last.Content[len(last.Content)-1].Cache = &demoCache{"ephemeral"}
	return r
}

// send asks for the next turn and returns it with its stop reason. An overloaded server is asked once more.
func (c *demoClient) send(ctx context.Context, r demoRequest) (demoMessage, string, error) {
	r.MaxTokens, r.Stream = 8192, true
	body, err := demoJSON(r.marked())
	if err != nil {
		return demoMessage{}, "", err
	}
	res, err := c.post(ctx, "/v1/messages", body)
	if err != nil {
		return demoMessage{}, "", err
	}
	if res.StatusCode == 529 {
		_, _ = io.Copy(io.Discard, res.Body) // so that the connection can be used again
		res.Body.Close()
		if err := demoWait(ctx, res.Header.Get("retry-after")); err != nil {
			return demoMessage{}, "", err
		}
		c.retries++
		if res, err = c.post(ctx, "/v1/messages", body); err != nil {
			return demoMessage{}, "", err
		}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return demoMessage{}, "", demoRefused(res)
	}
	return readDemoStream(res.Body)
}

// count asks how many tokens a request would be.
func (c *demoClient) count(ctx context.Context, r demoRequest) (int, error) {
	body, err := demoJSON(r.marked())
	if err != nil {
		return 0, err
	}
	res, err := c.post(ctx, "/v1/messages/count_tokens", body)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, demoRefused(res)
	}
	var got struct {
		Input int `json:"input_tokens"`
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		return 0, fmt.Errorf("read the count: %w", err)
	}
	return got.Input, nil
}

func (c *demoClient) post(ctx context.Context, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("x-api-key", demoKey)
	req.Header.Set("user-agent", "ambit-demo/1")
	c.requests++
	return c.http.Do(req)
}

// demoWait waits as long as a retry-after header says, in seconds; without one it does not wait.
func demoWait(ctx context.Context, after string) error {
	seconds, err := strconv.Atoi(after)
	if err != nil || seconds <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(seconds) * time.Second):
		return nil
	}
}

func demoRefused(res *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, 2000))
	return errors.Join(fmt.Errorf("%s: %s", res.Status, text), err)
}

// readDemoStream adds the events of a stream up to a message.
func readDemoStream(r io.Reader) (demoMessage, string, error) {
	s := demoStream{message: demoMessage{Role: "assistant"}}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return s.message, s.stop, fmt.Errorf("read the stream: %w", err)
		}
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			if err := s.add([]byte(data)); err != nil {
				return s.message, s.stop, err
			}
		}
		switch {
		case err == nil:
		case !s.done:
			return s.message, s.stop, errors.New("the stream ended before message_stop")
		default:
			return s.message, s.stop, nil
		}
	}
}

// demoStream is a message of which a part has come.
type demoStream struct {
	message demoMessage
	stop    string
	done    bool
}

// add takes in the data of one event; what it does not know it passes over.
func (s *demoStream) add(data []byte) error {
	var e struct {
		Type  string    `json:"type"`
		Index int       `json:"index"`
		Block demoBlock `json:"content_block"`
		Delta struct {
			Text    string `json:"text"`
			Partial string `json:"partial_json"`
			Stop    string `json:"stop_reason"`
		} `json:"delta"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	switch e.Type {
	case "content_block_start":
		if e.Block.Type == "tool_use" {
			e.Block.Input = nil // it comes in deltas
		}
		s.message.Content = append(s.message.Content, e.Block)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(s.message.Content) {
			return fmt.Errorf("read event: block %d was not started", e.Index)
		}
		b := &s.message.Content[e.Index]
		b.Text += e.Delta.Text
		b.Input = append(b.Input, e.Delta.Partial...)
	case "message_delta":
		s.stop = e.Delta.Stop
	case "message_stop":
		s.done = true
	case "error":
		return fmt.Errorf("the stream broke off: %s", e.Error.Message)
	}
	return nil
}

// demoJSON encodes without the escapes for HTML, as other clients do.
func demoJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
