package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

var errStopped = errors.New("the usage recorder has stopped")

// Recorder writes usage events by group commit. One at a time writes: a caller
// who finds no write under way writes itself, at no cost of a handover; those who
// come meanwhile gather, and the recorder's own goroutine writes them together while the
// next group gathers. There is no timer: a lone event is written at once, and under load
// the groups grow by themselves. Nothing that Record has returned nil for is lost. A group
// is one statement on PostgreSQL, and an entry of the journal on SQLite.
type Recorder struct {
	rows   rows
	folder *folder // nil on PostgreSQL
	cfg    Config
	log    *slog.Logger

	mu        sync.Mutex
	gathering *group
	writing   bool // a caller or the writer writes
	started   bool
	stopped   bool

	wake chan struct{} // the writer has something to look at
	done chan struct{} // the writer has ended

	sums   sums
	halt   chan struct{} // ends the writer of sums
	summed chan struct{} // it has ended
}

// group is what is written together.
type group struct {
	events    []event
	committed chan struct{} // closed once err is set
	err       error
}

// event is a row of the usage events; accountID and keyID are 0 without a key.
type event struct {
	id, accountID, keyID int64
	op, status           string
	units                int64
	at                   time.Time
	ask                  *ask // nil: the event is stored in any case
}

func newGroup(room int) *group {
	return &group{events: make([]event, 0, room), committed: make(chan struct{})}
}

// NewRecorder returns a recorder that writes once it is started.
func NewRecorder(db *store.DB, cfg Config, pending *Pending, log *slog.Logger) *Recorder {
	r := &Recorder{
		rows: newRows(db, pending).at(cfg.Revisions), cfg: cfg, log: log, gathering: newGroup(8),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		sums: sums{counts: map[sumKey]int64{}}, halt: make(chan struct{}), summed: make(chan struct{}),
	}
	if db.Dialect() == store.SQLite {
		r.folder = newFolder(r.rows, cfg, pending, log)
	}
	return r
}

// Start stores what a killed process left in its journal, and starts the writer. It is
// called once.
func (r *Recorder) Start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.stopped {
		return nil
	}
	if r.folder != nil {
		if err := r.folder.start(); err != nil {
			return fmt.Errorf("start the usage recorder: %w", err)
		}
	}
	r.started = true
	go r.run()
	go r.sum()
	return nil
}

// Check returns why no event can be written, nil where it can. PostgreSQL is checked by
// others.
func (r *Recorder) Check() error {
	if r.folder == nil {
		return nil
	}
	return r.folder.check()
}

// Stop refuses new events and returns once the waiting ones are written, or when
// the context ends.
func (r *Recorder) Stop(ctx context.Context) error {
	r.mu.Lock()
	first := !r.stopped
	r.stopped = true
	started := r.started
	r.mu.Unlock()
	if !started {
		return nil
	}
	if first {
		close(r.halt)
	}
	r.nudge()
	for _, ended := range []chan struct{}{r.done, r.summed} {
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("stop the usage recorder: %w", ctx.Err())
		}
	}
	if first && r.folder != nil {
		if err := r.folder.stop(ctx); err != nil {
			return fmt.Errorf("stop the usage recorder: %w", err)
		}
	}
	return nil
}

// Record returns once the event is durable. When the context ends first, the
// event may still be written. While the queue is full, it waits for a place. An event of
// no tenant, or beyond an account's rate, only adds to a sum of its minute; a kill loses
// the sums of the present minute.
func (r *Recorder) Record(ctx context.Context, e api.Event) error {
	row := rowOf(e)
	if (row.accountID == 0 || e.OverRate) && !r.sums.add(row) {
		return nil
	}
	return r.store(ctx, row)
}

// store writes one event, alone or with others.
func (r *Recorder) store(ctx context.Context, row event) error {
	if ctx.Done() == nil && r.begin() { // who may leave cannot be the one who writes
		defer r.end()
		return row.ask.of(r.write([]event{row}))
	}
	out, refused, stop := row.ask.impatience()
	defer stop()
	for {
		joined, in, err := r.join(row)
		if err != nil {
			return err
		}
		select {
		case <-joined.committed:
		case <-refused:
			return row.ask.err
		case <-ctx.Done():
			return ctx.Err()
		case <-out:
			if !in || r.leave(joined, row.ask) {
				return apierr.Busy(errNoTurn)
			}
			select { // it is being written
			case <-joined.committed:
			case <-refused:
				return row.ask.err
			}
		}
		if in {
			return row.ask.of(joined.err)
		}
	}
}

// begin lets one caller write where no one writes or waits.
func (r *Recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing || !r.started || r.stopped || len(r.gathering.events) > 0 {
		return false
	}
	r.writing = true
	return true
}

// end has the writer look at what gathered meanwhile.
func (r *Recorder) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = false
	if r.stopped || len(r.gathering.events) > 0 {
		r.nudge()
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
				taken.err = r.write(taken.events)
				close(taken.committed)
				r.end()
				continue
			}
			if stopped {
				return
			}
			break
		}
	}
}

// take ends the gathering of a group, nil where no one waits, or another caller
// writes, which wakes the writer when it is done.
func (r *Recorder) take() (taken *group, stopped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing {
		return nil, false
	}
	if len(r.gathering.events) == 0 {
		return nil, r.stopped
	}
	taken, r.writing = r.gathering, true
	r.gathering = newGroup(min(2*len(taken.events), r.cfg.GroupSize))
	return taken, r.stopped
}

// write writes events on no caller's behalf: a caller that leaves takes no other
// caller's event along. Callers who ask have patience; where that ends, the other events
// are written without theirs.
func (r *Recorder) write(events []event) error {
	add := r.rows.insert
	if r.folder != nil {
		add = r.folder.add
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.CommitTimeout)
	defer cancel()
	err := add(impatient(ctx, events), events)
	if apierr.IsBusy(err) {
		others := refuseAsks(events, err)
		if len(others) == 0 {
			return err // the lines of the calls log it
		}
		if len(others) < len(events) {
			events, err = others, add(ctx, others)
		}
	}
	if err != nil {
		r.log.Error("write usage events", "count", len(events), "error", err)
		return fmt.Errorf("write %d usage events: %w", len(events), err)
	}
	if n := storedOf(events); n > 0 && r.cfg.Observe != nil {
		r.cfg.Observe(n)
	}
	return nil
}
