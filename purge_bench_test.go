package ambit_test

import (
	"fmt"
	"testing"
)

// BenchmarkPurgeText purges a message from the beginning of a conversation of 200 requests, the last of some 500 KB.
func BenchmarkPurgeText(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		a := newArchive(b)
		var history []string
		units := a.talk("", []string{user("the first", "")}, "yes")
		for i := range 200 {
			text := ""
			for j := range 200 {
				text += fmt.Sprintf("line %d of %d; ", (i+3)*j*7919%10007, i)
			}
			history = append(history, user(text, ""), assistant("yes"))
			a.talk("", append([]string{user("the first", "")}, history...), "yes")
		}
		b.StartTimer()
		a.gone(units[0])
	}
}
