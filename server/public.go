package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ambit"
	"ambit/provider"
)

// Only these headers are recorded: they say who talks, in which session, and how a body is to be read. None carries a
// credential.
var (
	requestHeaders = []string{
		"accept", "anthropic-beta", "anthropic-version", "content-encoding", "content-type", "openai-beta", "originator",
		"session-id", "thread-id", "user-agent", "x-app", "x-claude-code-agent-id", "x-claude-code-session-id",
		"x-client-request-id", "x-codex-parent-thread-id", "x-codex-window-id", "x-initiator", "x-interaction-type",
		"x-openai-subagent", "x-parent-session-id", "x-session-affinity", "x-session-id",
	}
	responseHeaders = []string{
		"content-encoding", "content-type", "openai-processing-ms", "request-id", "retry-after", "retry-after-ms",
		"x-request-id", "x-should-retry",
	}
	// sessionHeaders name the client's session, the parent's before its own.
	sessionHeaders = []string{"x-claude-code-session-id", "x-parent-session-id", "x-session-id", "session-id"}
	// credentialHeaders are told apart by their HMAC and kept nowhere.
	credentialHeaders = []string{"authorization", "x-api-key", "x-goog-api-key", "api-key"}
	// plainQueries are the members of a query whose values are recorded. Whatever else stands there may be a credential,
	// or a part of one.
	plainQueries = []string{
		"after", "after_id", "alt", "api-version", "api_version", "before", "before_id", "beta", "include", "include[]", "limit",
		"model", "order", "page", "pagesize", "page_size", "prettyprint", "purpose", "stream", "version",
	}
)

// maxValue is the longest header value that is recorded, in bytes; longer ones are left out.
const maxValue = 1024

// public picks the headers that are recorded.
func public(h http.Header, names []string) map[string]string {
	picked := make(map[string]string)
	for _, name := range names {
		v := strings.Join(h.Values(name), ", ")
		if v != "" && len(v) <= maxValue {
			picked[name] = strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	return picked
}

// maxPath is the longest path that is recorded whole, in bytes; of a longer one the beginning is.
const maxPath = 16 << 10

// publicPath is what the client asked for, with all values taken out of the query that may be credentials.
func publicPath(to route) string {
	path := to.rest
	if to.asks {
		members := strings.Split(to.query, "&")
		for i, member := range members {
			members[i] = publicMember(member)
		}
		path += "?" + strings.Join(members, "&")
	}
	if len(path) > maxPath {
		path = path[:maxPath]
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

var (
	// plainName is the name of a member of a query that is hardly a credential by itself: words, and not long.
	plainName = regexp.MustCompile(`^(%20)?[A-Za-z][A-Za-z._-]{0,23}(\[\])?$`)
	// plainValue is the value of a plain member, and shorter than keys are.
	plainValue = regexp.MustCompile(`^[A-Za-z0-9._,:/-]{0,24}$`)
)

// publicMember is a member of a query as it is recorded.
func publicMember(member string) string {
	name, value, has := strings.Cut(member, "=")
	plain, err := url.QueryUnescape(name)
	known := err == nil && slices.Contains(plainQueries, strings.ToLower(plain))
	switch {
	case member == "" || known && plainValue.MatchString(value):
		return member
	case known || has && plainName.MatchString(name):
		return name + "=redacted"
	default:
		return "redacted"
	}
}

// identity says whose a request is, as far as its header, its path and its body do.
type identity struct {
	client string // the program, as it names itself
	tag    string // the name that the path gives to the session
	key    string // what its session is recognised by
	named  bool   // the key names one session; otherwise it names a client, which may have many
	sub    string // which conversation of the session, or of the client, when it says so
	agent  bool   // it says that it is a sub-agent's
	alias  string // a sub-agent's own session, which others may name as their parent's
}

// identify reads a request's identity: the tag of its path; else the client's own session id; else the client itself,
// by provider and an HMAC of the credential.
func (r *recorder) identify(req *http.Request, to route) identity {
	who := identity{client: program(req.UserAgent()), named: true}
	id, sub := "", ""
	for _, name := range sessionHeaders {
		if v := req.Header.Get(name); v != "" {
			// A sub-agent's parent is a session that other requests name as their own.
			id = sessionKey(to.provider, strings.Replace(name, "-parent-", "-", 1), r.short(v))
			sub, who.agent = subOf(req.Header, name, v)
			if name == "x-parent-session-id" && sub != "" {
				who.alias = to.provider + aliasKind + r.short(sub)
			}
			break
		}
	}
	if sub != "" {
		who.sub = r.short(sub)
	}
	switch {
	case to.tag != "":
		who.tag, who.key = to.tag, ambit.TagKey(to.tag)
		if id != "" {
			who.sub = strings.TrimPrefix(id+"/"+who.sub, to.provider+":")
		}
	case id != "":
		who.key = id
	default:
		var secret []string
		for _, name := range credentialHeaders {
			secret = append(secret, req.Header.Get(name))
		}
		secret = append(secret, req.URL.Query().Get("key"))
		who.named = false
		who.key = to.provider + ":client:" + r.short(strings.Join(secret, "\x00"))
	}
	return who
}

// aliasKind stands in the keys of sessions whose clients name a sub-agent's parent by its session.
const aliasKind = ":x-session-id:"

// sessionKey is what a session is recognised by that the client names in a header.
func sessionKey(provider, header, short string) string { return provider + ":" + header + ":" + short }

// subOf says which of a session's conversations a request is, by the header that named the session and what it said.
// It is empty for the session's own.
func subOf(h http.Header, name, id string) (sub string, agent bool) {
	switch name {
	case "x-claude-code-session-id":
		sub = h.Get("x-claude-code-agent-id")
		return sub, sub != ""
	case "x-parent-session-id":
		return h.Get("x-session-id"), true
	case "session-id":
		if sub = h.Get("thread-id"); sub != id {
			return sub, h.Get("x-codex-parent-thread-id") != ""
		}
	}
	return "", false
}

// refine adds to an identity what the body says: a session id, which some clients send there alone, or the key by which
// the provider is to find its cache, which tells conversations of one client apart.
func (r *recorder) refine(who identity, to route, q provider.Request) identity {
	switch {
	case who.named:
	case q.Session != "":
		who.named, who.key = true, sessionKey(to.provider, sessionHeaders[0], r.short(q.Session))
	case q.CacheKey != "":
		who.sub = r.short(q.CacheKey)
	}
	return who
}

// short is a keyed hash: equal for equal text, and nothing can be read from it.
func (r *recorder) short(text string) string {
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

// program is the first word of a user agent, such as codex_exec/0.171.0.
func program(agent string) string {
	first, _, _ := strings.Cut(agent, " ")
	if len(first) > 64 {
		first = first[:64]
	}
	return strings.ToValidUTF8(first, "\uFFFD")
}
