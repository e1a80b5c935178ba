package jobs

import "time"

// SetBackoff replaces the wait after failed attempts.
func (q *Queue) SetBackoff(backoff func(attempt int) time.Duration) { q.backoff = backoff }

// Claims are the statements by which the embedded queue finds jobs.
func (q *Queue) Claims() []string {
	s := newSQLiteQueue(q)
	return []string{s.due.Text(), s.next.Text()}
}

// Backoff is the wait after a failed attempt, as it is in earnest.
func Backoff(attempt int) time.Duration { return backoff(attempt) }
