package anthropic_test

import (
	"fmt"

	"ambit/provider"
	"ambit/provider/anthropic"
)

func ExampleProtocol() {
	var p provider.Protocol = anthropic.Protocol{}
	req := p.Request("POST", "/v1/messages?beta=true", []byte(`{"model":"claude-opus-5-5","messages":[]}`))
	fmt.Printf("%+v\n", req)

	answer := `{"type":"message","model":"claude-opus-5-5","usage":{"input_tokens":3,"cache_read_input_tokens":90,"output_tokens":7}}`
	body, err := provider.Decode([]byte(answer), "identity", 1<<20)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%+v\n", *p.Response(req, "application/json", body).Usage)
	// Output:
	// {Type:messages Model:claude-opus-5-5 Stream:false}
	// {Input:93 CacheRead:90 CacheWrite:0 Output:7}
}
