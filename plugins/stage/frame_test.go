package stage

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// picture has the header of a lossy WebP file, and size bytes.
func picture(width, height, size int) []byte {
	file := make([]byte, size)
	copy(file, "RIFF....WEBPVP8 ....\x00\x00\x00\x9d\x01\x2a")
	binary.LittleEndian.PutUint32(file[4:], uint32(size-8))
	binary.LittleEndian.PutUint32(file[16:], uint32(size-20))
	binary.LittleEndian.PutUint16(file[26:], uint16(width))
	binary.LittleEndian.PutUint16(file[28:], uint16(height))
	return file
}

// lossless is picture of the other form.
func lossless(width, height int) []byte {
	file := picture(0, 0, 40)
	copy(file[12:], "VP8L")
	file[20] = 0x2f
	binary.LittleEndian.PutUint32(file[21:], uint32(width-1)|uint32(height-1)<<14)
	return file
}

// changed is a fit picture but for one byte.
func changed(at int, to byte) []byte {
	file := picture(240, 426, 100)
	file[at] = to
	return file
}

func TestFramesAreChecked(t *testing.T) {
	t.Parallel()
	fit := picture(240, 426, 9000)
	chunks := append(picture(240, 426, 100), "EXIF\x02\x00\x00\x00xx"...)
	binary.LittleEndian.PutUint32(chunks[4:], uint32(len(chunks)-8))
	cases := map[string]struct {
		frames []Frame
		ok     bool
	}{
		"none":                       {nil, true},
		"three":                      {[]Frame{{0, fit}, {1000, fit}, {2000, fit}}, true},
		"a lossless one":             {[]Frame{{0, lossless(240, 640)}}, true},
		"one that has all the bytes": {[]Frame{{60_000, picture(240, 640, 30_000)}}, true},
		"four":                       {[]Frame{{0, fit}, {1, fit}, {2, fit}, {3, picture(1, 1, 40)}}, false},
		"more bytes together":        {[]Frame{{0, fit}, {1000, fit}, {2000, picture(240, 426, 12_002)}}, false},
		"more bytes in one":          {[]Frame{{0, picture(240, 426, 30_002)}}, false},
		"too wide":                   {[]Frame{{0, picture(241, 426, 100)}}, false},
		"too wide, lossless":         {[]Frame{{0, lossless(241, 426)}}, false},
		"too high":                   {[]Frame{{0, picture(240, 641, 100)}}, false},
		"without width":              {[]Frame{{0, picture(0, 426, 100)}}, false},
		"before the video":           {[]Frame{{-1, fit}}, false},
		"after a minute":             {[]Frame{{60_001, fit}}, false},
		"of one moment":              {[]Frame{{5, fit}, {5, fit}}, false},
		"an empty file":              {[]Frame{{0, nil}}, false},
		"a header cut off":           {[]Frame{{0, fit[:29]}}, false},
		"a file cut off":             {[]Frame{{0, fit[:8000]}}, false},
		"a longer file":              {[]Frame{{0, append(slices.Clone(fit), "<svg onload=alert(1)>"...)}}, false},
		"a JPEG":                     {[]Frame{{0, append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF"), fit...)}}, false},
		"SVG":                        {[]Frame{{0, []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)}}, false},
		"a sound in RIFF":            {[]Frame{{0, changed(8, 'w')}}, false},
		"an extended file":           {[]Frame{{0, changed(15, 'X')}}, false},
		"metadata after the picture": {[]Frame{{0, chunks}}, false},
		"no key frame":               {[]Frame{{0, changed(20, 1)}}, false},
		"no start code":              {[]Frame{{0, changed(23, 0)}}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			finding := Finding{Ref: Ref{Platform: "tiktok", ExternalID: "1"}, Frames: c.frames}
			finding = DecodeFinding(EncodeFinding(&finding))
			if _, err := finding.Clean(); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrFrames) {
				t.Errorf("got %v, want accepted %t", err, c.ok)
			}
		})
	}
}

// FuzzFrames: no bytes make the check fail otherwise than by its error, and what it accepts
// has the form of one picture within the bounds.
func FuzzFrames(f *testing.F) {
	f.Add(picture(240, 426, 100))
	f.Add(lossless(240, 426))
	f.Fuzz(func(t *testing.T, file []byte) {
		err := checkFrames([]Frame{{0, file}})
		if err != nil && !errors.Is(err, ErrFrames) {
			t.Errorf("got %v, want %v", err, ErrFrames)
		}
		if err == nil && (len(file) > MaxFrameBytes || string(file[:4]) != "RIFF" || int(binary.LittleEndian.Uint32(file[16:]))+20 < len(file)-1) {
			t.Errorf("got %q accepted, want one chunk of at most %d bytes", file, MaxFrameBytes)
		}
	})
}
