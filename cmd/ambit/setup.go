package main

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// setup is the answer of ambit setup: what leads a client through Ambit. What is printed for people is made of it.
type setup struct {
	Client    string            `json:"client"`
	Program   string            `json:"program"`
	Provider  string            `json:"provider"`
	Addr      string            `json:"addr"`
	Env       map[string]string `json:"env"`
	Files     []setupFile       `json:"files"`
	Command   string            `json:"command"`
	Upstreams []string          `json:"upstreams"`
	Notes     []string          `json:"notes"`
	MCP       []string          `json:"mcp"` // lines by which the client's model gets the tools of ambit mcp
}

// setupFlags are the settings of ambit setup.
type setupFlags struct {
	addr, provider, tag string
	chosen, tagged      bool // a provider, or a tag, was given
}

// usualAddr is where ambit up listens unless it is told otherwise.
const usualAddr = "127.0.0.1:7788"

func newSetup(e *env) *cobra.Command {
	var f setupFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Print what leads a client through ambit up",
		Long:  setupHelp(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misused("setup: takes one CLIENT, not %d", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, name := range []string{"addr", "provider", "tag"} {
					if c.Flags().Changed(name) {
						return misused("setup: --%s goes with a CLIENT", name)
					}
				}
				return e.listClients(asJSON)
			}
			f.chosen, f.tagged = c.Flags().Changed("provider"), c.Flags().Changed("tag")
			s, err := e.setup(args[0], f)
			if err != nil {
				return err
			}
			e.look(c.Context(), s)
			if asJSON {
				return e.printJSON(s)
			}
			_, err = fmt.Fprint(e.out, s.text())
			return err
		},
	}
	c.Flags().StringVar(&f.addr, "addr", usualAddr, "where ambit up listens, HOST:PORT")
	c.Flags().StringVar(&f.provider, "provider", "", "the provider, for a client that has a choice")
	c.Flags().StringVar(&f.tag, "tag", "", "a name for the session: all that comes by this way goes into one")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// setupHelp explains ambit setup.
func setupHelp() string {
	names := ""
	for _, c := range clientsKnown() {
		names += fmt.Sprintf("  %-10s %-13s %s\n", c.name, c.program, strings.Join(c.providers(), ", "))
	}
	return "Setup prints what leads a client through ambit up: lines for a shell, text for a file of the client's, and the\n" +
		"command that starts it. It changes nothing. Key, model and everything else stay as they are. It knows\n\n" + names + "\n" +
		"with the providers that --provider takes, the usual one first. A server of your own that speaks like one of them\n" +
		"takes its route: ambit up --upstream openai=http://127.0.0.1:11434\n\n" +
		"Where ambit up wants a token, because AMBIT_TOKEN is set or --addr is of another machine, $AMBIT_TOKEN stands for it."
}

// providers are what --provider takes for a client.
func (c knownClient) providers() []string {
	var names []string
	for _, w := range c.ways {
		names = append(names, w.provider)
	}
	return names
}

// setup finds out what leads a client through the Ambit at an address.
func (e *env) setup(name string, f setupFlags) (setup, error) {
	c, err := findClient(name)
	if err != nil {
		return setup{}, err
	}
	w := c.ways[0]
	if f.chosen {
		at := slices.Index(c.providers(), f.provider)
		if at < 0 {
			return setup{}, misused("setup: %s has no provider %q, but %s", c.program, f.provider, strings.Join(c.providers(), ", "))
		}
		w = c.ways[at]
	}
	host, addr, err := reachable(f.addr)
	if err != nil {
		return setup{}, err
	}
	if f.tagged && !isTag(f.tag) {
		return setup{}, misused("a tag is 1 to 64 printable ASCII characters, and not only dots; %q is none", f.tag)
	}
	url := "http://" + addr + "/" + w.provider
	token := !loopback(host) || e.getenv("AMBIT_TOKEN") != ""
	if token {
		url += "/t/" + tokenHere
	}
	if f.tagged {
		url += "/s/" + escapeTag(f.tag)
	}
	s := c.through(w, url)
	s.Addr, s.MCP = addr, c.tools(addr, token)
	if token {
		s.Notes = append(s.Notes, tokenHere+" stands for the token that this Ambit wants, percent-encoded where a URL wants it; in a file write it out.")
	}
	return s, nil
}

// tokenHere stands for the token, which is never printed. A shell puts it in; in a file people do.
const tokenHere = "$AMBIT_TOKEN"

// through says how a client goes one way by the URL of a route.
func (c knownClient) through(w way, url string) setup {
	put := func(text string) string { return strings.ReplaceAll(text, "{url}", url) }
	s := setup{
		Client: c.name, Program: c.program, Provider: w.provider, Env: map[string]string{}, Files: []setupFile{},
		Command: strings.TrimSpace(c.command + " " + w.flags), Upstreams: []string{}, Notes: append(append([]string{}, w.notes...), c.notes...),
	}
	for name, value := range w.env {
		s.Env[name] = put(value)
	}
	for _, f := range w.files {
		f.Content = put(f.Content)
		s.Files = append(s.Files, f)
	}
	if w.upstream != "" {
		s.Upstreams = append(s.Upstreams, w.provider+"="+w.upstream)
	}
	return s
}

// findClient finds a client by its name or another that people use.
func findClient(name string) (knownClient, error) {
	like := &cobra.Command{SuggestionsMinimumDistance: 2} // knows what is near to what was typed, as for commands
	for _, c := range clientsKnown() {
		if c.name == name || slices.Contains(c.aliases, name) {
			return c, nil
		}
		like.AddCommand(&cobra.Command{Use: c.name, Run: func(*cobra.Command, []string) {}})
	}
	if near := like.SuggestionsFor(name); name != "" && len(near) > 0 {
		return knownClient{}, misused("setup: no client %q; perhaps %s", name, near[0])
	}
	return knownClient{}, misused("setup: no client %q", name)
}

// reachable reads an address to which a client can go, and returns its host alone and all of it, as a URL has it.
func reachable(given string) (host, addr string, err error) {
	host, port, err := net.SplitHostPort(given)
	ip, notIP := netip.ParseAddr(host)
	if err != nil || host == "" || ip.Zone() != "" || notIP != nil && strings.Trim(host, plainTag) != "" {
		return "", "", misused("address %q: want HOST:PORT", given)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", misused("address %q: a port is a number from 1 to 65535", given)
	}
	if ip.IsUnspecified() {
		return "", "", misused("address %q: give the name or address by which a client reaches it", given)
	}
	return host, net.JoinHostPort(host, port), nil
}

// isTag reports whether a client can bring a tag to Ambit. Dots alone it would take out of the path.
func isTag(tag string) bool {
	unprintable := func(r rune) bool { return r < 0x20 || r > 0x7e }
	return len(tag) <= 64 && strings.Trim(tag, ".") != "" && !strings.ContainsFunc(tag, unprintable)
}

// escapeTag spells a tag for a URL and a shell.
func escapeTag(tag string) string {
	var b strings.Builder
	for _, c := range []byte(tag) {
		if strings.IndexByte(plainTag, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
