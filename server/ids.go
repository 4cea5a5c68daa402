package server

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"ambit/entry"
	"ambit/internal/pool"
)

const (
	maxID   = 256       // of the ID of a call that is kept as it is, in bytes
	maxRole = 64        // of a role, in bytes
	idRoom  = 512 << 10 // of the IDs of one unit, in bytes as an entry spells them at worst; half of what an entry may take
)

// boundID is the ID of a call as it is kept and compared wherever it comes from: a long one is its hash.
func boundID(id string) string {
	id = strings.ToValidUTF8(id, "\uFFFD")
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

func boundIDs(ids []string) []string {
	var bound []string
	for _, id := range ids {
		bound = append(bound, boundID(id))
	}
	return bound
}

// boundRole is the beginning of a role that is too long to be one.
func boundRole(role string) string {
	if len(role) > maxRole {
		role = role[:maxRole]
	}
	return strings.ToValidUTF8(role, "")
}

// withIDs are a unit with its IDs, and behind it units with those for which it has no room.
func withIDs(u *entry.Unit, calls, results []string) []entry.Fact {
	units, room := []entry.Fact{u}, idRoom
	last := func(id string) *entry.Unit {
		cost := 6*len(id) + len(`"",`)
		if room -= cost; room < 0 {
			u = &entry.Unit{N: u.N, Of: entry.PartMore, Thread: u.Thread, At: u.At}
			units, room = append(units, u), idRoom-cost
		}
		return u
	}
	for _, id := range calls {
		more := last(id)
		more.Calls = append(more.Calls, id)
	}
	for _, id := range results {
		more := last(id)
		more.Results = append(more.Results, id)
	}
	return units
}

// idsOf are the IDs of the first of these units.
func idsOf(units []*pool.Unit) (calls, results []string) {
	for i, u := range units {
		if i > 0 && u.Of != entry.PartMore {
			break
		}
		calls, results = append(calls, u.Calls...), append(results, u.Results...)
	}
	return calls, results
}
