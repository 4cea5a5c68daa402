package ambit

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"ambit/entry"
	"ambit/provider"
)

// overHTTP posts a request and hears its answer out.
func (s *Session) overHTTP(ctx context.Context, r *request, h *hearing) *provider.Failure {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.way.body))
	if err != nil {
		return h.broke(ctx, entry.EndNone, err)
	}
	req.Header.Set("User-Agent", agentOf)
	for _, header := range r.family.Headers(r.model.Credential) {
		req.Header.Set(header.Name, header.Value)
	}
	resp, err := s.engine.o.Client.Do(req)
	if err != nil {
		return h.broke(ctx, entry.EndNone, err)
	}
	defer resp.Body.Close()
	h.begins(resp)
	piece := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(piece)
		if long := h.take(piece[:n]); long != nil {
			return h.broke(ctx, entry.EndDropped, long)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return h.broke(ctx, entry.EndDropped, err)
		}
	}
	if resp.StatusCode == http.StatusOK {
		h.tell()
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return redirected(resp)
	}
	return nil
}
