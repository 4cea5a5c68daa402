package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"path"
	"testing"

	"ambit/entry"
	"ambit/internal/vfs"
	"ambit/journal"
)

// FuzzLog opens, reads, checks and goes on with a session of arbitrary bytes. With seal set, the log's headers and
// payloads get the checksums that they need.
func FuzzLog(f *testing.F) {
	m := written()
	log := read(m, path.Join(folder, "bodies", "literals.log"))
	entries := read(m, path.Join(folder, "entries", "000000000001.jsonl"))
	f.Add(log, entries, false)
	f.Add(log, entries, true)
	f.Add(log[:len(log)-5], entries[:len(entries)-5], false)
	f.Add(append(log[:100:100], make([]byte, 300)...), append(entries[:900:900], make([]byte, 300)...), false)
	f.Add(append(log[:130:130], log...), append(entries[1:], entries...), true)
	f.Add(log[99:], []byte("\n\n"), true)
	f.Add([]byte{}, []byte{}, false)
	f.Fuzz(func(t *testing.T, log, entries []byte, seal bool) {
		if len(log) > 4096 || len(entries) > 16384 {
			return
		}
		log = bytes.Clone(log)
		if seal {
			sealAll(log)
		}
		if n := allocated(func() { useSession(t, log, entries) }); n > 64<<20+16*uint64(len(log))<<15 {
			t.Errorf("%d bytes of log and %d of entries take %d MiB", len(log), len(entries), n>>20)
		}
	})
}

func sealAll(log []byte) {
	for len(log) >= journal.RecordHeader {
		payload := log[journal.RecordHeader:]
		if n := binary.LittleEndian.Uint32(log[4:]); uint64(n) <= uint64(len(payload)) {
			payload = payload[:n]
		}
		copy(log, "AMB1")
		binary.LittleEndian.PutUint32(log[64:], crc32.Checksum(payload, crc32.MakeTable(crc32.Castagnoli)))
		seal(log)
		log = log[journal.RecordHeader+len(payload):]
	}
}

func useSession(t *testing.T, log, entries []byte) {
	m := vfs.NewMem()
	write(m, path.Join(folder, "bodies", "literals.log"), log)
	write(m, path.Join(folder, "entries", "000000000001.jsonl"), entries)
	was, frames, err := checked(t, m)
	sound := frames > 0 && was.Sound()
	if was.Entries != frames || sound && err != nil {
		t.Errorf("check found %+v, and %d frames are readable, then %v", was, frames, err)
	}
	s := must(opener("home/me/ambit", m)())
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Lock(ctx, "a"); err != nil {
		if sound {
			t.Errorf("check finds nothing, and lock says %v", err)
		}
		return
	}
	b, err := s.Put(ctx, "a", bytes.Repeat([]byte("a body that grows; "), 20))
	if err == nil {
		_, err = s.Append(ctx, "a", &entry.Request{Body: &b})
	}
	if now, n, _ := checked(t, m); err == nil && frames > 0 && (now.Sound() != sound || sound && n != frames+1) {
		t.Errorf("check found %+v, and after an append %+v", was, now)
	} else if err != nil && sound {
		t.Errorf("check finds nothing, and append says %v", err)
	}
}
