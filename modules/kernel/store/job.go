package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// defaultAttempts is how often a job runs before it has failed for good.
const defaultAttempts = 3

// Job is a piece of work to be done later.
type Job struct {
	// Kind names the worker. It is a stable string, never the name of a Go type:
	// lower-case letters and digits, parted by one of `_`, `-` and `.`.
	Kind string
	// Args is kept as JSON, as it is at the time of Enqueue.
	Args any
	// RunAt is the earliest start. Zero means now.
	RunAt time.Time
	// UniqueKey, if set, drops the job silently while another of the same kind and
	// key is waiting or running.
	UniqueKey string
	// MaxAttempts counts every start but snoozed ones. Default 3.
	MaxAttempts int
}

// Worker does the jobs of one kind. A job may run more than once, and its first
// run may not have stopped: a process can lose its database and not know it. So
// work is idempotent, and what must not happen twice is fenced by its own row.
type Worker struct {
	Kind string
	// Timeout ends the context of one run. Default one minute.
	Timeout time.Duration
	// Concurrency bounds the jobs of this kind that run at once in this process.
	// Default 1.
	Concurrency int
	// Work returns nil, a decision ([Snooze], [Cancel]), or an error, after which
	// the job is tried again later.
	Work func(ctx context.Context, args json.RawMessage) error
}

// Periodic runs at start and then in steps of Every, on one process at a time. A
// run that fails is logged; the next one comes at its time.
type Periodic struct {
	Kind  string
	Every time.Duration
	// Everywhere: it runs on every process that works, each in its own rhythm, so the
	// loss of a process delays nothing. Run claims the rows that it works on. Without
	// it, PostgreSQL's processes elect one, whose loss is noticed after some seconds.
	Everywhere bool
	Run        func(ctx context.Context) error
}

// enqueuer writes a job in a transaction.
type enqueuer interface {
	enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error
}

// Enqueue writes the job in the transaction: it runs after the commit, or never.
func (tx *Tx) Enqueue(ctx context.Context, job Job) error {
	if !validKind(job.Kind) {
		return fmt.Errorf("enqueue: kind %q is not lower-case words", job.Kind)
	}
	args, err := json.Marshal(job.Args)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", job.Kind, err)
	}
	if job.MaxAttempts <= 0 {
		job.MaxAttempts = defaultAttempts
	}
	if err := tx.db.jobs.enqueue(ctx, tx, job, args); err != nil {
		return fmt.Errorf("enqueue %s: %w", job.Kind, err)
	}
	return nil
}

func validKind(kind string) bool {
	parted := true
	for _, c := range kind {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			parted = false
		case (c == '_' || c == '-' || c == '.') && !parted:
			parted = true
		default:
			return false
		}
	}
	return !parted && len(kind) <= 60
}

type snoozed struct{ wait time.Duration }

func (s *snoozed) Error() string { return fmt.Sprintf("snoozed for %v", s.wait) }

// Snooze is the decision "later": the job runs again after d, and this run does not
// count as an attempt.
func Snooze(d time.Duration) error { return &snoozed{max(d, 0)} }

type cancelled struct{ err error }

func (c *cancelled) Error() string { return "cancelled: " + c.err.Error() }
func (c *cancelled) Unwrap() error { return c.err }

// Cancel is the decision "never": the job has failed for good because of err.
func Cancel(err error) error {
	if err == nil {
		err = errors.New("no reason given")
	}
	return &cancelled{err}
}
