package store

import "time"

// SetBackoff replaces the wait after failed attempts.
func (q *Queue) SetBackoff(backoff func(attempt int) time.Duration) { q.backoff = backoff }

// Backoff is the wait after a failed attempt, as it is in earnest.
func Backoff(attempt int) time.Duration { return backoff(attempt) }
