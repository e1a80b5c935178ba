package warm

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// process is a fake one.
type process struct {
	number int
	ended  chan struct{}
	stops  int
}

func (p *process) Ended() <-chan struct{} { return p.ended }
func (p *process) Stop()                  { p.stops++ }

// factory makes fakes.
type factory struct {
	made []*process
	fail error
	slow time.Duration
}

func (f *factory) start(context.Context) (*process, error) {
	time.Sleep(f.slow)
	if f.fail != nil {
		return nil, f.fail
	}
	p := &process{number: len(f.made), ended: make(chan struct{})}
	f.made = append(f.made, p)
	return p, nil
}

const (
	quiet = time.Second
	rest  = time.Minute
)

// use is one user that takes a process, or has none.
func use(p *Pool[*process], f *factory, key string) (got int) {
	defer p.Begin()()
	one, ok := p.Take(key, f.start)
	if !ok {
		return -1
	}
	return one.number
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantKept(t *testing.T, p *Pool[*process], want ...int) {
	t.Helper()
	var got []int
	for _, one := range p.Kept() {
		got = append(got, one.number)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func wantStops(t *testing.T, f *factory, want ...int) {
	t.Helper()
	var got []int
	for _, one := range f.made {
		got = append(got, one.stops)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stops of each process (-want +got):\n%s", diff)
	}
}

func TestPool(t *testing.T) {
	var failed []error
	for name, test := range map[string]func(*testing.T, *Pool[*process], *factory){
		"nothing is started before the first user": func(t *testing.T, p *Pool[*process], f *factory) {
			p.Begin()()
			pass(rest)
			wantKept(t, p)
		},
		"after a quiet time it is filled": func(t *testing.T, p *Pool[*process], f *factory) {
			if got := use(p, f, "a"); got != -1 {
				t.Errorf("got process %d of an empty pool, want -1", got)
			}
			pass(quiet / 2)
			wantKept(t, p)
			pass(quiet / 2)
			wantKept(t, p, 0, 1)
		},
		"nothing is started while there is a user": func(t *testing.T, p *Pool[*process], f *factory) {
			end := p.Begin()
			use(p, f, "a")
			pass(rest)
			wantKept(t, p)
			end()
			pass(quiet)
			wantKept(t, p, 0, 1)
		},
		"each is taken once": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet)
			end := p.Begin()
			got := []int{use(p, f, "a"), use(p, f, "a"), use(p, f, "a")}
			if diff := cmp.Diff([]int{0, 1, -1}, got); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			end()
			pass(quiet)
			wantKept(t, p, 2, 3)
			wantStops(t, f, 0, 0, 0, 0) // their takers stop them
		},
		"those of another key are stopped": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet)
			if got := use(p, f, "b"); got != -1 {
				t.Errorf("got process %d of another key, want -1", got)
			}
			pass(quiet)
			wantKept(t, p, 2, 3)
			wantStops(t, f, 1, 1, 0, 0)
		},
		"one that ended is replaced": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet)
			close(f.made[0].ended)
			pass(quiet)
			wantKept(t, p, 1, 2)
			wantStops(t, f, 1, 0, 0)
		},
		"after some ends it waits for a user": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet)
			for n := range deaths {
				close(f.made[n].ended)
				pass(quiet)
			}
			if len(f.made) != deaths+1 {
				t.Errorf("got %d starts, want %d", len(f.made), deaths+1)
			}
			use(p, f, "a")
			pass(quiet)
			if got := len(p.Kept()); got != 2 {
				t.Errorf("after the next user: %d are kept, want 2", got)
			}
		},
		"one that ended unseen is not taken": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet)
			close(f.made[0].ended)
			if got := use(p, f, "a"); got != 1 {
				t.Errorf("got process %d, want 1", got)
			}
			pass(0)
			wantStops(t, f, 1, 0)
		},
		"a start that fails is tried after the next user": func(t *testing.T, p *Pool[*process], f *factory) {
			failed, f.fail = nil, errors.New("no memory")
			use(p, f, "a")
			pass(rest)
			if len(failed) != 1 {
				t.Errorf("got %d errors, want 1", len(failed))
			}
			f.fail = nil
			use(p, f, "a")
			pass(quiet)
			wantKept(t, p, 0, 1)
		},
		"a start that takes long is not begun twice": func(t *testing.T, p *Pool[*process], f *factory) {
			f.slow = 10 * quiet
			use(p, f, "a")
			pass(2 * quiet) // the first one starts
			use(p, f, "a")
			pass(60 * quiet)
			wantKept(t, p, 0, 1)
			if len(f.made) != 2 {
				t.Errorf("got %d starts, want 2", len(f.made))
			}
		},
		"a start that fails says nothing of another key": func(t *testing.T, p *Pool[*process], f *factory) {
			failing := &factory{fail: errors.New("no memory"), slow: 10 * quiet}
			use(p, failing, "a")
			pass(2 * quiet) // it starts
			use(p, f, "b")
			pass(20 * quiet)
			wantKept(t, p, 0, 1)
		},
		"unused ones are stopped": func(t *testing.T, p *Pool[*process], f *factory) {
			use(p, f, "a")
			pass(quiet + rest)
			wantKept(t, p)
			wantStops(t, f, 1, 1)
			pass(rest)
			wantStops(t, f, 1, 1)
		},
		"closing waits for a start and stops what it brought": func(t *testing.T, p *Pool[*process], f *factory) {
			f.slow = time.Minute
			use(p, f, "a")
			pass(quiet + time.Minute + time.Second) // one is there, the other starts
			p.Close()
			wantKept(t, p)
			wantStops(t, f, 1, 1)
			use(p, f, "a")
			pass(rest)
			wantStops(t, f, 1, 1)
		},
		"without a size it keeps none": func(t *testing.T, p *Pool[*process], f *factory) {
			p.config.Size = 0
			use(p, f, "a")
			pass(quiet)
			wantKept(t, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New[*process](Config{Size: 2, Quiet: quiet, Rest: rest, Failed: func(err error) { failed = append(failed, err) }})
				defer p.Close()
				test(t, p, &factory{})
			})
		})
	}
}
