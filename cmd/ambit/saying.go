package main

import (
	"context"
	"log/slog"
)

// saying prints what a library logs as lines for people: "ambit: message: key=value …".
type saying struct {
	e     *env
	group string // of what comes, each with its dot
	given string // what every line has, each behind a space
}

// Enabled leaves out what is for debugging only.
func (s saying) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle says a record; what would command the terminal does not reach it.
func (s saying) Handle(_ context.Context, r slog.Record) error {
	text := s.given
	r.Attrs(func(a slog.Attr) bool {
		text += attrText(s.group, a)
		return true
	})
	if text != "" {
		text = ":" + text
	}
	s.e.say("%s%s", r.Message, text)
	return nil
}

// WithAttrs adds to every line.
func (s saying) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		s.given += attrText(s.group, a)
	}
	return s
}

// WithGroup puts a name before the keys that come.
func (s saying) WithGroup(name string) slog.Handler {
	if name != "" {
		s.group += name + "."
	}
	return s
}

// attrText is an attribute as key=value, behind a space; a group is each of its own.
func attrText(group string, a slog.Attr) string {
	v := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return ""
	}
	if v.Kind() != slog.KindGroup {
		return " " + group + a.Key + "=" + v.String()
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	text := ""
	for _, member := range v.Group() {
		text += attrText(group, member)
	}
	return text
}
