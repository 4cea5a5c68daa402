package ambit

import (
	"context"
	"io"
	"slices"
	"time"

	"ambit/unit"

	"github.com/coder/websocket"
)

// socket is a WebSocket that answers one request after another. A goroutine reads it for as long as it is open, so that pings
// are answered, and a close is seen, while nobody asks; close waits for it.
type socket struct {
	conn    *websocket.Conn
	url     string
	by      string // the credential with which it was opened
	opened  time.Time
	headers map[string]string // of the answer that opened it
	last    heldAnswer

	stop   context.CancelFunc
	pieces chan piece
	err    error // why it has ended; set before pieces is closed
}

// heldAnswer is the newest answer, which the provider holds for as long as the connection is open.
type heldAnswer struct {
	id      string // empty when it holds none
	message []byte // what was answered, whole
	answer  unit.Unit
}

// piece is a part of a message.
type piece struct {
	data []byte
	last bool
}

// readAhead is how many pieces may come that nobody has heard yet.
const readAhead = 16

// socketAge is how old a connection may be that is asked again. Providers close them after an hour.
const socketAge = 55 * time.Minute

func newSocket(ctx context.Context, conn *websocket.Conn, r *request, headers map[string]string, now time.Time) *socket {
	ctx, stop := context.WithCancel(ctx)
	k := &socket{conn: conn, url: r.url, by: r.model.Credential, opened: now, headers: headers, stop: stop, pieces: make(chan piece, readAhead)}
	go func() {
		defer close(k.pieces)
		defer k.conn.CloseNow()
		k.err = k.read(ctx)
	}()
	return k
}

// read reads messages until there are no more.
func (k *socket) read(ctx context.Context) error {
	buffer := make([]byte, 32<<10)
	for {
		_, message, err := k.conn.Reader(ctx)
		if err != nil {
			return err
		}
		for last := false; !last; {
			n, err := message.Read(buffer)
			if last = err == io.EOF; err != nil && !last {
				return err
			}
			select {
			case k.pieces <- piece{slices.Clone(buffer[:n]), last}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// serves reports whether it can be asked once more what a request asks: it is still open, not too old, and nothing has come that
// nobody asked for.
func (k *socket) serves(r *request, now time.Time) bool {
	if k.url != r.url || k.by != r.model.Credential || now.Sub(k.opened) >= socketAge {
		return false
	}
	select {
	case <-k.pieces:
		return false
	default:
		return true
	}
}

// close closes the connection at once, without a word: a server that has gone would be waited for.
func (k *socket) close() {
	k.stop()
	k.conn.CloseNow()
	for range k.pieces {
	}
}
