package provider

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"
)

// realistic is a body of the size and the mix that coding agents send: long tool results with newlines, quotes and
// some text that is not ASCII, short calls, tools with schemas.
func realistic(size int) []byte {
	result := strings.Repeat(`\tif err := s.open(\"file.go\"); err != nil {\n\t\treturn fmt.Errorf(\"open %q: %w\", name, err)\n\t}\n\t// größer — naïve\n`, 20)
	message := `{"role":"assistant","content":[{"type":"text","text":"I will look at it."},{"type":"tool_use","id":"toolu_01A","name":"read_file","input":{"path":"a/b.go","from":1,"to":200}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01A","content":"` + result + `"}]},`
	tool := `{"name":"read_file","description":"Reads a file.\nThe path is relative.","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"The path"},"from":{"type":"integer"},"to":{"type":"integer"}},"required":["path"],"additionalProperties":false}},`
	tools := strings.Repeat(tool, 100)
	messages := strings.Repeat(message, max(1, (size-len(tools))/len(message)))
	return []byte(`{"model":"m","tools":[` + strings.TrimSuffix(tools, ",") + `],"messages":[` + strings.TrimSuffix(messages, ",") + `],"stream":true}`)
}

// BenchmarkReader takes a body of 1 MB apart into canonical elements, and compares that with hashing it as it stands.
func BenchmarkReader(b *testing.B) {
	body := realistic(1 << 20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	var hashed time.Duration
	defer func() { b.ReportMetric(float64(b.Elapsed()-hashed)/float64(hashed), "x-sha256") }()
	for b.Loop() {
		start := time.Now()
		sum := sha256.Sum256(body)
		hashed += time.Since(start)
		if sum == ([32]byte{}) {
			b.Fatal("no hash")
		}
		n := 0
		r := NewReader(body)
		r.Members(func(name string) {
			switch name {
			case "tools":
				r.List("/tools", func(at string) { r.Element(at, Form{}); n++ })
			case "messages":
				r.List("/messages", func(at string) { r.Element(at, Form{Blocks: "content", Text: "text"}); n++ })
			}
		})
		if err := r.End(); err != nil || n < 200 {
			b.Fatal(n, err)
		}
	}
}
