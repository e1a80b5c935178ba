package store

import "time"

// SetBackoff replaces the wait after failed attempts.
func (q *Queue) SetBackoff(backoff func(attempt int) time.Duration) { q.backoff = backoff }
