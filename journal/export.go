package journal

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"ambit/entry"
)

// exported is one line of an export that carries a body: its name in the session, and its bytes as text or, where they
// are not UTF-8, in base 64.
type exported struct {
	Body   entry.Body `json:"body"`
	Text   string     `json:"text,omitempty"`
	Base64 string     `json:"base64,omitempty"`
	Purged bool       `json:"purged,omitempty"` // it has none any more
}

// Export writes a session as JSON lines: its frames as they are stored, so that the chain can be verified from the
// export alone, and before each frame the bodies that it is the first to rely on. A fork is written with all that it
// goes on from. Of a body that was purged there is a line that says so. Of a session that was imported it writes what was
// imported: the entry that says so, its last, is left out. docs/format/journal.md describes the lines.
func Export(ctx context.Context, s Store, session string, to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	written := make(map[entry.Body]bool)
	var held []byte // the line of an entry that is left out when it is the last
	for f, err := range s.Read(ctx, session, 0) {
		if err != nil {
			return err
		}
		w.Write(held) // an error stays in w until Flush
		held = nil
		for _, b := range entry.Bodies(f.Fact) {
			if written[b] {
				continue
			}
			written[b] = true
			bytes, err := s.Body(ctx, f.In, b)
			line := exported{Body: b, Purged: errors.Is(err, ErrPurged)}
			if err != nil && !line.Purged {
				return fmt.Errorf("export %s: %w", f.Seq.Ref(), err)
			}
			if utf8.Valid(bytes) {
				line.Text = string(bytes)
			} else {
				line.Base64 = base64.StdEncoding.EncodeToString(bytes)
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		if seals(f.Fact) {
			held = slices.Concat(f.Line, []byte{'\n'})
			continue
		}
		w.Write(f.Line)
		w.WriteByte('\n')
	}
	return w.Flush()
}
