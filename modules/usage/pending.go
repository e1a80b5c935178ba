package usage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// pending are the events of this process that the tables may not have yet. What callers
// see of usage includes them.
type pending struct {
	mu      sync.Mutex
	batch   []event // being stored; the same ones until they are
	waiting []event
	units   map[counterKey]int64 // of both
	room    chan struct{}        // closed when a batch was stored; nil if no caller waits
	closed  bool

	// committing is closed when the commit under way has ended; nil if there is none.
	committing chan struct{}
	ended      int // commits
}

// counterKey is an account, and a day or a month.
type counterKey struct {
	accountID int64
	day       int
}

// add takes an event. first says that it waits for the next batch as the first one. While
// there is no room, full is what is closed when there may be.
func (p *pending) add(e event) (first bool, full <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false, nil, errStopped
	}
	if len(p.batch)+len(p.waiting) >= maxPending {
		if p.room == nil {
			p.room = make(chan struct{})
		}
		return false, p.room, nil
	}
	p.waiting = append(p.waiting, e)
	p.tally([]event{e}, 1)
	return len(p.waiting) == 1, nil, nil
}

// tally adds what events cost to the units, or takes it away.
func (p *pending) tally(events []event, sign int64) {
	for _, c := range countersOf(events) {
		if p.units[c.counterKey] += sign * c.units; p.units[c.counterKey] == 0 {
			delete(p.units, c.counterKey)
		}
	}
}

// close refuses further events.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// stopped reports whether further events are refused.
func (p *pending) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// count returns how many events there are.
func (p *pending) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.batch) + len(p.waiting)
}

// next returns the batch to be stored: at most limit events, none if there are none.
func (p *pending) next(limit int) []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.batch) == 0 {
		n := min(limit, len(p.waiting))
		p.batch = slices.Clip(p.waiting[:n])
		if p.waiting = p.waiting[n:]; len(p.waiting) == 0 {
			p.waiting = nil
		}
	}
	return p.batch
}

// commits says that the batch is about to be committed.
func (p *pending) commits() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.committing == nil {
		p.committing = make(chan struct{})
	}
}

// committed ends the commit. A batch that is stored is forgotten.
func (p *pending) committed(stored bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stored {
		p.tally(p.batch, -1)
		p.batch = nil
		if p.room != nil {
			close(p.room)
			p.room = nil
		}
	}
	if p.committing != nil {
		close(p.committing)
		p.committing = nil
		p.ended++
	}
}

// spent returns the units that the tables may not have yet.
func (p *pending) spent(account int64, at time.Time) Spent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spentLocked(account, at)
}

func (p *pending) spentLocked(account int64, at time.Time) Spent {
	return Spent{Daily: p.units[counterKey{account, Day(at)}], Monthly: p.units[counterKey{account, Month(at)}]}
}

// exactly returns what an account has spent: what read finds in the tables, and what they
// do not have yet. It reads again if a batch was committed meanwhile, which read may have
// seen or not.
func (p *pending) exactly(ctx context.Context, account int64, at time.Time, read func() (Spent, error)) (Spent, error) {
	for {
		p.mu.Lock()
		busy, ended := p.committing, p.ended
		p.mu.Unlock()
		if busy != nil {
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return Spent{}, ctx.Err()
			}
		}
		found, err := read()
		if err != nil {
			return Spent{}, err
		}
		p.mu.Lock()
		still, waiting := p.committing == nil && p.ended == ended, p.spentLocked(account, at)
		p.mu.Unlock()
		if still {
			return Spent{Daily: found.Daily + waiting.Daily, Monthly: found.Monthly + waiting.Monthly}, nil
		}
	}
}

// of returns the newest events of a key below an id, at most limit, newest first.
func (p *pending) of(accountID, keyID, before int64, limit int) (found []event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, events := range [][]event{p.batch, p.waiting} {
		for _, e := range events {
			if e.accountID == accountID && e.keyID == keyID && e.id < before {
				found = append(found, e)
			}
		}
	}
	slices.SortFunc(found, func(a, b event) int { return cmp.Compare(b.id, a.id) })
	return found[:min(len(found), limit)]
}
