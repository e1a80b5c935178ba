package scrolls

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// The kinds of jobs. Queues of running servers hold them: never rename one.
const (
	runJob      = "scrolls.run"
	rescueJob   = "scrolls.rescue"
	scheduleJob = "scrolls.schedule"
	sweepJob    = "scrolls.sweep"
	passJob     = "scrolls.pass"
)

// jobArgs say which scroll to start.
type jobArgs struct {
	Account int64 `json:"account"`
	Scroll  int64 `json:"scroll"`
	// Attempt is the start that the job was written for.
	Attempt int `json:"attempt"`
}

// enqueue queues a start of the scroll. The start of an attempt is queued once, so a
// start that is lost with its worker never blocks the next one.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, account, scroll int64, attempt int, at time.Time) error {
	return tx.Enqueue(ctx, store.Job{
		Kind:      runJob,
		Args:      jobArgs{account, scroll, attempt},
		RunAt:     at,
		UniqueKey: strconv.FormatInt(scroll, 10) + ":" + strconv.Itoa(attempt),
	})
}

// Workers returns the workers of the module.
func (s *Service) Workers() []jobs.Worker {
	return []jobs.Worker{{
		Kind:    runJob,
		Timeout: s.cfg.longest(),
		// More jobs than places: the fairest of those that wait is chosen.
		Concurrency: 2 * opened * s.cfg.Concurrency,
		Work: func(ctx context.Context, raw json.RawMessage) error {
			var args jobArgs
			if err := json.Unmarshal(raw, &args); err != nil {
				return jobs.Cancel(fmt.Errorf("read arguments: %w", err))
			}
			return s.work(viewer.As(ctx, args.Account), args)
		},
	}, {
		Kind: passJob,
		Work: func(ctx context.Context, raw json.RawMessage) error {
			var args passArgs
			if err := json.Unmarshal(raw, &args); err != nil {
				return jobs.Cancel(fmt.Errorf("read arguments: %w", err))
			}
			return schedules{s}.pass(viewer.As(ctx, args.Account), args)
		},
	}}
}

// Periodics returns the periodic tasks of the module.
func (s *Service) Periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: rescueJob, Every: s.cfg.RescueEvery, Everywhere: true, Run: s.Rescue},
		{Kind: scheduleJob, Every: s.cfg.ScheduleEvery, Everywhere: true, Run: s.StartDue},
		{Kind: sweepJob, Every: day, Run: s.SweepVerdicts},
	}
}

// enter waits for a place. After lobbyWithin, or when the queue stops, the job goes back
// to the queue.
func (s *Service) enter(ctx context.Context, account int64) (at *place, leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, lobbyWithin)
	defer cancel()
	end, err := s.opened.Enter(waiting, account)
	if err != nil {
		return nil, nil, jobs.Snooze(0)
	}
	at = &place{places: s.places, account: account}
	if err := at.enter(waiting); err != nil {
		end()
		return nil, nil, jobs.Snooze(0)
	}
	return at, func() { at.rest(); end() }, nil
}

// work starts the scroll, unless it has another worker.
func (s *Service) work(ctx context.Context, args jobArgs) error {
	at, leave, err := s.enter(ctx, args.Account)
	if err != nil {
		return err
	}
	defer leave()
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	end, mine := s.signals.begin(args.Scroll, cancel)
	if !mine {
		return nil
	}
	defer end()
	r, wait, err := s.claim(ctx, args)
	switch {
	case store.Unable(err):
		return jobs.Snooze(againAfter)
	case err != nil:
		return fmt.Errorf("claim scroll %s: %w", publicid.Format(publicid.Scroll, args.Scroll), err)
	case wait > 0:
		return jobs.Snooze(wait)
	case r == nil:
		return nil
	}
	r.place = at
	return r.settle(ctx, r.execute(running, cancel))
}

// Rescue queues scrolls whose worker is lost, or whose job is: those without a new
// heartbeat in two looks. One look is not enough, since a worker cannot write its
// heartbeat while another transaction holds a SQLite file, or while its machine sleeps.
func (s *Service) Rescue(ctx context.Context) error {
	rows, err := s.lost(viewer.System(ctx), s.now().Add(-s.cfg.Stale).UnixMilli())
	if err != nil {
		return fmt.Errorf("find lost scrolls: %w", err)
	}
	missed := make(map[int64]int64, len(rows))
	for _, row := range rows {
		missed[row.ID] = row.HeartbeatAt
	}
	s.looking.Lock()
	missed, s.missed = s.missed, missed
	s.looking.Unlock()
	for _, row := range rows {
		if last, twice := missed[row.ID]; !twice || last != row.HeartbeatAt {
			continue
		}
		err := s.db.Write(viewer.As(ctx, row.AccountID), func(ctx context.Context, tx *store.Tx) error {
			return s.enqueue(ctx, tx, row.AccountID, row.ID, row.Attempt+1, s.now())
		})
		if err != nil {
			return fmt.Errorf("rescue scroll %s: %w", publicid.Format(publicid.Scroll, row.ID), err)
		}
	}
	return nil
}

// claim makes the caller the scroll's worker. It returns no run if there is nothing
// to do now; wait is when to try again, 0 for never.
func (s *Service) claim(ctx context.Context, args jobArgs) (r *run, wait time.Duration, err error) {
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("limits: %w", err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		r, wait = nil, 0
		row, err := s.hot.lockRow(ctx, tx, args.Scroll)
		if err != nil || row == nil || (row.Status != Queued && row.Status != Running) {
			return err
		}
		if wait = s.alive(row); wait > 0 {
			if row.Attempt != args.Attempt {
				wait = 0 // another start runs it
			}
			return nil
		}
		if limits.Blocked {
			return s.history.cancel(ctx, tx, row.ID)
		}
		now, most, failed := s.now().UnixMilli(), s.cfg.MaxAttempts, true
		if row.Template == importTemplate {
			limits, most = importLimits(limits.Room), importAttempts*most
		}
		switch {
		case !limits.Active:
			err = s.failRow(ctx, tx, row, subscriptionInactive, now)
		case row.Attempt >= most:
			err = s.failRow(ctx, tx, row, internalFailure, now)
		case s.overtime(row):
			err = s.failRow(ctx, tx, row, string(stage.StageTimeout), now)
		default:
			failed = false
			r = s.newRun(row, limits)
			err = s.hot.startRow(ctx, tx, row, r.state.step, now)
		}
		tx.AfterCommit(func() {
			s.signals.changed(row.ID)
			if failed {
				s.cfg.Observer.Ended(Failed)
			}
		})
		return err
	})
	return r, wait, err
}

// overtime reports whether the scroll was first started too long ago.
func (s *Service) overtime(row *claimRow) bool {
	return row.StartedAt != nil && row.Template != importTemplate && !s.now().Before(time.UnixMilli(*row.StartedAt).Add(s.cfg.MaxTime))
}

// importAttempts is how many times as often an import may be started: its user may
// stop and repeat the command at will, and each repetition first ends the earlier one.
const importAttempts = 10

// alive returns how long the scroll's worker is still assumed to be alive; 0 for none.
func (s *Service) alive(row *claimRow) time.Duration {
	if row.Status == Queued || row.HeartbeatAt == 0 {
		return 0
	}
	// One process owns a SQLite file, and it does not run this scroll; but an import
	// runs in a process of its own.
	if s.db.Dialect() == store.SQLite && row.Template != importTemplate {
		return 0
	}
	return max(0, time.UnixMilli(row.HeartbeatAt).Add(s.cfg.Stale).Sub(s.now()))
}

// newRun returns the next start of a row.
func (s *Service) newRun(row *claimRow, limits Limits) *run {
	name := cmp.Or(row.Template, defaultTemplate)
	public := publicid.Format(publicid.Scroll, row.ID)
	r := &run{
		s: s, id: row.ID, account: row.Account, attempt: row.Attempt + 1, limits: limits,
		name: name, template: resolved(s.needs.Stages, s.cfg.Templates[name]), stages: s.needs.Stages, state: row.state,
		log: s.log.With("scroll", public, "attempt", row.Attempt+1),
	}
	switch {
	case name == importTemplate:
	case row.StartedAt == nil:
		r.until = s.now().Add(s.cfg.MaxTime)
	default:
		r.until = time.UnixMilli(*row.StartedAt).Add(s.cfg.MaxTime)
	}
	if !s.cfg.KeepFrames {
		r.limits.FramedVideos = 0
	}
	r.atOnce, r.room = s.cfg.BatchSize, limits.Room
	r.rows = &stagedRows{r: r, states: sourceStates{s.db}}
	r.staged = r.rows
	r.call = stage.Run{ScrollID: public, Prompt: row.Prompt, Now: s.now().UnixMilli(), Settings: r.template.Settings, Frames: r.limits.FramedVideos > 0}
	r.state.step = nextStep(row.state.checkpoint)
	return r
}

// nextStep is the step after a checkpoint.
func nextStep(checkpoint string) string {
	steps := Steps()
	return steps[min(slices.Index(steps, checkpoint)+1, len(steps)-1)]
}
