package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

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
