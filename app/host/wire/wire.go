// Package wire bounds what a plugin can make the host do by the bytes of its connection, before
// any of it is a message that the host counts.
package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxParts is how many messages, and repeated words, one message of a plugin may consist
// of: each is two bytes at least on the wire, and hundreds in memory. One with many fields
// counts more than once, as partsOf says. A full batch of the SDK has fewer, since a part
// that says anything has eight bytes.
const maxParts = 1 << 17

// partsOf is how many parts a message of a type counts: a cue one, a record four.
func partsOf(message protoreflect.MessageDescriptor) int { return 1 + message.Fields().Len()/4 }

// bounded is the codec of messages from a plugin. It counts the parts of a message before
// anything is made of it.
type bounded struct{ encoding.CodecV2 }

// Codec returns the codec for the connection to a plugin, see [bounded].
func Codec() encoding.CodecV2 { return bounded{encoding.GetCodecV2(grpcproto.Name)} }

func (b bounded) Unmarshal(data mem.BufferSlice, into any) error {
	message, ok := into.(proto.Message)
	if !ok || data.Len() < 2*maxParts {
		return b.CodecV2.Unmarshal(data, into)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	left, err := countParts(whole.ReadOnlyData(), message.ProtoReflect().Descriptor(), maxParts)
	if err != nil {
		return err
	}
	if left < 0 {
		return fmt.Errorf("it has more than %d parts", maxParts)
	}
	return b.CodecV2.Unmarshal(mem.BufferSlice{whole}, into)
}

// countParts takes the parts of a message from left; it stops below zero.
func countParts(raw []byte, message protoreflect.MessageDescriptor, left int) (int, error) {
	for len(raw) > 0 && left >= 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return left, protowire.ParseError(n)
		}
		raw = raw[n:]
		field := message.Fields().ByNumber(number)
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return left, protowire.ParseError(n)
		}
		value := raw[:n]
		raw = raw[n:]
		if field == nil || kind != protowire.BytesType || field.Message() == nil && !field.IsList() {
			continue
		}
		if field.Message() == nil {
			left--
			continue
		}
		left -= partsOf(field.Message())
		inner, _ := protowire.ConsumeBytes(value)
		var err error
		if left, err = countParts(inner, field.Message(), left); err != nil {
			return left, err
		}
	}
	return left, nil
}

const (
	// smallFrame is what a frame has to carry to be worth its cost, in bytes; a smaller
	// one, such as a ping, is answered by the host all the same.
	smallFrame = 1 << 10
	// frames is how many small ones the host reads a second, and frameBurst at once.
	frames     = 16 << 10
	frameBurst = 4 * frames
)

// guarded are credentials by which the host reads from a plugin at a bounded pace: what
// HTTP/2 itself has to do for a message or none is no message, and in no other count.
type guarded struct {
	credentials.TransportCredentials
	trust    *tls.Config // which go-plugin completes when the plugin has named its certificate
	external bool
}

// Credentials returns those of the connection to a plugin that must be the trusted one; external
// is one of a third party, see [guarded].
func Credentials(trust *tls.Config, external bool) credentials.TransportCredentials {
	return guarded{credentials.NewTLS(trust), trust, external}
}

func (g guarded) Clone() credentials.TransportCredentials { return Credentials(g.trust, g.external) }

func (g guarded) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := credentials.NewTLS(g.trust).ClientHandshake(ctx, authority, raw)
	if err == nil {
		conn = &framed{Conn: conn, external: g.external, pace: rate.NewLimiter(frames, frameBurst)}
	}
	return conn, info, err
}

// framed waits in Read where the plugin sends too many frames that are small, or no data. Of
// an external one, data costs as much as small frames do.
type framed struct {
	net.Conn
	external bool
	pace     *rate.Limiter
	head     []byte // of a frame, while it has not come as a whole
	rest     int    // of a frame, still to come
}

// headSize is the size of the head of an HTTP/2 frame, and dataFrame the type of one with data.
const (
	headSize  = 9
	dataFrame = 0
)

func (f *framed) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if cost := f.cost(b[:n]); cost > 0 {
		time.Sleep(f.pace.ReserveN(time.Now(), min(cost, frameBurst)).Delay())
	}
	return n, err
}

// cost is what the bytes count, in small frames.
func (f *framed) cost(read []byte) (cost int) {
	if len(read) < smallFrame {
		cost++
	}
	for len(read) > 0 {
		if f.rest > 0 {
			n := min(f.rest, len(read))
			f.rest, read = f.rest-n, read[n:]
			continue
		}
		n := min(headSize-len(f.head), len(read))
		f.head, read = append(f.head, read[:n]...), read[n:]
		if len(f.head) < headSize {
			break
		}
		f.rest = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
		if f.rest < smallFrame {
			cost++
		} else if f.external || f.head[3] != dataFrame {
			cost += f.rest / smallFrame
		}
		f.head = f.head[:0]
	}
	return cost
}
