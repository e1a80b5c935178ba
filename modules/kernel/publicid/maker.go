package publicid

import (
	"sync"
	"time"
)

// Grant is the right to make ids with a node number in a span of time. Two grants
// of one number never overlap, so their holders never make the same id.
type Grant struct {
	// Node is the number, 0 to MaxNode.
	Node int
	// After is the last millisecond, since 1970, that an earlier holder of the number
	// may have used.
	After int64
	// Until is the last millisecond that the holder may use. Zero means no bound.
	Until int64
}

// retryAfter is the least time between two failed renewals.
const retryAfter = time.Second

// Maker makes ids. It is safe for concurrent use.
type Maker struct {
	mu    sync.Mutex
	grant Grant
	last  int64 // milliseconds since epoch
	next  int64
	now   func() time.Time
	renew func(at int64) (Grant, error)
	// overrun is true while ids are made that no grant covers.
	overrun error
	failed  time.Time
}

// NewMaker returns the maker of a grant. When an id would be later than the grant,
// renew is asked for one that reaches beyond the millisecond at, since 1970; it may
// have another number. renew must not call the maker. now is the clock.
func NewMaker(grant Grant, now func() time.Time, renew func(at int64) (Grant, error)) *Maker {
	m := &Maker{now: now, renew: renew}
	m.take(grant)
	return m
}

// Take replaces the grant.
func (m *Maker) Take(grant Grant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(grant)
}

func (m *Maker) take(grant Grant) {
	m.grant, m.overrun = grant, nil
	if after := grant.After - epoch; after > m.last {
		m.last, m.next = after, 1<<sequenceBits-1 // the next id is of a later millisecond
	}
}

// New returns an id greater than all earlier ones. When the numbers of a millisecond
// are used up, or the clock steps back, ids run ahead of the clock.
func (m *Maker) New() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.step()
	if m.grant.Until > 0 && m.last+epoch > m.grant.Until && time.Since(m.failed) > retryAfter {
		grant, err := m.renew(m.last + epoch)
		if err == nil {
			if m.take(grant); m.next == 1<<sequenceBits-1 {
				m.step()
			}
		} else {
			m.overrun, m.failed = err, time.Now()
		}
	}
	return m.last<<(nodeBits+sequenceBits) | int64(m.grant.Node)<<sequenceBits | m.next
}

func (m *Maker) step() {
	millis := m.now().UnixMilli() - epoch
	switch {
	case millis > m.last:
		m.last, m.next = millis, 0
	case m.next == 1<<sequenceBits-1:
		m.last, m.next = m.last+1, 0
	default:
		m.next++
	}
}

// Err returns why the ids made last are covered by no grant, or nil. Rows with such
// ids must not be committed.
func (m *Maker) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.overrun
}

// Last returns the latest millisecond, since 1970, of the ids made so far.
func (m *Maker) Last() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last + epoch
}
