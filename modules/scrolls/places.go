package scrolls

import (
	"context"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/fair"
)

// opened is how many scrolls one process has begun, for each that may work: the others wait
// for a platform. A tenant has at most a quarter of them, so that a few with slow scrolls
// leave some to others.
const opened = 4

// place is what a scroll holds while it works, and gives to others while it waits. The nil
// place, of a command's import, is there always.
type place struct {
	places  *fair.Places
	account int64

	mu    sync.Mutex
	leave func() // nil while it has none
}

// enter waits for the place. It fails with the cause of the context's end.
func (p *place) enter(ctx context.Context) error {
	if p == nil {
		return nil
	}
	leave, err := p.places.Enter(ctx, p.account)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave = leave
	return nil
}

// rest gives the place to others until enter.
func (p *place) rest() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leave != nil {
		p.leave()
		p.leave = nil
	}
}

// yield lets those go first that wait.
func (p *place) yield(ctx context.Context) error {
	p.rest()
	return p.enter(ctx)
}

// busy works beside others of the same scroll that came to something to do while it rests.
func (p *place) busy(ctx context.Context, do func() error) error {
	if p == nil {
		return do()
	}
	leave, err := p.places.Enter(ctx, p.account)
	if err != nil {
		return err
	}
	defer leave()
	return do()
}
