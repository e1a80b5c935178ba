package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
)

const (
	// pollEvery finds jobs that another process, a command, has written.
	pollEvery = time.Second
	// KeepFailed is how long a job that failed for good stays to be looked at.
	KeepFailed = 7 * 24 * time.Hour
	// dead is the lease of such a job: no claim sees it.
	dead = -1
	// lockWait bounds the wait for a process that is on its way out.
	lockWait = 5 * time.Second
	// claimBatch bounds the jobs taken in one transaction.
	claimBatch = "32"
	// forgetEvery is how often the jobs are deleted that failed so long ago.
	forgetEvery = time.Hour
)

// sqliteQueue runs the jobs table. It is the only runner of the data directory, so
// a lease that it did not give itself is left from a process that died.
type sqliteQueue struct {
	q     *Queue
	lock  *flock.Lock
	kinds string // of all workers, as JSON
	due   *store.Hot
	next  *store.Hot
	// lease and done begin and end a run.
	lease, done *store.Hot

	quit    chan struct{} // closed to take no more jobs
	stopped sync.Once
	looped  chan struct{} // closed when the loop has ended
	ended   chan struct{} // a job has ended
	jobs    sync.WaitGroup

	mu      sync.Mutex
	running map[int64]string // job → kind
}

// queueOfAll is why jobs are read without a tenant.
const queueOfAll = "the queue works for all tenants"

func newSQLiteQueue(q *Queue) *sqliteQueue {
	return &sqliteQueue{
		q:     q,
		kinds: listed(maps.Keys(q.workers)),
		// Kind by kind, the oldest first: jobs of a kind without a place are not looked at,
		// however many wait.
		due: q.db.HotTenantless(`SELECT jobs.id, jobs.kind, args, attempt, max_attempts FROM json_each($2) AS kinds CROSS JOIN jobs
			WHERE jobs.kind = kinds.value AND run_at <= $1 AND lease_until BETWEEN 0 AND $1
			AND jobs.id NOT IN (SELECT value FROM json_each($3)) LIMIT `+claimBatch, queueOfAll),
		next: q.db.HotTenantless(`SELECT min((SELECT run_at FROM jobs WHERE kind = kinds.value AND run_at > $1 ORDER BY run_at LIMIT 1))
			FROM json_each($2) AS kinds`, queueOfAll),
		lease:   q.db.HotTenantless(`UPDATE jobs SET lease_until = $2, attempt = $3 WHERE id = $1`, queueOfAll),
		done:    q.db.HotTenantless(`DELETE FROM jobs WHERE id = $1`, queueOfAll),
		quit:    make(chan struct{}),
		looped:  make(chan struct{}),
		ended:   make(chan struct{}, 1),
		running: map[int64]string{},
	}
}

func (s *sqliteQueue) start(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := flock.Wait(waiting, filepath.Join(s.q.db.Dir(), "work.lock"))
	if err != nil {
		return fmt.Errorf("only one process works on a data directory: %w", err)
	}
	s.lock = lock
	err = s.q.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE jobs SET lease_until = 0, run_at = min(run_at, $1) WHERE lease_until > 0", time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("free the jobs of a lost process: %w", err), lock.Release())
	}
	go s.loop(s.q.halted)
	s.jobs.Go(func() { s.q.every(Periodic{Kind: "jobs.forget", Every: forgetEvery, Run: s.forget}, s.quit) })
	for _, periodic := range s.q.periodics {
		s.jobs.Go(func() { s.q.every(periodic, s.quit) })
	}
	return nil
}

func (s *sqliteQueue) stop(ctx context.Context) error {
	s.stopped.Do(func() { close(s.quit) })
	idle := make(chan struct{})
	go func() {
		<-s.looped
		s.jobs.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("jobs are still running: %w", ctx.Err())
	}
}

func (s *sqliteQueue) close() error { return s.lock.Release() }

// loop takes jobs whenever one may have become due or a place free.
func (s *sqliteQueue) loop(ctx context.Context) {
	defer close(s.looped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-timer.C:
		case <-s.q.db.Enqueued():
		case <-s.ended:
		}
		wait, err := s.work(ctx)
		if err != nil {
			s.q.log.ErrorContext(ctx, "jobs cannot be taken", "error", err)
			wait = pollEvery
		}
		timer.Reset(wait)
	}
}

// work starts all that is due and has a place, and says when to look again.
func (s *sqliteQueue) work(ctx context.Context) (time.Duration, error) {
	for {
		jobs, err := s.claim(ctx)
		if err != nil {
			return 0, err
		}
		if len(jobs) == 0 {
			break
		}
		for _, job := range jobs {
			s.jobs.Go(func() { s.do(ctx, job) })
		}
	}
	now := time.Now()
	wait := pollEvery
	at, _, err := store.One[sql.NullInt64](ctx, s.next, now.UnixMilli(), s.kinds)
	if at.Valid {
		wait = min(wait, max(time.UnixMilli(at.Int64).Sub(now), time.Millisecond))
	}
	return wait, err
}
