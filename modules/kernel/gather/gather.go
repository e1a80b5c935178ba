// Package gather answers callers who look up the same kind of thing at the same time
// with one query.
package gather

import (
	"context"
	"slices"
	"sync"
	"time"
)

// timeout bounds one query.
const timeout = 10 * time.Second

// Lookups finds values by keys. One query runs at a time; who comes meanwhile waits for
// the next one, which begins after they came: so each caller sees everything that was
// committed before the call. It is safe for concurrent use.
type Lookups[K comparable, V any] struct {
	find func(ctx context.Context, keys []K) (map[K]V, error)

	mu      sync.Mutex
	running bool
	next    *group[K, V]
}

// group is what is found together.
type group[K comparable, V any] struct {
	ctx   context.Context // of the first caller, without its end
	keys  []K
	done  chan struct{} // closed once found and err are set
	found map[K]V
	err   error
}

// New returns lookups by find, which gets each key once. A key that it does not find has
// the zero value.
func New[K comparable, V any](find func(ctx context.Context, keys []K) (map[K]V, error)) *Lookups[K, V] {
	return &Lookups[K, V]{find: find}
}

// Get returns the value of a key. A caller that leaves takes no other caller's answer
// along.
func (l *Lookups[K, V]) Get(ctx context.Context, key K) (value V, err error) {
	l.mu.Lock()
	if !l.running {
		l.running = true
		l.mu.Unlock()
		defer l.end()
		alone := &group[K, V]{ctx: context.WithoutCancel(ctx), keys: []K{key}}
		l.run(alone)
		return alone.found[key], alone.err
	}
	if l.next == nil {
		l.next = &group[K, V]{ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
	}
	joined := l.next
	if !slices.Contains(joined.keys, key) {
		joined.keys = append(joined.keys, key)
	}
	l.mu.Unlock()
	select {
	case <-joined.done:
		return joined.found[key], joined.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

func (l *Lookups[K, V]) run(g *group[K, V]) {
	ctx, cancel := context.WithTimeout(g.ctx, timeout)
	defer cancel()
	g.found, g.err = l.find(ctx, g.keys)
}

// end has those answered who came meanwhile.
func (l *Lookups[K, V]) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.next
	l.next = nil
	if l.running = g != nil; g == nil {
		return
	}
	go func() {
		defer l.end()
		defer close(g.done)
		l.run(g)
	}()
}
