package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// History is the part of the module that other modules need: it needs none of them.
type History struct {
	db      *store.DB
	signals *signals
	hot     hot
	now     func() time.Time
	// observer is the service's; noObserver until there is one.
	observer Observer
}

// NewHistory returns the module's history. A process has one.
func NewHistory(db *store.DB) *History {
	return &History{db: db, signals: newSignals(), hot: newHot(db), now: time.Now, observer: noObserver{}}
}

// errCancelled is why a worker stops whose scroll was cancelled.
var errCancelled = errors.New("the scroll was cancelled")

// Completed counts the tenant's completed scrolls of a subject.
func (h *History) Completed(ctx context.Context, subject string) (total int, err error) {
	total, _, err = store.One[int](ctx, h.hot.counted, subject)
	if err != nil {
		return 0, fmt.Errorf("count completed scrolls: %w", err)
	}
	return total, nil
}

// CompletedOf returns those of the tenant's scrolls that are completed, in any order.
func (h *History) CompletedOf(ctx context.Context, scrollIDs []int64) ([]int64, error) {
	var completed []int64
	for part := range slices.Chunk(scrollIDs, 500) {
		ids, err := completedOf(ctx, h.db, part)
		if err != nil {
			return nil, fmt.Errorf("completed scrolls: %w", err)
		}
		completed = append(completed, ids...)
	}
	return completed, nil
}

// SubjectOf returns the canonicalId that a scroll of the tenant works for; found is false if the
// scroll is gone.
func (h *History) SubjectOf(ctx context.Context, scrollID int64) (subject string, found bool, err error) {
	subject, found, err = subjectOf(ctx, h.db, scrollID)
	if err != nil {
		return "", false, fmt.Errorf("subject of scroll %s: %w", publicid.Format(publicid.Scroll, scrollID), err)
	}
	return subject, found, nil
}

// CancelSubject cancels the tenant's active scrolls of a subject, of any if it is empty, with the
// transaction.
func (h *History) CancelSubject(ctx context.Context, tx *store.Tx, subject string) error {
	if account, _, ok := viewer.Tenant(ctx); !ok || account == 0 {
		return errors.New("cancel scrolls: no tenant in the context")
	}
	ids, err := activeOf(ctx, tx, subject)
	if err != nil {
		return fmt.Errorf("cancel scrolls of %q: %w", subject, err)
	}
	for _, id := range ids {
		if err := h.cancel(ctx, tx, id); err != nil {
			return fmt.Errorf("cancel scroll %s: %w", publicid.Format(publicid.Scroll, id), err)
		}
	}
	return nil
}

// cancel ends a scroll that has not ended; the commit stops its worker.
func (h *History) cancel(ctx context.Context, tx *store.Tx, id int64) error {
	done, err := h.hot.cancelRow(ctx, tx, id, h.now().UnixMilli())
	if err != nil || !done {
		return err
	}
	tx.AfterCommit(func() {
		h.signals.cancel(id, errCancelled)
		h.signals.changed(id)
		h.observer.Ended(Cancelled)
	})
	return nil
}

// signals notifies watchers in this process that a scroll changed, and a worker of
// this process that its scroll was taken away. Other processes find out by looking.
type signals struct {
	mu       sync.Mutex
	watchers map[int64]map[chan struct{}]bool
	workers  map[int64]context.CancelCauseFunc
}

func newSignals() *signals {
	return &signals{watchers: map[int64]map[chan struct{}]bool{}, workers: map[int64]context.CancelCauseFunc{}}
}

// watch returns a channel that holds at most one unread word of change.
func (s *signals) watch(scroll int64) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers[scroll] == nil {
		s.watchers[scroll] = map[chan struct{}]bool{}
	}
	s.watchers[scroll][ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.watchers[scroll], ch); len(s.watchers[scroll]) == 0 {
			delete(s.watchers, scroll)
		}
	}
}

// changed wakes the watchers of a scroll.
func (s *signals) changed(scroll int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.watchers[scroll] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// begin enters a worker; ok is false while this process has one for the scroll.
func (s *signals) begin(scroll int64, cancel context.CancelCauseFunc) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers[scroll] != nil {
		return nil, false
	}
	s.workers[scroll] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.workers, scroll)
	}, true
}

// cancel stops the worker of a scroll, if it is one of this process.
func (s *signals) cancel(scroll int64, cause error) {
	s.mu.Lock()
	stop := s.workers[scroll]
	s.mu.Unlock()
	if stop != nil {
		stop(cause)
	}
}
