package fair

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// enter takes a place in the background and appends the tenant to order once it has it.
type order struct {
	mu     sync.Mutex
	got    []int64
	leaves map[int64][]func()
}

func (o *order) enter(t *testing.T, p *Places, tenant int64) {
	go func() {
		leave, err := p.Enter(t.Context(), tenant)
		if err != nil {
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.got = append(o.got, tenant)
		o.leaves[tenant] = append(o.leaves[tenant], leave)
	}()
	synctest.Wait()
}

func (o *order) leave(tenant int64) {
	o.mu.Lock()
	leave := o.leaves[tenant][0]
	o.leaves[tenant] = o.leaves[tenant][1:]
	o.mu.Unlock()
	leave()
	leave() // a second call changes nothing
	synctest.Wait()
}

func (o *order) want(t *testing.T, tenants ...int64) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(tenants, o.got); diff != "" {
		t.Error("tenants in the order of their places (-want +got):\n" + diff)
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(t *testing.T, o *order){
		"a tenant has at most half, however many others come": func(t *testing.T, o *order) {
			p := New(4)
			for range 5 {
				o.enter(t, p, 1)
			}
			o.want(t, 1, 1)
			o.enter(t, p, 2)
			o.enter(t, p, 3)
			o.want(t, 1, 1, 2, 3)
			o.leave(2) // no other tenant may take it
			o.want(t, 1, 1, 2, 3)
		},
		"the tenant with the fewest places goes first": func(t *testing.T, o *order) {
			p := New(2)
			o.enter(t, p, 1)
			o.enter(t, p, 2)
			o.enter(t, p, 1)
			o.enter(t, p, 2)
			o.enter(t, p, 3)
			o.leave(1) // 1 and 3 have none now; 1 has waited longer, and had one before
			o.want(t, 1, 2, 3)
			o.leave(2)
			o.want(t, 1, 2, 3, 1)
			o.leave(3)
			o.want(t, 1, 2, 3, 1, 2)
		},
		"the queues of two keep no third one waiting": func(t *testing.T, o *order) {
			p := NewEach(2, 1)
			for range 5 {
				o.enter(t, p, 1)
				o.enter(t, p, 2)
			}
			o.enter(t, p, 3)
			o.leave(2)
			o.want(t, 1, 2, 3)
			o.leave(3)
			o.leave(1)
			o.enter(t, p, 3) // as if it had never had one
			o.leave(2)
			o.want(t, 1, 2, 3, 2, 1, 3)
		},
		"of several tenants each has its share, rounded up": func(t *testing.T, o *order) {
			p := New(8)
			for tenant := range int64(3) {
				o.enter(t, p, tenant+1)
			}
			for range 3 {
				o.enter(t, p, 1)
			}
			o.want(t, 1, 2, 3, 1, 1) // three of eight; the fourth would be half of them
			o.leave(2)
			o.leave(3) // alone again, it has half
			o.want(t, 1, 2, 3, 1, 1, 1)
		},
		"a tenant has no more than its own places": func(t *testing.T, o *order) {
			p := NewEach(4, 1)
			for range 3 {
				o.enter(t, p, 1)
			}
			o.enter(t, p, 2)
			o.want(t, 1, 2)
			o.leave(1)
			o.want(t, 1, 2, 1)
		},
		"a single place serves one after another": func(t *testing.T, o *order) {
			p := New(0)
			o.enter(t, p, 1)
			o.enter(t, p, 1)
			o.want(t, 1)
			o.leave(1)
			o.want(t, 1, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, &order{leaves: map[int64][]func(){}}) })
		})
	}
}

func TestAWaitThatEndsTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(1)
		leave, err := p.Enter(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, late)
		defer cancel()
		if _, err := p.Enter(ctx, 2); !errors.Is(err, late) {
			t.Errorf("got %v, want %v", err, late)
		}
		leave()
		if leave, err = p.Enter(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		leave()
	})
}

func TestNoPlaceIsLostOrGivenTwice(t *testing.T) {
	t.Parallel()
	const total = 3
	p := New(total)
	var mu sync.Mutex
	inside, most := 0, 0
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(20))*time.Millisecond)
			defer cancel()
			leave, err := p.Enter(ctx, rand.Int64N(4))
			if err != nil {
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			<-time.After(time.Duration(rand.IntN(3)) * time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			leave()
		})
	}
	group.Wait()
	if most > total || p.free != total || len(p.taken) != 0 || len(p.last) != 0 || len(p.waiting) != 0 {
		t.Errorf("got at most %d inside, then %d free, %d taken, %d waiting; want at most %d, then %d, 0, 0",
			most, p.free, len(p.taken), len(p.waiting), total, total)
	}
}
