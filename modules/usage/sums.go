package usage

import (
	"sync"
	"time"
)

const (
	// sumEvery is how long sums grow before they are written.
	sumEvery = time.Minute
	// maxSums is the most sums of a minute; further ones are counted without a tenant.
	maxSums = 10_000
	// accountSums is the most sums of one account in a minute, which may have any number of
	// session keys; further ones are counted without a key.
	accountSums = 200
)

// sums counts events that are not worth a row each: those of no tenant, and refusals
// beyond an account's rate. So what strangers and runaway clients ask for costs the
// database a row a minute, operation and status, however often they ask.
type sums struct {
	mu     sync.Mutex
	counts map[sumKey]int64
	owned  map[int64]int // sums by account
}

type sumKey struct {
	accountID, keyID int64
	op, status       string
}

// add counts an event. first says that the sums begin with it. alone says that the event is
// to be written as a row of its own instead: the first of a tenant's in each minute, which so
// shows at once.
func (s *sums) add(e event) (alone, first bool) {
	key := sumKey{e.accountID, e.keyID, e.op, e.status}
	s.mu.Lock()
	defer s.mu.Unlock()
	first = len(s.counts) == 0
	count, known := s.counts[key]
	if !known && key.accountID != 0 && s.owned[key.accountID] >= accountSums {
		key.keyID = 0
		s.counts[key]++
		return false, first
	}
	if !known && len(s.counts) >= maxSums {
		key, known = sumKey{op: e.op, status: e.status}, true
		count = s.counts[key]
	}
	if !known && key.accountID != 0 {
		s.counts[key] = 0
		if s.owned == nil {
			s.owned = map[int64]int{}
		}
		s.owned[key.accountID]++
		return true, first
	}
	s.counts[key] = count + 1
	return false, first
}

// take returns the sums, which start again.
func (s *sums) take() map[sumKey]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.counts
	s.counts, s.owned = map[sumKey]int64{}, nil
	return taken
}
