package scrolls

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The kinds of jobs. They lie in queues of running services: never rename one.
const (
	runJob      = "scrolls.run"
	rescueJob   = "scrolls.rescue"
	scheduleJob = "scrolls.schedule"
	sweepJob    = "scrolls.sweep"
)

// jobArgs say which scroll to start.
type jobArgs struct {
	Account int64 `json:"account"`
	Scroll  int64 `json:"scroll"`
	// Attempt is the start that the job was written for.
	Attempt int `json:"attempt"`
}

// enqueue has the scroll started at a time. A start of an attempt is queued once,
// so a start that is lost with its worker never blocks the next.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, account, scroll int64, attempt int, at time.Time) error {
	return tx.Enqueue(ctx, store.Job{
		Kind:      runJob,
		Args:      jobArgs{account, scroll, attempt},
		RunAt:     at,
		UniqueKey: strconv.FormatInt(scroll, 10) + ":" + strconv.Itoa(attempt),
	})
}

// Workers are the workers of the room.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{
		Kind:        runJob,
		Timeout:     s.cfg.longest(),
		Concurrency: s.cfg.Concurrency,
		Work: func(ctx context.Context, raw json.RawMessage) error {
			var args jobArgs
			if err := json.Unmarshal(raw, &args); err != nil {
				return store.Cancel(fmt.Errorf("read arguments: %w", err))
			}
			return s.work(viewer.As(ctx, args.Account), args)
		},
	}}
}

// Periodics are the standing tasks of the room.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{
		{Kind: rescueJob, Every: s.cfg.RescueEvery, Run: s.Rescue},
		{Kind: scheduleJob, Every: s.cfg.ScheduleEvery, Run: s.StartDue},
		{Kind: sweepJob, Every: day, Run: s.SweepVerdicts},
	}
}

// work starts the scroll, unless somebody else has it.
func (s *Service) work(ctx context.Context, args jobArgs) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end, mine := s.signals.begin(args.Scroll, cancel)
	if !mine {
		return nil
	}
	defer end()
	r, wait, err := s.claim(ctx, args)
	switch {
	case err != nil:
		return fmt.Errorf("claim scroll %d: %w", args.Scroll, err)
	case wait > 0:
		return store.Snooze(wait)
	case r == nil:
		return nil
	}
	return r.settle(ctx, r.execute(running, cancel))
}

// Rescue has scrolls started whose worker is lost, or whose job never was.
func (s *Service) Rescue(ctx context.Context) error {
	rows, err := s.lost(viewer.System(ctx), s.now().Add(-s.cfg.Stale).UnixMilli())
	if err != nil {
		return fmt.Errorf("find lost scrolls: %w", err)
	}
	for _, row := range rows {
		err := s.db.Write(viewer.As(ctx, row.AccountID), func(ctx context.Context, tx *store.Tx) error {
			return s.enqueue(ctx, tx, row.AccountID, row.ID, row.Attempt+1, s.now())
		})
		if err != nil {
			return fmt.Errorf("rescue scroll %d: %w", row.ID, err)
		}
	}
	return nil
}
