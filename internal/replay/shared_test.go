package replay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ambit/internal/transcript"
)

// sharedDir is a folder of the recordings that stand beside the repository. Without them the test is skipped.
func sharedDir(t *testing.T, folder string) string {
	t.Helper()
	root := os.Getenv("AMBIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(root, "transcripts", folder)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no recordings: neither AMBIT_SHARED nor ../shared is there")
	}
	return dir
}

// sharedFiles reads the recordings of folders; those that are none are passed over.
func sharedFiles(t *testing.T, folders ...string) []File {
	t.Helper()
	var files []File
	for _, folder := range folders {
		dir := sharedDir(t, folder)
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range list {
			data, err := os.ReadFile(filepath.Join(dir, at.Name()))
			if err != nil {
				continue // a folder
			}
			if r, err := transcript.Read(data); err == nil {
				files = append(files, OfTranscript(filepath.Join(folder, at.Name()), r, data))
			}
		}
	}
	return files
}
