// Package fair shares a fixed number of places among tenants.
//
// Of the tenants that wait, the one with the fewest places goes first; the longer wait
// decides between equals. A tenant has at most half of the places, also while no one else
// wants one: who comes next would have to wait for the end of its long work.
package fair

import (
	"context"
	"slices"
	"sync"
)

// Places are the places of one process. They are safe for concurrent use.
type Places struct {
	mu      sync.Mutex
	each    int // the most of one tenant
	free    int
	taken   map[int64]int
	waiting []*waiter // in the order of their arrival
}

type waiter struct {
	tenant int64
	enter  chan struct{} // closed when the place is theirs
}

// New returns so many free places, at least one.
func New(total int) *Places {
	total = max(total, 1)
	return &Places{each: max(total/2, 1), free: total, taken: map[int64]int{}}
}

// NewEach returns so many free places, at least one, of which a tenant has at most each.
func NewEach(total, each int) *Places {
	p := New(total)
	p.each = each
	return p
}

// Aside is a value of a context by which who has to wait gives back what others want
// meanwhile; back takes it again.
type Aside func() (back func())

// AsideKey is the key of an Aside.
type AsideKey struct{}

// Enter waits for a place and returns the function that gives it back, to be called
// once. It fails with the cause of the context's end.
func (p *Places) Enter(ctx context.Context, tenant int64) (leave func(), err error) {
	w := &waiter{tenant: tenant, enter: make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, w)
	p.assign()
	p.mu.Unlock()
	leave = sync.OnceFunc(func() { p.leave(tenant) })
	select {
	case <-w.enter:
		return leave, nil
	default:
	}
	if aside, ok := ctx.Value(AsideKey{}).(Aside); ok {
		defer aside()()
	}
	select {
	case <-w.enter:
		return leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, w)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 {
		leave() // the place came together with the end
	}
	return nil, context.Cause(ctx)
}

func (p *Places) leave(tenant int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.taken[tenant]--; p.taken[tenant] == 0 {
		delete(p.taken, tenant)
	}
	p.assign()
}

// assign gives free places to those who wait. p.mu is held.
func (p *Places) assign() {
	for p.free > 0 {
		next := -1
		for i, w := range p.waiting {
			if p.taken[w.tenant] < p.each && (next < 0 || p.taken[w.tenant] < p.taken[p.waiting[next].tenant]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.free--
		p.taken[w.tenant]++
		close(w.enter)
	}
}
