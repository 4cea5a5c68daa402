package provider

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Errors of Decode. One that is neither means that the body is damaged or ends early.
var (
	ErrTooLarge = errors.New("decoded body is over the limit")
	ErrEncoding = errors.New("unknown content encoding")
)

const (
	maxLayers = 4         // encodings in one header; more is an attack or a mistake
	maxWindow = 128 << 20 // of zstd, in bytes: the most that its reference compressor takes
)

// Decode undoes the Content-Encoding of a body: gzip, x-gzip, deflate with or without its zlib wrapper, br, zstd,
// identity, or a list of these in the order in which they were applied. No layer that is undone may exceed limit bytes.
//
// A body that ends early gives all that came, with an error; a damaged one, what the decompressor passed on before
// it saw the damage. ErrTooLarge and ErrEncoding come without data. An empty body is empty under every encoding.
// Without an encoding the result is body itself.
func Decode(body []byte, encoding string, limit int64) ([]byte, error) {
	layers, err := parseEncoding(encoding)
	if err != nil {
		return nil, err
	}
	var first error
	for i := len(layers) - 1; i >= 0 && len(body) > 0; i-- {
		if body, err = layers[i].decode(body, limit); err != nil {
			err = fmt.Errorf("decode %s: %w", layers[i].name, err)
		}
		if errors.Is(err, ErrTooLarge) {
			return nil, err
		}
		if first == nil {
			first = err
		}
	}
	return body, first
}

// layer is one encoding that was applied to a body.
type layer struct {
	name   string
	decode func(body []byte, limit int64) ([]byte, error)
}

func parseEncoding(encoding string) ([]layer, error) {
	var layers []layer
	for name := range strings.SplitSeq(encoding, ",") {
		name = strings.ToLower(strings.Trim(name, " \t"))
		switch name {
		case "", "identity":
		case "gzip", "x-gzip":
			layers = append(layers, layer{name, reading(openGzip)})
		case "deflate":
			layers = append(layers, layer{name, inflate})
		case "br":
			layers = append(layers, layer{name, reading(openBrotli)})
		case "zstd":
			layers = append(layers, layer{name, reading(openZstd)})
		default:
			return nil, fmt.Errorf("%w %q", ErrEncoding, name)
		}
		if len(layers) > maxLayers {
			return nil, fmt.Errorf("%w: more than %d in a list", ErrEncoding, maxLayers)
		}
	}
	return layers, nil
}

// opener starts a decompressor. The one it returns has nothing to be closed.
type opener func(io.Reader) (io.Reader, error)

// reading makes a whole-body decoder of a decompressor.
func reading(open opener) func([]byte, int64) ([]byte, error) {
	return func(body []byte, limit int64) ([]byte, error) {
		r, err := open(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return readAll(r, max(limit, 0))
	}
}

// readAll reads to the end, to the first error or past the limit. Unlike io.ReadAll under a LimitReader it tells a
// body of exactly limit bytes that then fails from one that goes on.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	var out bytes.Buffer
	n, err := out.ReadFrom(io.LimitReader(r, limit))
	if err != nil || n < limit {
		return out.Bytes(), err
	}
	var more [1]byte
	for {
		n, err := r.Read(more[:])
		switch {
		case n > 0:
			return nil, ErrTooLarge
		case err == io.EOF:
			return out.Bytes(), nil
		case err != nil:
			return out.Bytes(), err
		}
	}
}

func openGzip(r io.Reader) (io.Reader, error)   { return gzip.NewReader(r) }
func openZlib(r io.Reader) (io.Reader, error)   { return zlib.NewReader(r) }
func openFlate(r io.Reader) (io.Reader, error)  { return flate.NewReader(r), nil }
func openBrotli(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }

// openZstd decodes in the caller's goroutine: with a concurrency of one the decoder starts none and needs no Close.
func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
}

// inflate undoes deflate, which the standard says is wrapped in zlib and some senders leave bare.
func inflate(body []byte, limit int64) ([]byte, error) {
	if !hasZlibHeader(body) {
		return reading(openFlate)(body, limit)
	}
	data, err := reading(openZlib)(body, limit)
	if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, io.ErrUnexpectedEOF) {
		return data, err
	}
	if bare, bareErr := reading(openFlate)(body, limit); bareErr == nil {
		return bare, nil
	}
	return data, err
}

// hasZlibHeader reports whether a body starts as RFC 1950 says. One byte is taken for the start of a cut header.
func hasZlibHeader(body []byte) bool {
	if len(body) == 0 || body[0]&0x0f != 8 || body[0]>>4 > 7 {
		return false
	}
	return len(body) == 1 || (int(body[0])<<8|int(body[1]))%31 == 0
}
