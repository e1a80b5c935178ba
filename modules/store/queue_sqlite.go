package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// pollEvery finds jobs that another process, a command, has written.
	pollEvery = time.Second
	// keepFailed is how long a job that failed for good stays to be looked at.
	keepFailed = 7 * 24 * time.Hour
	// dead is the lease of such a job: no claim sees it.
	dead = -1
	// lockWait bounds the wait for a process that is on its way out.
	lockWait = 5 * time.Second
	// claimBatch bounds the jobs taken in one transaction.
	claimBatch = "32"
)

// jobsTable writes jobs on SQLite.
type jobsTable struct{ db *DB }

func (j *jobsTable) enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error {
	var unique any
	if job.UniqueKey != "" {
		unique = job.Kind + ":" + job.UniqueKey
	}
	now := time.Now()
	if job.RunAt.IsZero() {
		job.RunAt = now
	}
	_, err := tx.Exec(ctx, `INSERT INTO jobs (id, kind, args, unique_key, attempt, max_attempts, run_at, lease_until, last_error, created_at)
		VALUES ($1, $2, $3, $4, 0, $5, $6, 0, '', $7) ON CONFLICT (unique_key) DO NOTHING`,
		j.db.NewID(), job.Kind, string(args), unique, job.MaxAttempts, job.RunAt.UnixMilli(), now.UnixMilli())
	tx.wake = true
	return err
}

// sqliteQueue runs the jobs table. It is the only runner of the data directory, so
// a lease that it did not give itself is left from a process that died.
type sqliteQueue struct {
	q    *Queue
	lock *fileLock
	due  *Statement
	next *Statement

	quit    chan struct{} // closed to take no more jobs
	stopped sync.Once
	looped  chan struct{} // closed when the loop has ended
	ended   chan struct{} // a job has ended
	jobs    sync.WaitGroup

	mu      sync.Mutex
	running map[int64]string // job → kind
}

// claimed is a job that this process works on.
type claimed struct {
	id                   int64
	kind                 string
	args                 string
	attempt, maxAttempts int
}

func newSQLiteQueue(q *Queue) *sqliteQueue {
	return &sqliteQueue{
		q: q,
		due: q.db.PrepareSystem(`SELECT id, kind, args, attempt, max_attempts FROM jobs
			WHERE run_at <= $1 AND lease_until BETWEEN 0 AND $1 AND kind IN (SELECT value FROM json_each($2))
			AND id NOT IN (SELECT value FROM json_each($3)) ORDER BY run_at, id LIMIT ` + claimBatch),
		next:    q.db.PrepareSystem(`SELECT run_at FROM jobs WHERE run_at > $1 ORDER BY run_at LIMIT 1`),
		quit:    make(chan struct{}),
		looped:  make(chan struct{}),
		ended:   make(chan struct{}, 1),
		running: map[int64]string{},
	}
}

func (s *sqliteQueue) start(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := lockFile(waiting, filepath.Join(s.q.db.cfg.DataDir, "work.lock"))
	if err != nil {
		return fmt.Errorf("only one process works on a data directory: %w", err)
	}
	s.lock = lock
	err = s.q.db.Write(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.Exec(ctx, "UPDATE jobs SET lease_until = 0, run_at = min(run_at, $1) WHERE lease_until > 0", time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("free the jobs of a lost process: %w", err), lock.release())
	}
	go s.loop(s.q.halted)
	for _, periodic := range s.q.periodics {
		s.jobs.Go(func() { s.every(periodic) })
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

func (s *sqliteQueue) close() error { return s.lock.release() }

// every runs a periodic in its rhythm; a run that takes longer skips beats.
func (s *sqliteQueue) every(periodic Periodic) {
	ticker := time.NewTicker(periodic.Every)
	defer ticker.Stop()
	for {
		s.q.tick(s.q.halted, periodic)
		select {
		case <-s.quit:
			return
		case <-ticker.C:
		}
	}
}

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
		case <-s.q.db.wake:
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
	rows, err := s.next.Query(ctx, now.UnixMilli())
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	wait := pollEvery
	if rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return 0, err
		}
		wait = min(wait, max(time.UnixMilli(at).Sub(now), time.Millisecond))
	}
	return wait, rows.Err()
}

// claim leases due jobs of the kinds that have a place.
func (s *sqliteQueue) claim(ctx context.Context) ([]claimed, error) {
	places, busy := s.places()
	if len(places) == 0 {
		return nil, nil
	}
	kinds := make([]string, 0, len(places))
	for kind := range places {
		kinds = append(kinds, strconv.Quote(kind))
	}
	now := time.Now().UnixMilli()
	rows, err := s.due.Query(ctx, now, "["+strings.Join(kinds, ",")+"]", "["+strings.Join(busy, ",")+"]")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var jobs []claimed
	for rows.Next() {
		var job claimed
		if err := rows.Scan(&job.id, &job.kind, &job.args, &job.attempt, &job.maxAttempts); err != nil {
			return nil, err
		}
		if places[job.kind] > 0 {
			places[job.kind]--
			job.attempt++
			jobs = append(jobs, job)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(jobs) == 0 {
		return nil, err
	}
	err = s.q.db.Write(ctx, func(ctx context.Context, tx *Tx) error {
		for _, job := range jobs {
			lease := now + (s.q.workers[job.kind].Timeout + time.Minute).Milliseconds()
			if _, err := tx.Exec(ctx, "UPDATE jobs SET lease_until = $1, attempt = $2 WHERE id = $3", lease, job.attempt, job.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range jobs {
		s.running[job.id] = job.kind
	}
	return jobs, nil
}

// places counts the free places a kind, and lists the jobs that run.
func (s *sqliteQueue) places() (free map[string]int, busy []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free = make(map[string]int, len(s.q.workers))
	for kind, worker := range s.q.workers {
		free[kind] = worker.Concurrency
	}
	for id, kind := range s.running {
		if free[kind]--; free[kind] == 0 {
			delete(free, kind)
		}
		busy = append(busy, strconv.FormatInt(id, 10))
	}
	return free, busy
}

// do runs a job and writes what came of it.
func (s *sqliteQueue) do(ctx context.Context, job claimed) {
	defer func() {
		s.mu.Lock()
		delete(s.running, job.id)
		s.mu.Unlock()
		select {
		case s.ended <- struct{}{}:
		default:
		}
	}()
	ctx = context.WithoutCancel(ctx)
	var err error
	if job.attempt > job.maxAttempts {
		err = Cancel(errors.New("its last run was lost with its process"))
	} else {
		err = s.q.run(ctx, s.q.workers[job.kind], json.RawMessage(job.args))
	}
	settle := s.settlement(ctx, job, err)
	// What is not written now is written by a later run, so it is worth some tries.
	for try := 1; ; try++ {
		err := s.q.db.Write(ctx, settle)
		if err == nil {
			return
		}
		if try == 3 {
			s.q.log.ErrorContext(ctx, "a job's end is not written; it will run again", "kind", job.kind, "job", job.id, "error", err)
			return
		}
	}
}

// settlement is the change that a run's result asks for.
func (s *sqliteQueue) settlement(ctx context.Context, job claimed, result error) func(ctx context.Context, tx *Tx) error {
	query, args := "DELETE FROM jobs WHERE id = $1", []any{job.id}
	now := time.Now()
	var later *snoozed
	switch {
	case result == nil:
	case errors.As(result, &later):
		query = "UPDATE jobs SET lease_until = 0, attempt = $2, run_at = $3 WHERE id = $1"
		args = append(args, job.attempt-1, now.Add(later.wait).UnixMilli())
	case s.q.failed(ctx, job.kind, job.id, job.attempt, job.maxAttempts, result):
		query = "UPDATE jobs SET lease_until = $2, unique_key = NULL, run_at = $3, last_error = $4 WHERE id = $1"
		args = append(args, dead, now.Add(keepFailed).UnixMilli(), result.Error())
	default:
		query = "UPDATE jobs SET lease_until = 0, run_at = $2, last_error = $3 WHERE id = $1"
		args = append(args, now.Add(s.q.backoff(job.attempt)).UnixMilli(), result.Error())
	}
	return func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return err
		}
		if result == nil {
			return nil
		}
		_, err := tx.Exec(ctx, "DELETE FROM jobs WHERE run_at <= $1 AND lease_until = $2", now.UnixMilli(), dead)
		return err
	}
}
