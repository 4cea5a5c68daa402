package gemini

import (
	"errors"

	"ambit/provider"
	"ambit/unit"
)

// ownMembers are the members by which a part is known.
var ownMembers = set("text", "thought", "thoughtSignature", "thought_signature", "functionCall", "functionResponse", "inlineData", "inline_data",
	"fileData", "file_data", "videoMetadata", "video_metadata", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
	"partMetadata", "mediaResolution")

var (
	errUnspelled = errors.New("an opaque part says nothing of how it is spelled")
	errCalls     = errors.New("only the model makes calls, and has no results")
)

// means says why a part may not be sent in a content of the role.
func means(p *unit.Part, role string) error {
	if p.Kind == unit.Call && role != "model" || p.Kind == unit.Result && role == "model" {
		return errCalls
	}
	if p.Raw == nil {
		if p.Kind == unit.Opaque {
			return errUnspelled
		}
		return nil
	}
	if !ours(p.Raw) {
		return provider.ErrForeign
	}
	found := provider.JSON(p.Raw).Find("text", "functionCall", "functionResponse")
	var kind unit.PartKind
	var use provider.JSON
	switch {
	case found[1] != nil:
		kind, use = unit.Call, found[1]
	case found[2] != nil:
		kind, use = unit.Result, found[2]
	case p.Kind == unit.Text && provider.DecodeText(found[0]) == p.Text:
		kind = unit.Text
	default:
		kind = unit.Opaque
	}
	if kind != p.Kind || use != nil && !sameUse(use, p) {
		return provider.ErrSpelled
	}
	return nil
}

// ours reports whether a part is spelled as this wire spells one: by a member that is known. The other wires' have a type.
func ours(raw provider.JSON) bool {
	known := false
	for name := range raw.Members() {
		if name == "type" {
			return false
		}
		known = known || ownMembers[name]
	}
	return known
}

// sameUse reports whether a call or a result is that of the part. A call that the provider gave no id has one of ours.
func sameUse(use provider.JSON, p *unit.Part) bool {
	found := use.Find("id", "name")
	if provider.DecodeText(found[0]) == "" {
		return p.Kind == unit.Call && provider.DecodeText(found[1]) == p.Name
	}
	return provider.DecodeText(found[0]) == p.ID
}
