package connections

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// Frames of HTTP/2 cost the server work that net/http does not bound where they carry
// nothing: empty parts of headers, pings, updates of windows. A connection may send so many
// at once, and so many a second.
const (
	frameBurst = 20_000
	frameRate  = 2_000 // a second
)

// fullFrame is how many bytes a frame of a body must have to be free: those are bounded by
// what the server reads. As many written bytes pay for one frame, since a client answers what
// it takes by updates of its windows.
const fullFrame = 512

const frameHeader = 9 // bytes: RFC 9113, section 4.1

var errFlooded = errors.New("more frames of HTTP/2 than a connection may send")

// meter counts the frames that a client sends. It knows HTTP/2 by the preface, and counts
// nothing of any other protocol. One reader uses it, beside writers.
type meter struct {
	preface int  // bytes of the preface that were seen
	other   bool // the connection speaks another protocol
	header  [frameHeader]byte
	have    int // bytes of the header that were seen
	body    int // bytes of the frame's body that are still to come

	mu      sync.Mutex
	left    float64 // frames that the client may send at once
	counted time.Time
}

func newMeter(now time.Time) *meter { return &meter{left: frameBurst, counted: now} }

// read counts the frames that begin in what a client sent, and reports errFlooded beyond the bound.
func (m *meter) read(p []byte, now time.Time) error {
	frames := 0
	for len(p) > 0 && !m.other {
		switch {
		case m.preface < len(http2.ClientPreface):
			m.other = p[0] != http2.ClientPreface[m.preface]
			m.preface++
			p = p[1:]
		case m.body > 0:
			n := min(m.body, len(p))
			m.body -= n
			p = p[n:]
		default:
			n := copy(m.header[m.have:], p)
			p = p[n:]
			if m.have += n; m.have == frameHeader {
				m.have = 0
				m.body = int(m.header[0])<<16 | int(m.header[1])<<8 | int(m.header[2])
				if http2.FrameType(m.header[3]) != http2.FrameData || m.body < fullFrame {
					frames++
				}
			}
		}
	}
	if frames == 0 {
		return nil
	}
	return m.spend(frames, now)
}

func (m *meter) spend(frames int, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = min(frameBurst, m.left+now.Sub(m.counted).Seconds()*frameRate) - float64(frames)
	m.counted = now
	if m.left < 0 {
		return errFlooded
	}
	return nil
}

// wrote gives the client the frames with which it may answer what was written.
func (m *meter) wrote(bytes int) {
	m.mu.Lock()
	m.left = min(frameBurst, m.left+float64(bytes)/fullFrame)
	m.mu.Unlock()
}
