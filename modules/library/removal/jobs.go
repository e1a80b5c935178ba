package removal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	deleteKind = "library.delete"
	undoKind   = "library.undelete"
	// attempts outlast a database that is away.
	attempts = 20
	// slice is how long one run of a job takes; the next one goes on.
	slice = time.Minute
)

// job is the argument of both.
type job struct {
	Account  int64 `json:"account"`
	Deletion int64 `json:"deletion"`
}

// Workers returns the workers that finish deletions and their undoing.
func (s *Service) Workers() []jobs.Worker {
	finish := func(ctx context.Context, d *Deletion) error {
		if d.Status == deleted { // the call that began it may have ended before scores could be made
			return s.deletions.ScoreNow(ctx)
		}
		return s.finish(ctx, d)
	}
	return []jobs.Worker{
		{Kind: deleteKind, Timeout: 2 * slice, Concurrency: 2, Work: s.work(finish)},
		{Kind: undoKind, Timeout: 2 * slice, Concurrency: 2, Work: s.work(s.finishUndo)},
	}
}

// Periodics returns the housekeeping: what can not be undone any more is not kept, nor what the
// policy deletes for its age, and the words of deleted videos leave the index of searches.
func (s *Service) Periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: "library.deletions", Every: time.Minute, Run: s.expire},
		{Kind: "library.sweep", Every: time.Hour, Run: func(ctx context.Context) error { return s.Sweep(ctx, s.now()) }},
		{Kind: "library.words", Every: 24 * time.Hour, Run: s.sweeps.CleanWords},
	}
}

func (s *Service) work(do func(context.Context, *Deletion) error) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, args json.RawMessage) error {
		var j job
		if err := json.Unmarshal(args, &j); err != nil {
			return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
		}
		d, err := s.load(viewer.As(ctx, j.Account), j.Deletion)
		if err != nil || d == nil {
			return err // the account is gone, with its library
		}
		part, cancel := context.WithTimeout(viewer.As(ctx, j.Account), slice)
		defer cancel()
		err = do(part, d)
		if err != nil && part.Err() != nil && ctx.Err() == nil {
			return jobs.Snooze(time.Second)
		}
		return err
	}
}
