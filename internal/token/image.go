package token

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// Image is how many tokens an image takes at most, by the provider's formula for its size in pixels; data is the image
// in base64, with or without the head of a data URL. Of an image whose size cannot be read it is the most that one takes.
func (f Family) Image(data string) int {
	w, h, ok := pixels(data)
	switch f {
	case OpenAI:
		return openAIImage(w, h, ok)
	case Gemini:
		return geminiImage(w, h, ok)
	case Claude:
		return claudeImage(w, h, ok, 1568, 1600)
	}
	return claudeImage(w, h, ok, 2576, 4784) // and of what is not known, the dearest
}

// claudeImage is one token for 750 pixels, of an image that is made smaller until its longer side and its tokens fit.
// Source: Anthropic, Vision, "Evaluate image size": 1568 pixels and about 1600 tokens; 2576 and 4784 from Opus 4.7 on.
func claudeImage(w, h int, ok bool, side, most int) int {
	if !ok {
		return most
	}
	if long := max(w, h); long > side {
		w, h = scaled(w, side, long), scaled(h, side, long)
	}
	return min(most, (w*h+749)/750)
}

// openAIImage is 85 tokens and 170 for each tile of 512 pixels, of an image that is made smaller until it fits into
// 2048 by 2048 and its shorter side is 768; or, as later models count, one for each patch of 32 pixels, up to 1536,
// where that is more. Source: OpenAI, Images and vision, "Calculating costs", high detail.
func openAIImage(w, h int, ok bool) int {
	if !ok {
		return maxPatches
	}
	patches := min(maxPatches, over(w, 32)*over(h, 32))
	if long := max(w, h); long > 2048 {
		w, h = scaled(w, 2048, long), scaled(h, 2048, long)
	}
	if short := min(w, h); short > 768 {
		w, h = scaled(w, 768, short), scaled(h, 768, short)
	}
	return max(patches, 85+170*over(w, 512)*over(h, 512))
}

const maxPatches = 1536

// geminiImage is 258 tokens for one whose sides are 384 pixels at most, and for each tile of 768 of another. Source:
// Google, Understand and count tokens, "Multimodal tokens"; Gemini 3 takes 1120 unless asked for less.
func geminiImage(w, h int, ok bool) int {
	if !ok {
		return maxGemini
	}
	if w <= 384 && h <= 384 {
		return leastGemini
	}
	return min(maxGemini, max(leastGemini, 258*over(w, 768)*over(h, 768)))
}

// Gemini's own bounds of an image; the upper one is sixteen tiles, of 3072 by 3072 pixels, to which larger ones are
// made smaller.
const (
	leastGemini = 1120
	maxGemini   = 16 * 258
)

// scaled is x times a/b, rounded up.
func scaled(x, a, b int) int { return over(x*a, b) }

// over is x/y, rounded up.
func over(x, y int) int { return (x + y - 1) / y }

// maxSide is the longest side that is believed, in pixels: a format can say more than any provider takes.
const maxSide = 1 << 16

// pixels reads the size of an image from its head; only as much of it is decoded as that needs.
func pixels(data string) (w, h int, ok bool) {
	if head, rest, is := strings.Cut(data[:min(len(data), 128)], ";base64,"); is && strings.HasPrefix(head, "data:") {
		data = data[len(data[:min(len(data), 128)])-len(rest):]
	}
	r := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	head := make([]byte, 30)
	if n, _ := io.ReadFull(r, head); n < len(head) {
		return 0, 0, false
	}
	c, ok := config(head, io.MultiReader(bytes.NewReader(head), r))
	return c.Width, c.Height, ok && c.Width > 0 && c.Height > 0 && c.Width <= maxSide && c.Height <= maxSide
}

func config(head []byte, r io.Reader) (c image.Config, ok bool) {
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		c, err = png.DecodeConfig(r)
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		c, err = jpeg.DecodeConfig(r)
	case bytes.HasPrefix(head, []byte("GIF8")):
		c, err = gif.DecodeConfig(r)
	case bytes.HasPrefix(head, []byte("RIFF")) && string(head[8:12]) == "WEBP":
		c.Width, c.Height, ok = webp(head)
		return c, ok
	default:
		return c, false
	}
	return c, err == nil
}

// webp reads the size in the first 30 bytes. Source: RFC 9649, sections 2.5 to 2.7, and RFC 6386, section 9.1.
func webp(head []byte) (w, h int, ok bool) {
	switch string(head[12:16]) {
	case "VP8X":
		return 1 + uint24(head[24:]), 1 + uint24(head[27:]), true
	case "VP8L":
		bits := binary.LittleEndian.Uint32(head[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), head[20] == 0x2f
	case "VP8 ":
		w, h = int(binary.LittleEndian.Uint16(head[26:])), int(binary.LittleEndian.Uint16(head[28:]))
		return w & 0x3fff, h & 0x3fff, true
	}
	return 0, 0, false
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
