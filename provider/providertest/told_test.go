package providertest

import (
	"strings"
	"testing"

	"ambit/provider"
)

// hears is a protocol with one message, of which it reads what it is told to.
type hears struct {
	broken
	read func(v provider.JSON) provider.Message
}

func (h hears) Elements(_ provider.Request, body []byte) (provider.Elements, error) {
	return provider.Elements{Messages: []provider.Element{{At: "", Length: len(body)}}}, nil
}

func (h hears) Message(_ provider.Request, raw []byte, _ string) provider.Message { return h.read(raw) }

func TestDropped(t *testing.T) {
	x := Exchange{Body: `{"text":"a","id":"b"}`}
	text := func(v provider.JSON) (m provider.Message) {
		m.AddText("/text", provider.SaidUser, v.Find("text")[0])
		return m
	}
	rest := func(v provider.JSON) (m provider.Message) {
		o := v.Object()
		m.AddText("/text", provider.SaidUser, o.Take("text"))
		m.Rest(o, map[string]bool{"id": true})
		return m
	}
	system := func(provider.JSON) provider.Message { return provider.Message{Role: "system"} }
	tests := map[string]struct {
		read    func(v provider.JSON) provider.Message
		private []string
		want    string
	}{
		"a member that no API has": {text, []string{"/id"}, `at "/hologram"`},
		"the id":                   {rest, nil, `at "/id"`},
		"sound":                    {rest, []string{"/id"}, ""},
		"sound anywhere":           {rest, []string{"**/id"}, ""},
		"what the system says":     {system, nil, ""},
	}
	for name, test := range tests {
		got := strings.Join(dropped(hears{read: test.read}, test.private, x), "\n")
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: complaint %q, want %q in it", name, got, test.want)
		}
	}
	for at, want := range map[string]bool{"/a/b": true, "/a/b/c": true, "/a": false, "/x/y/id": true, "/x/id/y": true, "/idx": false, "/x/q/r": true, "/q": false, "/z/k": true} {
		if isPrivate(at, []string{"/a/b", "**/id", "**/q/*", "/*/k"}) != want {
			t.Errorf("%s is private: %v", at, !want)
		}
	}
}
