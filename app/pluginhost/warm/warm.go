// Package warm keeps a few processes that were started ahead, for callers that would wait
// for a start. It knows nothing of what the processes do. Each leaves the pool at most
// once, and none comes back.
package warm

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Process is a started process. Its owner stops it once.
type Process interface {
	// Ended is closed when the process has ended.
	Ended() <-chan struct{}
	// Stop ends the process and waits for its end.
	Stop()
}

// Config are the bounds of a pool.
type Config struct {
	// Size is the most processes that are kept; 0 turns the pool off.
	Size int
	// Quiet is how long nothing must be in use before a process is started ahead.
	Quiet time.Duration
	// Rest is how long processes are kept that are not taken.
	Rest time.Duration
	// Failed, if set, gets the error of a start. No other is tried until the next Take.
	Failed func(error)
}

// deaths is how many processes may end by themselves before the pool waits for the next
// Take.
const deaths = 3

// Pool is a pool of processes that are started in the same way. It is empty until the
// first Take, which says how. It is safe for concurrent use.
type Pool[P Process] struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	users   int
	key     string
	start   func(context.Context) (P, error) // nil where none is wanted
	kept    []*kept[P]
	takes   int
	dead    int  // ends since the last Take
	filling bool // one fill at a time
	timer   *time.Timer
}

type kept[P Process] struct {
	process P
	gone    chan struct{} // closed when it left the pool
}

// New makes an empty pool. The caller closes it.
func New[P Process](config Config) *Pool[P] {
	ctx, cancel := context.WithCancel(context.Background())
	return &Pool[P]{config: config, ctx: ctx, cancel: cancel}
}

// Begin says that a user begins, which may take processes. Nothing is started ahead
// while there is one. The returned function says that it ended; it is called once.
func (p *Pool[P]) Begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	p.after(0, nil)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.users--
		p.refill()
	}
}

// Take removes a running process from the pool, which the caller stops. It returns false
// where there is none that was started for the key. Processes of the key are kept from
// now on, and of no other; start starts one.
func (p *Pool[P]) Take(key string, start func(context.Context) (P, error)) (taken P, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.config.Size == 0 {
		return taken, false
	}
	if p.key != key {
		p.drop()
	}
	p.key, p.start, p.dead = key, start, 0
	p.takes++
	for len(p.kept) > 0 {
		one := p.kept[0]
		p.kept = p.kept[1:]
		close(one.gone)
		select {
		case <-one.process.Ended():
			p.work.Go(one.process.Stop)
		default:
			return one.process, true
		}
	}
	return taken, false
}

// Kept are the processes that wait.
func (p *Pool[P]) Kept() (all []P) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.kept {
		all = append(all, one.process)
	}
	return all
}

// Close stops all processes of the pool and waits for their end.
func (p *Pool[P]) Close() {
	p.mu.Lock()
	p.closed = true
	p.after(0, nil)
	p.drop()
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
}

// after replaces what the pool waits for. The caller holds mu, here and below.
func (p *Pool[P]) after(wait time.Duration, do func()) {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if do != nil && !p.closed {
		p.timer = time.AfterFunc(wait, do)
	}
}

// refill has the pool filled after a quiet time.
func (p *Pool[P]) refill() {
	if p.users == 0 && p.start != nil {
		p.after(p.config.Quiet, p.fill)
	}
}

// drop stops all processes, without waiting for it.
func (p *Pool[P]) drop() {
	for _, one := range p.kept {
		close(one.gone)
		p.work.Go(one.process.Stop)
	}
	p.kept = nil
}

// fill starts processes, one after another, until the pool is full or in use.
func (p *Pool[P]) fill() {
	p.mu.Lock()
	if p.closed || p.filling {
		p.mu.Unlock()
		return
	}
	p.filling = true
	p.work.Add(1)
	defer p.work.Done()
	for !p.closed && p.users == 0 && p.start != nil && len(p.kept) < p.config.Size {
		key, start, takes := p.key, p.start, p.takes
		p.mu.Unlock()
		process, err := start(p.ctx)
		p.mu.Lock()
		switch {
		case err != nil:
			if p.takes == takes {
				p.start = nil
			}
			if p.config.Failed != nil && !p.closed {
				p.config.Failed(err)
			}
		case p.closed || p.key != key:
			p.work.Go(process.Stop)
		default:
			one := &kept[P]{process, make(chan struct{})}
			p.kept = append(p.kept, one)
			p.work.Go(func() { p.watch(one) })
		}
	}
	p.filling = false
	if p.users == 0 {
		p.after(p.config.Rest, p.rest)
	}
	p.mu.Unlock()
}

// watch replaces a process that ends by itself.
func (p *Pool[P]) watch(one *kept[P]) {
	select {
	case <-one.gone:
		return
	case <-one.process.Ended():
	}
	p.mu.Lock()
	at := slices.Index(p.kept, one)
	if at >= 0 {
		p.kept = slices.Delete(p.kept, at, at+1)
		if p.dead++; p.dead >= deaths {
			p.start = nil
		}
		p.refill()
	}
	p.mu.Unlock()
	if at >= 0 {
		one.process.Stop()
	}
}

// rest empties a pool that was not used for long.
func (p *Pool[P]) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		p.drop()
		p.start = nil
	}
}
