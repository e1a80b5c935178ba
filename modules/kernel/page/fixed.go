package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Fixed is a body that stays the same while the process runs. The form that it is not kept in is
// made once, when it is first asked for: at the start of a process no one waits for it.
type Fixed struct {
	plain, packed func() []byte
	tag           string
}

// NewFixed keeps a body.
func NewFixed(body []byte) Fixed {
	return Fixed{func() []byte { return body }, sync.OnceValue(func() []byte { return pack(body) }), tagOf(body)}
}

// Packed keeps a body that is compressed with gzip. It fails for any other.
func Packed(packed []byte) (Fixed, error) {
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return Fixed{}, err
	}
	return Fixed{sync.OnceValue(func() []byte { return unpack(packed) }), func() []byte { return packed }, tagOf(packed)}, nil
}

func tagOf(kept []byte) string {
	sum := sha256.Sum256(kept)
	return hex.EncodeToString(sum[:12])
}

// unpack reads what is part of the program.
func unpack(packed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // Packed has looked at it
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return body
}

// pack compresses a body.
func pack(body []byte) []byte {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(body)
		err = errors.Join(err, writer.Close())
	}
	if err != nil {
		panic(err) // memory does not fail
	}
	return packed.Bytes()
}

// Plain returns the body as it is.
func (f Fixed) Plain() []byte { return f.plain() }

// For returns the body in the form that a client reads, its entity tag without quotes, and
// its encoding: `gzip`, or nothing for the plain form. Answers vary by Accept-Encoding.
func (f Fixed) For(r *http.Request) (body []byte, tag, encoding string) {
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return f.packed(), f.tag + "-gzip", "gzip"
	}
	return f.plain(), f.tag, ""
}

// acceptsGzip reports whether the client can read gzip.
func acceptsGzip(headers []string) bool {
	for _, header := range headers {
		for accepted := range strings.SplitSeq(header, ",") {
			name, quality, _ := strings.Cut(accepted, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return strings.Trim(strings.TrimPrefix(strings.TrimSpace(quality), "q="), "0.") != "" || quality == ""
			}
		}
	}
	return false
}
