// Package publicid makes the ids of rows and their public form.
//
// An id is a positive 63-bit number: 42 bits of milliseconds since 2024, 9 bits of
// node, 12 bits of sequence. Ids therefore sort by time, and replicas with different
// nodes never make the same one. The public form is a prefix and 13 digits of base32,
// `vid_…`. It is opaque, and it never grants access.
package publicid

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
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
)

const (
	epoch        = 1704067200000 // 2024-01-01T00:00:00Z
	nodeBits     = 9
	sequenceBits = 12
	// MaxNode is the highest node number.
	MaxNode = 1<<nodeBits - 1
)

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Maker makes ids. It is safe for concurrent use.
type Maker struct {
	mu   sync.Mutex
	node int64
	last int64
	next int64
	now  func() time.Time
}

// NewMaker returns the maker of a node, 0 to MaxNode.
func NewMaker(node int) (*Maker, error) {
	if node < 0 || node > MaxNode {
		return nil, fmt.Errorf("node %d is not between 0 and %d", node, MaxNode)
	}
	return &Maker{node: int64(node), now: time.Now}, nil
}

// New returns an id greater than all earlier ones. When the numbers of a millisecond
// are used up, or the clock steps back, ids run ahead of the clock.
func (m *Maker) New() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	millis := m.now().UnixMilli() - epoch
	switch {
	case millis > m.last:
		m.last, m.next = millis, 0
	case m.next == 1<<sequenceBits-1:
		m.last, m.next = m.last+1, 0
	default:
		m.next++
	}
	return m.last<<(nodeBits+sequenceBits) | m.node<<sequenceBits | m.next
}

// First returns the lowest id that can be made at that time.
func First(at time.Time) int64 {
	return max(at.UnixMilli()-epoch, 0) << (nodeBits + sequenceBits)
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
