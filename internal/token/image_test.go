package token_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"pgregory.net/rapid"

	"ambit/internal/token"
)

func encoded(t testing.TB, format string, w, h int) string {
	t.Helper()
	im := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, im)
	case "jpeg":
		err = jpeg.Encode(&b, im, nil)
	case "gif":
		err = gif.Encode(&b, im, nil)
	case "webp": // the head only
		b.WriteString("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
		b.Write([]byte{byte(w - 1), byte((w - 1) >> 8), 0, byte(h - 1), byte((h - 1) >> 8), 0, 0, 0, 0})
	}
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestImages holds images to the providers' formulas.
// covers: B-04 part
func TestImages(t *testing.T) {
	for _, tt := range []struct {
		f      token.Family
		w, h   int
		tokens int
	}{
		{token.Claude, 200, 200, 54},
		{token.Claude, 1000, 1000, 1334},
		{token.Claude, 3000, 3000, 1600},
		{token.Claude, 3136, 150, 157},
		{token.ClaudeNew, 2000, 1500, 4000},
		{token.ClaudeNew, 4000, 4000, 4784},
		{token.OpenAI, 512, 512, 256},
		{token.OpenAI, 1024, 1024, 1024},
		{token.OpenAI, 2048, 4096, 1536},
		{token.OpenAI, 4096, 40, 765},
		{token.Gemini, 300, 300, 1120},
		{token.Gemini, 3000, 3000, 4128},
	} {
		for _, format := range []string{"png", "jpeg", "gif", "webp"} {
			if tt.w*tt.h > 1<<20 && (format == "jpeg" || format == "gif") {
				continue // they take long to write
			}
			data := encoded(t, format, tt.w, tt.h)
			if got := tt.f.Image(data); got != tt.tokens {
				t.Errorf("%s %d x %d as %s: %d tokens, want %d", tt.f, tt.w, tt.h, format, got, tt.tokens)
			}
			if got := tt.f.Image("data:image/" + format + ";base64," + data); got != tt.tokens {
				t.Errorf("%s as a data URL: %d tokens, want %d", format, got, tt.tokens)
			}
		}
	}
}

func TestImagesThatCannotBeRead(t *testing.T) {
	for _, f := range families {
		most := f.Image("")
		for _, data := range []string{"file-abc", "https://example.org/x.png", encoded(t, "png", 64, 64)[:30], "data:image/png;base64,"} {
			if got := f.Image(data); got != most || most < 1000 {
				t.Errorf("%s: %d tokens for %q, want the most, %d", f, got, data, most)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		head := rapid.SampledFrom([]string{"", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF89a", "RIFF\x00\x00\x00\x00WEBPVP8L", "RIFF\x00\x00\x00\x00WEBPVP8 "}).Draw(t, "head")
		data := base64.StdEncoding.EncodeToString(append([]byte(head), rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...))
		f := rapid.SampledFrom(families).Draw(t, "family")
		if n := f.Image(data); n < 0 || n > 1<<20 {
			t.Errorf("%d tokens", n)
		}
	})
}
