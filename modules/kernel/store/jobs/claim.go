package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// firstEndWait and mostEndWait are the waits between tries to write the end of a job.
const (
	firstEndWait = 50 * time.Millisecond
	mostEndWait  = 5 * time.Second
)

// claimed is a job that this process works on.
type claimed struct {
	ID                   int64
	Kind, Args           string
	Attempt, MaxAttempts int
}

// claim leases due jobs of the kinds that have a place.
func (s *sqliteQueue) claim(ctx context.Context) ([]claimed, error) {
	places, busy := s.places()
	if len(places) == 0 {
		return nil, nil
	}
	now := time.Now().UnixMilli()
	due, err := store.Query[claimed](ctx, s.due, now, listed(maps.Keys(places)), "["+strings.Join(busy, ",")+"]")
	if err != nil {
		return nil, err
	}
	var jobs []claimed
	for _, job := range due {
		if places[job.Kind] > 0 {
			places[job.Kind]--
			job.Attempt++
			jobs = append(jobs, job)
		}
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	err = s.q.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, job := range jobs {
			lease := now + (s.q.workers[job.Kind].Timeout + time.Minute).Milliseconds()
			if _, err := s.lease.ExecIn(ctx, tx, job.ID, lease, job.Attempt); err != nil {
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
		s.running[job.ID] = job.Kind
	}
	return jobs, nil
}

// listed returns kinds as a list in JSON.
func listed(kinds iter.Seq[string]) string {
	var list []string
	for kind := range kinds {
		list = append(list, strconv.Quote(kind))
	}
	return "[" + strings.Join(list, ",") + "]"
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
		delete(s.running, job.ID)
		s.mu.Unlock()
		select {
		case s.ended <- struct{}{}:
		default:
		}
	}()
	ctx = context.WithoutCancel(ctx)
	var err error
	if job.Attempt > job.MaxAttempts {
		err = Cancel(errors.New("its last run was lost with its process"))
	} else {
		err = s.q.run(ctx, s.q.workers[job.Kind], json.RawMessage(job.Args))
	}
	settle := s.settlement(ctx, job, err)
	// Until it is written, the lease keeps the job from running again.
	for wait := firstEndWait; ; wait = min(2*wait, mostEndWait) {
		err := s.q.db.Write(ctx, settle)
		if err == nil {
			return
		}
		select {
		case <-time.After(wait):
			s.q.log.WarnContext(ctx, "a job's end is not written yet", "kind", job.Kind, "job", job.ID, "error", err)
		case <-s.quit: // the next process runs the job again
			s.q.log.ErrorContext(ctx, "a job's end is not written; it will run again", "kind", job.Kind, "job", job.ID, "error", err)
			return
		}
	}
}

// settlement is the change that a run's result asks for.
func (s *sqliteQueue) settlement(ctx context.Context, job claimed, result error) func(ctx context.Context, tx *store.Tx) error {
	if result == nil {
		return func(ctx context.Context, tx *store.Tx) error {
			_, err := s.done.ExecIn(ctx, tx, job.ID)
			return err
		}
	}
	var query string
	args := []any{job.ID}
	now := time.Now()
	var later *snoozed
	switch {
	case errors.As(result, &later):
		query = "UPDATE jobs SET lease_until = 0, attempt = $2, run_at = $3 WHERE id = $1"
		args = append(args, job.Attempt-1, now.Add(later.wait).UnixMilli())
	case s.q.failed(ctx, job.Kind, job.ID, job.Attempt, job.MaxAttempts, result):
		query = "UPDATE jobs SET lease_until = $2, unique_key = NULL, run_at = $3, last_error = $4 WHERE id = $1"
		args = append(args, dead, now.Add(KeepFailed).UnixMilli(), result.Error())
	default:
		query = "UPDATE jobs SET lease_until = 0, run_at = $2, last_error = $3 WHERE id = $1"
		args = append(args, now.Add(s.q.backoff(job.Attempt)).UnixMilli(), result.Error())
	}
	return func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	}
}

// forget deletes the jobs that failed for good so long ago that no one looks at them.
func (s *sqliteQueue) forget(ctx context.Context) error {
	return s.q.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM jobs WHERE lease_until = $1 AND run_at <= $2", dead, time.Now().UnixMilli())
		return err
	})
}
