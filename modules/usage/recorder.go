package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/door"
	"github.com/scrollery/scrollery/modules/store"
)

var errStopped = errors.New("the usage recorder has stopped")

// Recorder writes usage events by group commit. A single writer takes whatever
// is waiting, writes it in one transaction and then releases the callers, while
// the next group gathers. There is no timer: a lone event is written at once,
// and under load the groups grow by themselves. Nothing that Record has returned
// nil for is lost.
type Recorder struct {
	rows rows
	cfg  Config
	log  *slog.Logger

	mu        sync.Mutex
	gathering *group
	started   bool
	stopped   bool

	wake chan struct{} // the writer has something to look at
	done chan struct{} // the writer has ended
}

// group is what is written together.
type group struct {
	events    []event
	committed chan struct{} // closed once err is set
	err       error
}

// event is a row of the usage events; accountID and keyID are 0 for nobody.
type event struct {
	accountID, keyID int64
	op, status       string
	units            int64
	at               time.Time
}

func newGroup(room int) *group {
	return &group{events: make([]event, 0, room), committed: make(chan struct{})}
}

// NewRecorder returns a recorder that writes once it is started.
func NewRecorder(db *store.DB, cfg Config, log *slog.Logger) *Recorder {
	return &Recorder{
		rows: rows{db}, cfg: cfg, log: log, gathering: newGroup(8),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// Start starts the writer. It is called once.
func (r *Recorder) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.stopped {
		return
	}
	r.started = true
	go r.run()
}

// Stop refuses new events and returns once the waiting ones are written, or when
// the context ends.
func (r *Recorder) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopped = true
	started := r.started
	r.mu.Unlock()
	if !started {
		return nil
	}
	r.nudge()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the usage recorder: %w", ctx.Err())
	}
}

// Record returns once the event is durable. When the context ends first, the
// event may still be written. While the queue is full, it waits for room.
func (r *Recorder) Record(ctx context.Context, e door.Event) error {
	row := event{op: e.Op, status: e.Status, units: int64(e.Units), at: e.At}
	if e.Viewer != nil {
		row.accountID, row.keyID = e.Viewer.AccountID, e.Viewer.KeyID
	}
	for {
		joined, in, err := r.join(row)
		if err != nil {
			return err
		}
		select {
		case <-joined.committed:
			if in {
				return joined.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// join puts the event into the gathering group. in is false where it is full.
func (r *Recorder) join(row event) (joined *group, in bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, false, errStopped
	}
	joined = r.gathering
	if len(joined.events) >= r.cfg.GroupSize {
		return joined, false, nil
	}
	joined.events = append(joined.events, row)
	if len(joined.events) == 1 {
		r.nudge()
	}
	return joined, true, nil
}

func (r *Recorder) nudge() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run writes group after group until it is stopped and none is left.
func (r *Recorder) run() {
	defer close(r.done)
	for range r.wake {
		for {
			taken, stopped := r.take()
			if taken != nil {
				r.commit(taken)
				continue
			}
			if stopped {
				return
			}
			break
		}
	}
}

// take ends the gathering of a group, nil where nobody waits.
func (r *Recorder) take() (taken *group, stopped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.gathering.events) == 0 {
		return nil, r.stopped
	}
	taken = r.gathering
	r.gathering = newGroup(min(2*len(taken.events), r.cfg.GroupSize))
	return taken, r.stopped
}

// commit writes a group on nobody's behalf: a caller that leaves takes no other
// caller's event along.
func (r *Recorder) commit(taken *group) {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.CommitTimeout)
	defer cancel()
	if err := r.rows.add(ctx, taken.events); err != nil {
		taken.err = fmt.Errorf("write %d usage events: %w", len(taken.events), err)
		r.log.Error("write usage events", "count", len(taken.events), "error", err)
	}
	close(taken.committed)
}
