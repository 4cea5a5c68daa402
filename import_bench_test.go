package ambit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ambit"
	"ambit/journal"
)

// longRecording is a recording of Claude Code of some megabytes: turns with a call each, whose results are words.
func longRecording(turns int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 5000)
	for i := range words {
		words[i] = fmt.Sprintf("%08x", rng.Uint32())[:3+rng.IntN(5)]
	}
	text := func(n int) string {
		var b bytes.Buffer
		for b.Len() < n {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteByte(" \n"[min(1, rng.IntN(12)/11)])
		}
		return b.String()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	line := func(kind string, message map[string]any) {
		_ = enc.Encode(map[string]any{
			"type": kind, "uuid": fmt.Sprint("u", b.Len()), "sessionId": "long", "version": "2.1.1", "timestamp": "2026-01-02T03:04:05Z", "message": message,
		})
	}
	line("user", map[string]any{"role": "user", "content": "begin"})
	for i := range turns {
		call := fmt.Sprint("toolu_", i)
		line("assistant", map[string]any{
			"id": fmt.Sprint("msg_", i), "role": "assistant", "model": "m", "usage": map[string]int{"input_tokens": 9, "output_tokens": 9},
			"content": []any{map[string]any{"type": "text", "text": text(300)}, map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": map[string]any{"command": text(60)}}},
		})
		line("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": text(3500)}}})
	}
	return b.Bytes()
}

// BenchmarkImport imports a recording into a new session, and in the same run hashes it, and writes it to a file that is
// synced, which is the least that keeping it takes.
func BenchmarkImport(b *testing.B) {
	data := longRecording(2000)
	var imported, kept time.Duration
	var stored int64
	b.SetBytes(int64(len(data)))
	for i := range b.N {
		dir := b.TempDir()
		start := time.Now()
		d, err := journal.Open(dir, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		m, err := ambit.NewImporter(b.Context(), d, time.Now)
		if err != nil {
			b.Fatal(err)
		}
		t, err := ambit.ReadTranscript("long.jsonl", data)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Import(b.Context(), t); err != nil {
			b.Fatal(err)
		}
		imported += time.Since(start)
		d.Close()
		if i == 0 {
			stored = bytesUnder(b, dir)
		}
		start = time.Now()
		sha256.Sum256(data)
		f, err := os.Create(filepath.Join(dir, "plain"))
		if err != nil {
			b.Fatal(err)
		}
		f.Write(data)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		f.Close()
		kept += time.Since(start)
	}
	b.ReportMetric(float64(imported)/float64(kept), "x-plain")
	b.ReportMetric(float64(stored)/float64(len(data)), "stored/recording")
}

// bytesUnder is how many bytes the files in a folder have.
func bytesUnder(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		about, err := d.Info()
		n += about.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
