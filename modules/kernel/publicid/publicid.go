// Package publicid makes the ids of rows and their public form.
//
// An id is a positive 63-bit number: 42 bits of milliseconds since 2024, 9 bits of
// node, 12 bits of sequence. Ids therefore sort by time, and processes with different
// node numbers never make the same one, nor two that hold a number in turn. The public form is a prefix and 13 digits of base32,
// `vid_…`. It is opaque, and it never grants access.
package publicid

import (
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// Prefixes of public ids.
const (
	Account   = "acct"
	Workspace = "ws"
	Scroll    = "scr"
	Video     = "vid"
	Rule      = "rule"
	Key       = "key"
	Import    = "imp"
	Deletion  = "del"
	Erasure   = "era"
	// Collection is of an ordered list of videos.
	Collection = "col"
)

const (
	epoch        = 1704067200000 // 2024-01-01T00:00:00Z
	nodeBits     = 9
	sequenceBits = 12
	// MaxNode is the highest node number.
	MaxNode = 1<<nodeBits - 1
)

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// First returns the lowest id that can be made at that time.
func First(at time.Time) int64 {
	return max(at.UnixMilli()-epoch, 0) << (nodeBits + sequenceBits)
}

// Time returns when an id was made, in whole milliseconds.
func Time(id int64) time.Time {
	return time.UnixMilli(id>>(nodeBits+sequenceBits) + epoch)
}

// Format returns the public form of an id.
func Format(prefix string, id int64) string {
	var raw [8]byte
	binary.BigEndian.PutUint64(raw[:], uint64(id))
	return prefix + "_" + encoding.EncodeToString(raw[:])
}

// Parse reads the public form. ok is false for any text that Format does not return.
func Parse(prefix, text string) (id int64, ok bool) {
	digits, found := strings.CutPrefix(text, prefix+"_")
	if !found || len(digits) != encoding.EncodedLen(8) {
		return 0, false
	}
	raw, err := encoding.DecodeString(digits)
	if err != nil {
		return 0, false
	}
	id = int64(binary.BigEndian.Uint64(raw))
	return id, id > 0 && Format(prefix, id) == text
}
