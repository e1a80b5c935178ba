// Package fair shares a fixed number of places among tenants.
//
// Of the tenants that wait, the one with the fewest places goes first, and of equals the one
// that was given its last place the longest ago: a long queue gains a tenant nothing. A tenant has at most half of the places, also while no one else
// wants one: the next tenant would have to wait for the end of its long work. Of n tenants
// that have or want places, each has at most ⌈places/n⌉.
package fair

import (
	"context"
	"slices"
	"sync"
)

// Places are the places of one process. They are safe for concurrent use.
type Places struct {
	mu      sync.Mutex
	total   int
	each    int // the most of one tenant
	free    int
	taken   map[int64]int
	given   int64           // how many places were given so far
	last    map[int64]int64 // the number of a tenant's last one, as long as it has or wants any
	waiting []*waiter       // in the order of their arrival
}

type waiter struct {
	tenant int64
	enter  chan struct{} // closed when the place is theirs
}

// New returns so many free places, at least one.
func New(total int) *Places {
	total = max(total, 1)
	return &Places{total: total, each: max(total/2, 1), free: total, taken: map[int64]int{}, last: map[int64]int64{}}
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

// StepAside gives back what the context's Aside does, for one who is about to wait for long; back
// takes it again. It does nothing for a context without one.
func StepAside(ctx context.Context) (back func()) {
	if aside, ok := ctx.Value(AsideKey{}).(Aside); ok {
		return aside()
	}
	return func() {}
}

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
	defer StepAside(ctx)()
	select {
	case <-w.enter:
		return leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(p.waiting, w)
	if at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
		p.forget(tenant)
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
		p.forget(tenant)
	}
	p.assign()
}

// forget drops the turn of a tenant that neither has nor wants a place. p.mu is held.
func (p *Places) forget(tenant int64) {
	if p.taken[tenant] == 0 && !slices.ContainsFunc(p.waiting, func(w *waiter) bool { return w.tenant == tenant }) {
		delete(p.last, tenant)
	}
}

// share is the most places of a tenant at the moment. p.mu is held.
func (p *Places) share() int {
	tenants := len(p.taken)
	for i, w := range p.waiting {
		first := !slices.ContainsFunc(p.waiting[:i], func(other *waiter) bool { return other.tenant == w.tenant })
		if first && p.taken[w.tenant] == 0 {
			tenants++
		}
	}
	tenants = max(tenants, 1)
	return min(p.each, (p.total+tenants-1)/tenants)
}

// assign gives free places to those who wait. p.mu is held.
func (p *Places) assign() {
	for p.free > 0 {
		next, most := -1, p.share()
		for i, w := range p.waiting {
			if p.taken[w.tenant] < most && (next < 0 || p.before(w.tenant, p.waiting[next].tenant)) {
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
		p.given++
		p.last[w.tenant] = p.given
		close(w.enter)
	}
}

// before reports whether a tenant goes before another one, whatever the order in which they
// came. p.mu is held.
func (p *Places) before(tenant, other int64) bool {
	if p.taken[tenant] != p.taken[other] {
		return p.taken[tenant] < p.taken[other]
	}
	return p.last[tenant] < p.last[other]
}
