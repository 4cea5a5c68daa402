package anthropic_test

import (
	"fmt"

	"ambit/provider"
	"ambit/provider/anthropic"
)

func ExampleProtocol() {
	var p provider.Protocol = anthropic.Protocol{}
	req := p.Request("POST", "/v1/messages?beta=true", []byte(`{"model":"claude-opus-5-5","messages":[]}`))
	fmt.Println(req.Type, req.Model, req.Stream)

	answer := `{"type":"message","model":"claude-opus-5-5","usage":{"input_tokens":3,"cache_read_input_tokens":90,"output_tokens":7}}`
	body, err := provider.Decode([]byte(answer), "identity", 1<<20)
	if err != nil {
		fmt.Println(err)
	}
	u := p.Response(req, "application/json", body).Usage
	fmt.Println(u.Input, u.CacheRead, u.CacheWrite, u.Output)
	// Output:
	// messages claude-opus-5-5 false
	// 93 90 0 7
}

func ExampleProtocol_Elements() {
	p := anthropic.Protocol{}
	req := provider.Request{Type: provider.TypeMessages}
	plain, _ := p.Elements(req, []byte(`{"messages":[{"role":"user","content":"hi"}]}`))
	body := `{"messages":[{"role":"user", "content":[{"type":"text","text":"h\u0069","cache_control":{"type":"ephemeral"}}]}]}`
	marked, _ := p.Elements(req, []byte(body))
	fmt.Println(plain.Messages[0].Hash == marked.Messages[0].Hash)

	at := marked.Messages[0]
	m := p.Message(req, []byte(body[at.Offset:at.Offset+at.Length]), at.At)
	fmt.Println(m.Texts[0].Field, m.Texts[0].Said, m.Texts[0].Text)
	// Output:
	// true
	// /messages/0/content/0/text user hi
}
