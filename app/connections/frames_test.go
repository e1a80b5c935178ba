package connections

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestFramesThatCarryNothingAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wire := func(send func(f *http2.Framer) error) []byte {
		var out bytes.Buffer
		out.WriteString(http2.ClientPreface)
		if err := send(http2.NewFramer(&out, nil)); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	many := func(n int, send func(f *http2.Framer) error) func(f *http2.Framer) error {
		return func(f *http2.Framer) error {
			for range n {
				if err := send(f); err != nil {
					return err
				}
			}
			return nil
		}
	}
	empty := func(f *http2.Framer) error { return f.WriteData(1, false, nil) }
	for name, test := range map[string]struct {
		sent    []byte
		later   time.Duration
		wrote   int
		flooded bool
	}{
		"as many as at once":       {sent: wire(many(frameBurst, empty))},
		"one more":                 {sent: wire(many(frameBurst+1, empty)), flooded: true},
		"one more, after a second": {sent: wire(many(frameBurst+1, empty)), later: time.Second, flooded: true},
		"more, after answers":      {sent: wire(many(frameBurst+1, empty)), wrote: fullFrame, flooded: true},
		"full frames of a body": {sent: wire(many(frameBurst+1, func(f *http2.Framer) error {
			return f.WriteData(1, false, make([]byte, fullFrame))
		}))},
		"another protocol": {sent: []byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", frameBurst))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, parts := newMeter(now), newMeter(now)
			whole.wrote(test.wrote) // what was not spent has the same bound
			if got := whole.read(test.sent, now.Add(test.later)) != nil; got != test.flooded {
				t.Errorf("got flooded %v, want %v", got, test.flooded)
			}
			var err error
			for rest := test.sent; len(rest) > 0 && err == nil; {
				n := min(7, len(rest)) // within headers, too
				err, rest = parts.read(rest[:n], now.Add(test.later)), rest[n:]
			}
			if got := err != nil; got != test.flooded {
				t.Errorf("in parts: got flooded %v, want %v", got, test.flooded)
			}
		})
	}
}

func TestFramesComeBack(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := newMeter(now)
	if err := m.spend(frameBurst, now); err != nil {
		t.Fatal(err)
	}
	m.wrote(10 * fullFrame)
	if err := m.spend(10, now); err != nil {
		t.Errorf("after an answer: %v, want its windows taken", err)
	}
	if err := m.spend(frameRate, now.Add(time.Second)); err != nil {
		t.Errorf("after a second: %v, want %d more", err, frameRate)
	}
	if err := m.spend(1, now.Add(time.Second)); err == nil {
		t.Error("one more: got it taken, want the bound")
	}
}
