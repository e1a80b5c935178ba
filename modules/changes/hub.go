package changes

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// pollEvery is how soon a waiting reader sees the changes that another process made;
	// those of its own process wake it at once.
	pollEvery = 500 * time.Millisecond
	// pollTimeout bounds one look, which the next one repeats.
	pollTimeout = 10 * time.Second
	// headsAtOnce bounds the accounts of one statement.
	headsAtOnce = 500
)

// hub wakes readers that wait. It only says that it is worth looking: what has changed,
// and whether, a reader finds out for itself.
type hub struct {
	heads    func(ctx context.Context, accounts []int64) (map[int64]int64, error)
	unlisten func()

	mu       sync.Mutex
	watchers map[int64]map[chan struct{}]bool
	seen     map[int64]int64 // account → the last number that was found
	polling  bool
	closed   bool
}

func newHub(heads func(context.Context, []int64) (map[int64]int64, error)) *hub {
	return &hub{heads: heads, unlisten: func() {}, watchers: map[int64]map[chan struct{}]bool{}, seen: map[int64]int64{}}
}

func (h *hub) close() {
	h.unlisten()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

// watch returns a channel that holds at most one unread word of change.
func (h *hub) watch(account int64) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[account] == nil {
		h.watchers[account] = map[chan struct{}]bool{}
	}
	h.watchers[account][ch] = true
	if !h.polling && !h.closed {
		h.polling = true
		go h.poll()
	}
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if delete(h.watchers[account], ch); len(h.watchers[account]) == 0 {
			delete(h.watchers, account)
			delete(h.seen, account)
		}
	}
}

// wake wakes the readers of an account.
func (h *hub) wake(account int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.watchers[account] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// poll looks for the changes of other processes, while there are readers.
func (h *hub) poll() {
	for {
		time.Sleep(pollEvery)
		accounts := h.waiting()
		if accounts == nil {
			return
		}
		for part := range slices.Chunk(accounts, headsAtOnce) {
			ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
			heads, err := h.heads(ctx, part)
			cancel()
			if err != nil {
				break // readers look for themselves, and report it
			}
			for account, head := range heads {
				if h.isNew(account, head) {
					h.wake(account)
				}
			}
		}
	}
}

// waiting returns the accounts with readers; nil ends the polling.
func (h *hub) waiting() (accounts []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.polling = len(h.watchers) > 0 && !h.closed; !h.polling {
		return nil
	}
	for account := range h.watchers {
		accounts = append(accounts, account)
	}
	return accounts
}

func (h *hub) isNew(account, head int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[account] == nil {
		return false
	}
	last, known := h.seen[account]
	h.seen[account] = head
	return !known || last != head
}
