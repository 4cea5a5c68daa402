package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"ambit"
	"ambit/entry"
	"ambit/journal"
)

// readSince are the files that the agent of a session has read since it was told last of live facts: the process that found
// instructions beside them ended before it could tell.
func readSince(ctx context.Context, d *journal.Dir, session, dir string) (files []string, err error) {
	rec, err := ambit.OpenRecording(ctx, d, session)
	if err != nil {
		return nil, err
	}
	for f, err := range d.Read(ctx, session, 0) {
		if err != nil {
			return nil, err
		}
		switch fact := f.Fact.(type) {
		case *entry.Told:
			if fact.Values != nil {
				files = nil
			}
		case *entry.Unit:
			if fact.Of != entry.PartAnswer {
				continue
			}
			said, err := rec.Said(ctx, f.Seq)
			if err != nil {
				continue // what was purged is nobody's to go by
			}
			for _, c := range said.Calls {
				var args struct {
					Path string `json:"path"`
				}
				if c.Name != "read" || json.Unmarshal(c.Args, &args) != nil || args.Path == "" {
					continue
				}
				if !filepath.IsAbs(args.Path) {
					args.Path = filepath.Join(dir, args.Path)
				}
				files = append(files, args.Path)
			}
		}
	}
	return files, nil
}
