package main

import (
	"encoding/json"
	"net/http/httptest"

	"ambit/provider/scripted"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptModel serves the model that a file writes, a scripted.Script as JSON, and refuses whatever the real ones would.
func scriptModel(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, 2)
	var script scripted.Script
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &script))
	srv := httptest.NewServer(scripted.NewWith(script, scripted.Options{Strict: true}))
	ts.Defer(srv.Close)
	ts.Setenv(args[0], srv.URL)
}
