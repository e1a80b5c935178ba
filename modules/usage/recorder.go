package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// batchEvery is how long an event waits for others. With the commit it is durable
	// within 250 ms.
	batchEvery = 150 * time.Millisecond
	// retryEvery is how long a batch that failed waits for its next try.
	retryEvery = time.Second
	// maxPending bounds the events in memory, about 10 MB. Beyond it calls wait.
	maxPending = 1 << 16
)

var (
	errStopped = errors.New("the usage recorder has stopped")
	errFull    = errors.New("as many usage events wait for the database as may")
)

// Recorder stores usage events. The event of a write goes along in the write's own
// transaction, see [Recorder.Join]; all others are stored in batches, so that a read waits
// for no disk and no writer. A killed process loses the events of reads of the last 250 ms.
// What callers see of usage includes the waiting events of this process.
type Recorder struct {
	rows rows
	cfg  Config
	log  *slog.Logger
	pending

	// storing is held while batches are stored. tried says that the present batch was sent
	// to the database before, which may have it.
	storing sync.Mutex
	tried   bool
	failed  atomic.Pointer[error] // of the last batch; nil if it was stored

	sums sums
}

// event is a row of the usage events; accountID and keyID are 0 without a key.
type event struct {
	id, accountID, keyID int64
	op, status           string
	units                int64
	at                   time.Time
}

// rowOf is the event's row, without an id.
func rowOf(e api.Event) event {
	row := event{op: e.Op, status: e.Status, units: int64(e.Units), at: e.At}
	if e.Viewer != nil {
		row.accountID, row.keyID = e.Viewer.AccountID, e.Viewer.KeyID
	}
	return row
}

// NewRecorder returns a recorder. Stop it.
func NewRecorder(db *store.DB, cfg Config, log *slog.Logger) *Recorder {
	return &Recorder{
		rows: rows{db}, cfg: cfg, log: log,
		pending: pending{units: map[counterKey]int64{}}, sums: sums{counts: map[sumKey]int64{}},
	}
}

// Record takes an event, which is durable within 250 ms. While as many wait as may, it
// waits for a place, for [Config.CommitTimeout] at most. An event of no tenant, or beyond
// an account's rate, only adds to a sum of its minute; a kill loses the sums of the present
// minute.
func (r *Recorder) Record(ctx context.Context, e api.Event) error {
	row := rowOf(e)
	if r.stopped() {
		return errStopped
	}
	if row.accountID == 0 || e.OverRate {
		alone, first := r.sums.add(row)
		if first {
			time.AfterFunc(sumEvery, r.writeSums)
		}
		if !alone {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.CommitTimeout)
	defer cancel()
	row.id = r.rows.db.NewID()
	for {
		first, full, err := r.add(row)
		if first {
			time.AfterFunc(batchEvery, r.store)
		}
		if err != nil || full == nil {
			return err
		}
		select {
		case <-full:
		case <-ctx.Done():
			return apierr.Busy(errors.Join(errFull, ctx.Err()))
		}
	}
}

// store stores what waits, on no caller's behalf. What cannot be stored is tried again.
func (r *Recorder) store() {
	if err := r.storeAll(context.Background()); err != nil {
		r.log.Error("usage events wait for the database", "error", err)
		time.AfterFunc(retryEvery, r.store)
	}
}

// storeAll stores batches until none is left, or one fails.
func (r *Recorder) storeAll(ctx context.Context) error {
	r.storing.Lock()
	defer r.storing.Unlock()
	for batch := r.next(r.cfg.GroupSize); len(batch) > 0; batch = r.next(r.cfg.GroupSize) {
		err := r.storeBatch(ctx, batch)
		if r.tried = err != nil; r.tried {
			r.failed.Store(&err)
			return err
		}
		r.failed.Store(nil)
		if r.cfg.Observe != nil {
			r.cfg.Observe(len(batch))
		}
	}
	return nil
}

// storeBatch stores events in one transaction, once: where a try before this one may have
// been committed, the database is asked for the first of them.
func (r *Recorder) storeBatch(ctx context.Context, batch []event) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.CommitTimeout)
	defer cancel()
	err := r.rows.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		stored := false
		var err error
		if r.tried {
			stored, err = r.rows.stored(ctx, tx, batch[0].id)
		}
		if err == nil && !stored {
			err = r.rows.insert(ctx, tx, batch)
		}
		if err == nil {
			r.commits()
		}
		return err
	})
	r.committed(err == nil)
	if err != nil {
		return fmt.Errorf("store %d usage events: %w", len(batch), err)
	}
	return nil
}

// Check returns why events wait for the database, nil if the last ones were stored.
func (r *Recorder) Check() error {
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Stop refuses new events, and stores what waits until the context ends.
func (r *Recorder) Stop(ctx context.Context) error {
	r.close()
	err := errors.Join(r.storeAll(ctx), r.rows.addSums(ctx, r.sums.take(), time.Now()))
	if err != nil {
		return fmt.Errorf("stop the usage recorder, with %d events left: %w", r.count(), err)
	}
	return nil
}

func (r *Recorder) writeSums() {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.CommitTimeout)
	defer cancel()
	if err := r.rows.addSums(ctx, r.sums.take(), time.Now()); err != nil {
		r.log.Error("write sums of usage events", "error", err)
	}
}
