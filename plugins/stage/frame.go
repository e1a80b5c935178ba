package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The bounds of the frames of one video.
const (
	// MaxFrames is how many there may be, and MaxFrameBytes how many bytes they may have
	// together.
	MaxFrames     = 3
	MaxFrameBytes = 30_000
	// MaxFrameWidth and MaxFrameHeight are pixels.
	MaxFrameWidth  = 240
	MaxFrameHeight = 640
	// MaxFrameAt is the last moment of a frame, in milliseconds.
	MaxFrameAt = 60_000
)

// Frame is a picture of a video.
type Frame struct {
	// At is its moment, in milliseconds from the start of the video.
	At int64 `json:"at"`
	// WebP is a file of one still picture, without metadata.
	WebP []byte `json:"webp"`
}

// ErrFrames is the refusal of frames that are out of their bounds, or no pictures.
var ErrFrames = errors.New("frames")

// checkFrames refuses frames that are too many or too large, not in the order of their
// moments, or no still picture.
func checkFrames(frames []Frame) error {
	if len(frames) > MaxFrames {
		return fmt.Errorf("%w: %d, at most %d may be sent", ErrFrames, len(frames), MaxFrames)
	}
	size, last := 0, int64(-1)
	for _, frame := range frames {
		if frame.At <= last || frame.At > MaxFrameAt {
			return fmt.Errorf("%w: %d ms after %d, want later ones up to %d", ErrFrames, frame.At, last, MaxFrameAt)
		}
		last = frame.At
		width, height, err := webpSize(frame.WebP)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrFrames, err)
		case width < 1 || width > MaxFrameWidth || height < 1 || height > MaxFrameHeight:
			return fmt.Errorf("%w: %d × %d pixels, want at most %d × %d", ErrFrames, width, height, MaxFrameWidth, MaxFrameHeight)
		}
		if size += len(frame.WebP); size > MaxFrameBytes {
			return fmt.Errorf("%w: more than %d bytes", ErrFrames, MaxFrameBytes)
		}
	}
	return nil
}

var errWebP = errors.New("no WebP file of one still picture alone")

// webpSize reads the size of a picture from its header. It takes the two simple forms of
// the format, which are one chunk: neither an animation nor a chunk of metadata, such as the
// place where a picture was taken, fits in.
func webpSize(file []byte) (width, height int, err error) {
	if len(file) < 30 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WEBP" || uint64(binary.LittleEndian.Uint32(file[4:])) != uint64(len(file)-8) {
		return 0, 0, errWebP
	}
	chunk, length := file[20:], uint64(binary.LittleEndian.Uint32(file[16:]))
	if length+length%2 != uint64(len(chunk)) {
		return 0, 0, errWebP
	}
	switch string(file[12:16]) {
	case "VP8 ": // lossy: a key frame, its start code, 14 bits each
		if chunk[0]&1 != 0 || string(chunk[3:6]) != "\x9d\x01\x2a" {
			return 0, 0, errWebP
		}
		return int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3fff), nil
	case "VP8L": // lossless: a signature, 14 bits each, one less than the size
		bits := binary.LittleEndian.Uint32(chunk[1:])
		if chunk[0] != 0x2f || bits>>29 != 0 {
			return 0, 0, errWebP
		}
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	}
	return 0, 0, errWebP
}
