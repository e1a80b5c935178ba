package app_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/scrollery/scrollery/app/apptest"
)

// frames is a connection over HTTP/2 that sends what it likes, and takes no body of an answer.
type frames struct {
	*http2.Framer
	conn    net.Conn
	encoder *hpack.Encoder
	block   bytes.Buffer
}

func dialFrames(t *testing.T, running *apptest.Running) *frames {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(running.BaseURL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	f := &frames{Framer: http2.NewFramer(conn, conn), conn: conn}
	f.encoder = hpack.NewEncoder(&f.block)
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err := errors.Join(err, f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}), conn.SetDeadline(time.Now().Add(2*time.Minute))); err != nil {
		t.Fatal(err)
	}
	return f
}

// headers is the block of a request for a path, with more headers.
func (f *frames) headers(path string, more ...hpack.HeaderField) []byte {
	f.block.Reset()
	for _, field := range append([]hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "x"}, {Name: ":path", Value: path}}, more...) {
		_ = f.encoder.WriteField(field) // into memory
	}
	return bytes.Clone(f.block.Bytes())
}

func (f *frames) begin(stream uint32, block []byte, whole bool) error {
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block, EndStream: true, EndHeaders: whole})
}

// end reads until the connection ends, and counts the refused streams.
func (f *frames) end() (refused int, goAway *http2.GoAwayFrame) {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return refused, goAway
		}
		switch frame := frame.(type) {
		case *http2.GoAwayFrame:
			kept := *frame
			goAway = &kept
		case *http2.RSTStreamFrame:
			if frame.ErrCode == http2.ErrCodeRefusedStream {
				refused++
			}
		}
	}
}

// TestHostileConnections: each attack on HTTP/2 ends at a bound of its connection, and others
// are served.
func TestHostileConnections(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	for name, attack := range map[string]func(t *testing.T, f *frames){
		"streams that are reset as soon as they begin": func(t *testing.T, f *frames) {
			// A server that keeps up takes them all; once it falls behind, it ends the connection.
			go func() {
				block := f.headers("/v1/health")
				for stream := uint32(1); stream < 40_000; stream += 2 {
					if f.begin(stream, block, true) != nil || f.WriteRSTStream(stream, http2.ErrCodeCancel) != nil {
						return // f.end reads why
					}
				}
				_ = f.conn.(*net.TCPConn).CloseWrite()
			}()
			if _, goAway := f.end(); goAway != nil && goAway.ErrCode != http2.ErrCodeEnhanceYourCalm && goAway.ErrCode != http2.ErrCodeNo {
				t.Errorf("got %v, want the connection ended with %v, or all streams taken", goAway, http2.ErrCodeEnhanceYourCalm)
			}
		},
		"headers that unpack to megabytes": func(t *testing.T, f *frames) {
			big := hpack.HeaderField{Name: "x-big", Value: strings.Repeat("x", 4000)}
			many := make([]hpack.HeaderField, 4000) // two bytes each after the first
			for i := range many {
				many[i] = big
			}
			block := f.headers("/v1/health", many...)
			if len(block) > 16<<10 {
				t.Fatalf("the block has %d bytes, want them in one frame", len(block))
			}
			if err := f.begin(1, block, true); err != nil {
				t.Fatal(err)
			}
			f.wantRefused(t)
		},
		"a block that never ends": func(t *testing.T, f *frames) {
			if err := f.begin(1, f.headers("/v1/health"), false); err != nil {
				t.Fatal(err)
			}
			f.block.Reset()
			_ = f.encoder.WriteField(hpack.HeaderField{Name: "x-secret", Value: strings.Repeat("x", 15000), Sensitive: true})
			go func() {
				for range 10_000 {
					if f.WriteContinuation(1, false, f.block.Bytes()) != nil {
						return
					}
				}
			}()
			f.end()
		},
		"more streams than a connection may have": func(t *testing.T, f *frames) {
			block := f.headers("/v1/health") // answers wait for a window
			for stream := range uint32(1000) {
				if err := f.begin(2*stream+1, block, true); err != nil {
					break
				}
			}
			_ = f.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			if refused, goAway := f.end(); refused == 0 && goAway == nil {
				t.Error("1,000 streams at once: got none refused, want those beyond the bound")
			}
		},
		"empty parts of headers": func(t *testing.T, f *frames) {
			if err := f.begin(1, f.headers("/v1/health"), false); err != nil {
				t.Fatal(err)
			}
			f.wantFlood(t, func() error { return f.WriteContinuation(1, false, nil) })
		},
		"pings": func(t *testing.T, f *frames) {
			f.wantFlood(t, func() error { return f.WritePing(true, [8]byte{}) })
		},
		"windows that grow by a byte": func(t *testing.T, f *frames) {
			f.wantFlood(t, func() error { return f.WriteWindowUpdate(0, 1) })
		},
		"a body of empty frames": func(t *testing.T, f *frames) {
			err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.headers("/v1/health"), EndHeaders: true})
			if err != nil {
				t.Fatal(err)
			}
			f.wantFlood(t, func() error { return f.WriteData(1, false, nil) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, began := dialFrames(t, running), time.Now()
			attack(t, f)
			if took := time.Since(began); took > 45*time.Second {
				t.Errorf("the connection lasted %v, want it ended at its bound", took)
			}
			if got := running.Anonymous().Do(t, "GET /v1/health", ""); got.Status != http.StatusOK {
				t.Errorf("another client: got %d, want %d", got.Status, http.StatusOK)
			}
		})
	}
}

// wantFlood sends frames that carry nothing, and wants the connection ended long before all
// of them were taken.
func (f *frames) wantFlood(t *testing.T, send func() error) {
	t.Helper()
	const most = 2_000_000
	go f.end() // answers are taken
	for sent := range most {
		if send() != nil {
			t.Logf("ended after %d frames", sent)
			return
		}
	}
	t.Errorf("%d empty frames were taken, want the connection ended", most)
}

// wantRefused reads the answer to the first stream: an error, or the end of the connection.
func (f *frames) wantRefused(t *testing.T) {
	t.Helper()
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if answer, is := frame.(*http2.MetaHeadersFrame); is {
			if status := answer.PseudoValue("status"); status != "431" {
				t.Errorf("got status %s, want 431 or the end of the connection", status)
			}
			return
		}
	}
}
