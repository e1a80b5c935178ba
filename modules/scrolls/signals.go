package scrolls

import (
	"context"
	"sync"
)

// signals tells watchers of this process that a scroll changed, and a worker of
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
