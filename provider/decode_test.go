package provider

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// encoders write what Decode must undo. Each flushes behind every block, as a server does that streams.
var encoders = map[string]func([]byte) []byte{
	"gzip":    func(b []byte) []byte { return encode(b, func(w io.Writer) flusher { return gzip.NewWriter(w) }) },
	"x-gzip":  func(b []byte) []byte { return encode(b, func(w io.Writer) flusher { return gzip.NewWriter(w) }) },
	"deflate": func(b []byte) []byte { return encode(b, func(w io.Writer) flusher { return zlib.NewWriter(w) }) },
	"br":      func(b []byte) []byte { return encode(b, func(w io.Writer) flusher { return brotli.NewWriter(w) }) },
	"zstd": func(b []byte) []byte {
		return encode(b, func(w io.Writer) flusher {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				panic(err)
			}
			return z
		})
	},
	"identity": bytes.Clone,
	"":         bytes.Clone,
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

const block = 1000 // bytes between flushes

func encode(body []byte, open func(io.Writer) flusher) []byte {
	var out bytes.Buffer
	w := open(&out)
	for len(body) > 0 {
		n := min(block, len(body))
		_, writeErr := w.Write(body[:n])
		if err := errors.Join(writeErr, w.Flush()); err != nil {
			panic(err)
		}
		body = body[n:]
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func bareDeflate(body []byte) []byte {
	return encode(body, func(w io.Writer) flusher {
		f, err := flate.NewWriter(w, flate.BestSpeed)
		if err != nil {
			panic(err)
		}
		return f
	})
}

// sample is text that compresses, but not to nothing.
func sample(n int) []byte {
	var b bytes.Buffer
	for x := uint32(1); b.Len() < n; x = x*1664525 + 1013904223 {
		b.WriteString(strings.Repeat("abcdefgh"[x>>29:], 1+int(x>>24&3)))
	}
	return b.Bytes()[:n]
}

func TestDecode(t *testing.T) {
	body := sample(20 * block)
	for name, encoder := range encoders {
		got, err := Decode(encoder(body), name, math.MaxInt64)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if got, err := Decode(bareDeflate(body), "deflate", 1<<20); err != nil || !bytes.Equal(got, body) {
		t.Errorf("bare deflate: %d bytes, %v", len(got), err)
	}
}

// A stored block may begin with any five bits, so also like zlib's header.
func TestDecodeBareDeflateThatLooksWrapped(t *testing.T) {
	body := "\x78\x01\x00\xfe\xffa\x03\x00"
	if got, err := Decode([]byte(body), "deflate", 10); err != nil || string(got) != "a" {
		t.Errorf("decoded to %q, %v", got, err)
	}
	body = "\x78\x01 neither of the two"
	if got, err := Decode([]byte(body), "deflate", 10); err == nil {
		t.Errorf("decoded to %q without an error", got)
	}
}

func TestDecodeLists(t *testing.T) {
	body := sample(3000)
	tests := map[string][]byte{
		"gzip, br":                encoders["br"](encoders["gzip"](body)),
		"GZIP,\tZstd , identity,": encoders["zstd"](encoders["gzip"](body)),
		"br, deflate, gzip":       encoders["gzip"](encoders["deflate"](encoders["br"](body))),
	}
	for encoding, encoded := range tests {
		if got, err := Decode(encoded, encoding, 1<<20); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q: %d bytes, %v", encoding, len(got), err)
		}
	}
}

func TestDecodeDrawn(t *testing.T) {
	names := []string{"gzip", "deflate", "br", "zstd", "bare"}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		name := rapid.SampledFrom(names).Draw(t, "encoding")
		encoded := bareDeflate(body)
		if name == "bare" {
			name = "deflate"
		} else {
			encoded = encoders[name](body)
		}
		was := bytes.Clone(encoded)
		got, err := Decode(encoded, name, int64(len(body)))
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("decoded to %q, %v", got, err)
		}
		if !bytes.Equal(encoded, was) {
			t.Fatalf("the encoded body was changed")
		}
	})
}

func TestDecodeCut(t *testing.T) {
	body := sample(20 * block)
	all := map[string][]byte{"deflate ": bareDeflate(body)}
	for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
		all[name] = encoders[name](body)
	}
	for name, encoded := range all {
		for cut := 1; cut < len(encoded); cut += 7 {
			got, err := Decode(encoded[:cut], name, int64(len(body)))
			if !bytes.HasPrefix(body, got) {
				t.Fatalf("%s cut at %d of %d: what was decoded is no prefix", name, cut, len(encoded))
			}
			whole := name == "zstd" || name == "br" // where the last bytes may only say that the end has come
			if err == nil && !(whole && len(got) == len(body)) {
				t.Fatalf("%s cut at %d of %d: %d bytes and no error", name, cut, len(encoded), len(got))
			}
			if cut > len(encoded)/2 && len(got) < len(body)/4 {
				t.Fatalf("%s cut at %d of %d: %d bytes of %d, though flushed every %d", name, cut, len(encoded), len(got), len(body), block)
			}
		}
	}
}

func TestDecodeCutList(t *testing.T) {
	body := sample(20 * block)
	encoded := encoders["br"](encoders["gzip"](body))
	got, err := Decode(encoded[:len(encoded)/2], "gzip, br", 1<<20)
	if err == nil || !bytes.HasPrefix(body, got) || len(got) < len(body)/4 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if want := "decode br: unexpected EOF"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s: the first that went wrong", err, want)
	}
}

func TestDecodeLimit(t *testing.T) {
	body := sample(5000)
	for name, encoder := range encoders {
		encoded := encoder(body)
		for _, limit := range []int64{-1, 0, 1, 4999} {
			if layers, _ := parseEncoding(name); len(layers) == 0 { // nothing is undone
				if got, err := Decode(encoded, name, limit); err != nil || len(got) != 5000 {
					t.Errorf("%q under %d: %d bytes, %v", name, limit, len(got), err)
				}
				continue
			}
			if got, err := Decode(encoded, name, limit); !errors.Is(err, ErrTooLarge) || got != nil {
				t.Errorf("%q under %d: %d bytes, %v", name, limit, len(got), err)
			}
		}
		if got, err := Decode(encoded, name, 5000); err != nil || len(got) != 5000 {
			t.Errorf("%q under its own length: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestDecodeEmpty(t *testing.T) {
	for name := range encoders {
		if got, err := Decode(nil, name, 0); err != nil || len(got) != 0 {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestDecodeUnknown(t *testing.T) {
	for _, encoding := range []string{"compress", "gzip, sdch", "gzip gzip", strings.Repeat("gzip,", 100)} {
		if got, err := Decode([]byte("x"), encoding, 10); !errors.Is(err, ErrEncoding) || got != nil {
			t.Errorf("%q: %q, %v", encoding, got, err)
		}
	}
	_, err := Decode(nil, "gzip, SDCH", 10)
	if want := `unknown content encoding "sdch"`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestDecodeDamaged(t *testing.T) {
	body := sample(20 * block)
	for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
		encoded := encoders[name](body)
		for i := range encoded[len(encoded)*3/4:] {
			encoded[len(encoded)*3/4+i] ^= 0x55
		}
		got, err := Decode(encoded, name, 1<<20)
		if err == nil || errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
		want := body[:len(body)/4]
		if name == "br" {
			want = nil // its decompressor passes nothing on from the buffer in which the damage stands
		}
		if !bytes.HasPrefix(got, want) {
			t.Errorf("%s: %d bytes before the damage", name, len(got))
		}
	}
}

func FuzzDecode(f *testing.F) {
	body := sample(300)
	for name, encoder := range encoders {
		f.Add(encoder(body), name)
	}
	f.Add(bareDeflate(body), "deflate")
	f.Add(encoders["br"](encoders["gzip"](body)), "gzip, br")
	f.Fuzz(func(t *testing.T, body []byte, encoding string) {
		const limit = 1 << 16
		got, err := Decode(body, encoding, limit)
		if layers, _ := parseEncoding(encoding); len(layers) > 0 && len(got) > limit {
			t.Fatalf("%d bytes under a limit of %d", len(got), limit)
		}
		if (errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEncoding)) && got != nil {
			t.Fatalf("%d bytes with %v", len(got), err)
		}
	})
}
