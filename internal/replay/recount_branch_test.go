package replay

import (
	"testing"
	"time"
)

// TestRecountOfBranches counts a conversation again that went back: what stands in results of the branch that was left, no
// request of the other one holds, so that it is not needed there. What was answered was said, though.
// covers: N-09 part
func TestRecountOfBranches(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	at := time.Date(2026, 2, 9, 18, 0, 0, 0, time.UTC)
	var lines []any
	add := func(kind, id string, parent any, message object) {
		at = at.Add(5 * time.Second)
		lines = append(lines, object{
			"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "made", "timestamp": at.Format(time.RFC3339Nano), "message": message,
		})
	}
	call := func(id, parent string, texts ...string) {
		part := object{"type": "tool_use", "id": "c" + id, "name": "Edit", "input": object{"texts": texts}}
		add("assistant", "a"+id, parent, object{"id": "m" + id, "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{part}})
	}
	result := func(id, text string) {
		part := object{"type": "tool_result", "tool_use_id": "c" + id, "content": text}
		add("user", "r"+id, "a"+id, object{"role": "user", "content": []any{part}})
	}
	add("user", "u0", nil, object{"role": "user", "content": "begin"})
	call("1", "u0", "ls")
	result("1", madeFile(2, 0))
	call("2", "r1", "ls")
	result("2", madeFile(1, 0))
	call("3", "r2", madeLine(1006), madeLine(2001))
	add("user", "u4", "r1", object{"role": "user", "content": "otherwise"})
	call("4", "u4", madeLine(1007), madeLine(2001), madeLine(2002))
	result("4", "y")
	call("5", "r4", madeLine(1008), madeLine(2003))
	agree(t, Options{}, map[string][]byte{"a.jsonl": jsonl(t, lines...)})
}
