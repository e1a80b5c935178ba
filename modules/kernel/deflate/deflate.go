// Package deflate packs texts that are kept and rarely read.
package deflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// MaxText is the longest text that is unpacked, in bytes: more than any that is packed.
const MaxText = 16 << 20

var writers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // the level is one that there is
	return w
}}

// Pack returns a text in the DEFLATE format (RFC 1951).
func Pack(text string) []byte {
	var packed bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&packed)
	_, _ = io.WriteString(w, text) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}

var errLong = errors.New("it is longer than any text that was packed")

// Unpack returns the text that was packed. It fails for what Pack did not make.
func Unpack(packed []byte) (string, error) {
	r := flate.NewReader(bytes.NewReader(packed))
	defer r.Close()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(r, MaxText+1))
	if err == nil && n > MaxText {
		err = errLong
	}
	if err != nil {
		return "", fmt.Errorf("unpack a text: %w", err)
	}
	return text.String(), nil
}
