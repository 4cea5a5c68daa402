package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clientRow is one client in the list of ambit setup.
type clientRow struct {
	Client    string   `json:"client"`
	Program   string   `json:"program"`
	Providers []string `json:"providers"`
}

// listClients prints the clients that are known.
func (e *env) listClients(asJSON bool) error {
	var rows []clientRow
	for _, c := range clientsKnown() {
		rows = append(rows, clientRow{c.name, c.program, c.providers()})
	}
	if asJSON {
		return e.printJSON(map[string][]clientRow{"clients": rows})
	}
	t := e.table("CLIENT", "PROGRAM", "PROVIDERS")
	for _, r := range rows {
		t.row(r.Client, r.Program, strings.Join(r.Providers, ", "))
	}
	t.flush()
	return nil
}

// text is a setup for people to paste.
func (s setup) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, for %s, through Ambit at %s.\n", s.Program, s.Provider, s.Addr)
	for _, u := range s.Upstreams {
		fmt.Fprintf(&b, "# Ambit has this route when it is started with --upstream %s\n", u)
	}
	for _, f := range s.Files {
		fmt.Fprintf(&b, "\n# %s; if there is one, do not replace it, but %s:\n%s", f.Path, f.Merge, f.Content)
	}
	b.WriteString("\n# In a shell:\n")
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, shellValue(s.Env[name]))
	}
	b.WriteString(s.Command + "\n")
	if len(s.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range s.Notes {
		b.WriteString("# " + n + "\n")
	}
	b.WriteString("\n# For its model to recall what was shortened or left out, over MCP:\n")
	for _, line := range s.MCP {
		b.WriteString("#   " + line + "\n")
	}
	return b.String()
}

// shellValue is a value for a POSIX shell, which puts in the token.
func shellValue(value string) string {
	parts := strings.Split(value, tokenHere)
	for i := range parts {
		parts[i] = shellQuote(parts[i])
	}
	return strings.Join(parts, `"`+tokenHere+`"`)
}
