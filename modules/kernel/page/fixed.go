package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
)

// Fixed is a body that stays the same while the process runs. It is compressed once, when it
// is first asked for: at the start of a process nobody waits for it.
type Fixed struct {
	plain  []byte
	packed func() []byte
	tag    string
}

// NewFixed keeps a body.
func NewFixed(body []byte) Fixed {
	sum := sha256.Sum256(body)
	return Fixed{plain: body, packed: sync.OnceValue(func() []byte { return pack(body) }), tag: hex.EncodeToString(sum[:12])}
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

// For returns the body in the form that a client reads, its entity tag without quotes, and
// its encoding: `gzip`, or nothing for the plain form. Answers vary by Accept-Encoding.
func (f Fixed) For(r *http.Request) (body []byte, tag, encoding string) {
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return f.packed(), f.tag + "-gzip", "gzip"
	}
	return f.plain, f.tag, ""
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
