package wire

import (
	"bytes"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// TestMessagesHaveFewParts: what two bytes on the wire each make would be hundreds in memory.
func TestMessagesHaveFewParts(t *testing.T) {
	t.Parallel()
	cue, key := &stagev1.Cue{Start: 1, End: 2, Text: "of some words"}, &stagev1.Key{}
	record := func(cues int) *stagev1.Record { return &stagev1.Record{Cues: slices.Repeat([]*stagev1.Cue{cue}, cues)} }
	records := func(all ...*stagev1.Record) *stagev1.CallResponse {
		return &stagev1.CallResponse{Message: &stagev1.CallResponse_Records{Records: &stagev1.Records{Records: all}}}
	}
	findings := func(keys int) *stagev1.CallResponse {
		one := &stagev1.Finding{Keys: slices.Repeat([]*stagev1.Key{key}, keys)}
		return &stagev1.CallResponse{Message: &stagev1.CallResponse_Findings{Findings: &stagev1.Findings{Findings: []*stagev1.Finding{one}}}}
	}
	unclear := func(rules int) *stagev1.CallResponse {
		return &stagev1.CallResponse{Message: &stagev1.CallResponse_Done{Done: &stagev1.Done{UnclearRules: make([]string, rules)}}}
	}
	for _, c := range []struct {
		name    string
		message *stagev1.CallResponse
		fits    bool
	}{
		{"five long transcripts", records(record(20_000), record(20_000), record(20_000), record(20_000), record(20_000)), true},
		{"as many as may be", records(record(maxParts - 5)), true}, // beside Records and a Record of four
		{"one more", records(record(maxParts - 4)), false},
		{"empty records", records(slices.Repeat([]*stagev1.Record{{}}, 2*maxParts)...), false},
		{"empty keys", findings(2 * maxParts), false},
		{"empty words", unclear(2 * maxParts), false},
	} {
		raw, err := proto.Marshal(c.message)
		if err != nil {
			t.Fatal(err)
		}
		var got stagev1.CallResponse
		err = Codec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, &got)
		if fits := err == nil; fits != c.fits || c.fits && !proto.Equal(&got, c.message) {
			t.Errorf("%s: got fits %v, error %v, the message equal %v; want fits %v", c.name, fits, err, proto.Equal(&got, c.message), c.fits)
		}
	}
}

// TestSmallFramesArePaced whatever way they are cut, and data of an external plugin too.
func TestSmallFramesArePaced(t *testing.T) {
	t.Parallel()
	frame := func(kind byte, size int) []byte {
		return append([]byte{byte(size >> 16), byte(size >> 8), byte(size), kind, 0, 0, 0, 0, 1}, make([]byte, size)...)
	}
	const ping, unknown, count = 6, 200, 90
	for _, c := range []struct {
		name     string
		frame    []byte
		external bool
		want     int // of count frames
	}{
		{"pings", frame(ping, 8), false, count},
		{"empty data", frame(dataFrame, 0), false, count},
		{"data", frame(dataFrame, 16<<10), false, 0},
		{"data of a third party", frame(dataFrame, 16<<10), true, 16 * count},
		{"what HTTP/2 does not know", frame(unknown, 16<<10), false, 16 * count},
	} {
		for _, cut := range []int{1 << 10, 4099, 32 << 10} {
			got, whole := 0, bytes.NewReader(bytes.Repeat(c.frame, count))
			f, part := framed{external: c.external}, make([]byte, cut)
			for {
				n, err := io.ReadFull(whole, part)
				got += f.cost(part[:n])
				if err != nil {
					break
				}
			}
			if got < c.want || got > c.want+2 { // the last read is short, and there may be none
				t.Errorf("%s, read in parts of %d bytes: got a cost of %d, want %d", c.name, cut, got, c.want)
			}
		}
	}
	f, burst := &framed{Conn: babbler{}, pace: rate.NewLimiter(frames, frameBurst)}, frameBurst
	began := time.Now()
	for range burst + frames/4 {
		if _, err := f.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("a quarter of a second beyond the burst was read in %v, want at least 200ms", took)
	}
}

// babbler is a connection that has always a byte more.
type babbler struct{ net.Conn }

func (babbler) Read(b []byte) (int, error) { return len(b), nil }
