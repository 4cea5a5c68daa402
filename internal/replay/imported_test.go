package replay_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ambit"
	"ambit/internal/conversation"
	"ambit/internal/replay"
	"ambit/internal/transcript"
	"ambit/internal/vfs"
	"ambit/journal"

	"github.com/google/go-cmp/cmp"
)

// TestImportedIsAsRead imports recordings into a store: their conversations are the same then, except for their refs.
// covers: J-14 part
func TestImportedIsAsRead(t *testing.T) {
	dir := os.Getenv("AMBIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(dir, "transcripts", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Skipf("no recorded sessions: %v; set AMBIT_SHARED", err)
	}
	compared := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		r, err := transcript.Read(data)
		if err != nil {
			continue
		}
		compared++
		want := replay.OfTranscript(file, r, data).Conversations
		got := imported(t, filepath.Base(file), data)
		slices.SortStableFunc(got, byThread)
		slices.SortStableFunc(want, byThread)
		for _, c := range slices.Concat(want, got) {
			for i := range c.Messages {
				c.Messages[i].Ref = ""
			}
		}
		if !reflect.DeepEqual(got, want) { // which is quick
			t.Errorf("%s: %.2000s", file, cmp.Diff(want, got))
		}
	}
	if compared < 40 {
		t.Errorf("%d recordings were compared", compared)
	}
}

func byThread(a, b *conversation.Conversation) int { return strings.Compare(a.Thread, b.Thread) }

// imported are the conversations of a recording that was imported.
func imported(t *testing.T, name string, data []byte) []*conversation.Conversation {
	t.Helper()
	now := func() time.Time { return time.Date(2026, time.February, 3, 4, 5, 6, 0, time.UTC) }
	store, err := journal.Open("/d", journal.Options{FS: vfs.NewMem(), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	m, err := ambit.NewImporter(t.Context(), store, now)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ambit.ReadTranscript(name, data)
	if err != nil {
		t.Fatal(err)
	}
	done, err := m.Import(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := ambit.OpenRecording(t.Context(), store, done.Session)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Conversations(t.Context())
}
