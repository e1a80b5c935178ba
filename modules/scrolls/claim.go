package scrolls

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// claim makes the caller the scroll's worker. Without a run there is nothing to do,
// but to look again after wait, where that is not 0.
func (s *Service) claim(ctx context.Context, args jobArgs) (r *run, wait time.Duration, err error) {
	limits, err := s.needs.Plans.Limits(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("limits: %w", err)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		r, wait = nil, 0
		row, err := lockRow(ctx, tx, args.Account, args.Scroll)
		if err != nil || row == nil || (row.Status != Queued && row.Status != Running) {
			return err
		}
		if wait = s.alive(row); wait > 0 {
			if row.Attempt != args.Attempt {
				wait = 0 // somebody else's start, and well
			}
			return nil
		}
		now := s.now().UnixMilli()
		switch {
		case !limits.Active && row.Template != importTemplate:
			err = endRow(ctx, tx, row, row.Attempt, Failed, subscriptionInactive, now)
		case row.Attempt >= s.mostAttempts(row):
			err = endRow(ctx, tx, row, row.Attempt, Failed, internalFailure, now)
		default:
			r = s.newRun(row, limits)
			r.state.stage = nextStage(row.Checkpoint)
			err = startRow(ctx, tx, row, r.state.stage, now)
		}
		tx.AfterCommit(func() { s.signals.changed(row.ID) })
		return err
	})
	return r, wait, err
}

// importAttempts is how many times as often an import may be started: its command is
// stopped and begun again as its user likes, and each one that comes by first ends
// what an earlier one left.
const importAttempts = 10

func (s *Service) mostAttempts(row *claimRow) int {
	if row.Template == importTemplate {
		return importAttempts * s.cfg.MaxAttempts
	}
	return s.cfg.MaxAttempts
}

// alive tells how long the scroll's worker is still taken to be at work; 0: not at all.
func (s *Service) alive(row *claimRow) time.Duration {
	if row.Status == Queued || row.HeartbeatAt == 0 {
		return 0
	}
	// One process owns a SQLite file, and it does not have this scroll; but an
	// import runs in a command beside it.
	if s.db.Dialect() == store.SQLite && row.Template != importTemplate {
		return 0
	}
	return max(0, time.UnixMilli(row.HeartbeatAt).Add(s.cfg.Stale).Sub(s.now()))
}

// newRun returns the run of a row that is about to be started.
func (s *Service) newRun(row *claimRow, limits Limits) *run {
	name := row.Template
	if name == "" {
		name = defaultTemplate
	}
	public := publicid.Format(publicid.Scroll, row.ID)
	return &run{
		s: s, id: row.ID, account: row.Account, attempt: row.Attempt + 1, limits: limits,
		name: name, imported: name == importTemplate, template: s.cfg.Templates[name],
		call: stage.Run{ScrollID: public, Prompt: row.Prompt, Now: s.now().UnixMilli(), Settings: s.cfg.Templates[name].Settings},
		state: state{
			checkpoint: row.Checkpoint, newVideos: row.NewVideos, progress: row.Progress,
			subject: row.Subject, rulesVersion: row.RulesVersion,
		},
		log: s.log.With("scroll", public, "attempt", row.Attempt+1),
	}
}

// nextStage is the stage after a checkpoint.
func nextStage(checkpoint string) string {
	stages := Stages()
	for i, step := range stages[:len(stages)-1] {
		if step == checkpoint {
			return stages[i+1]
		}
	}
	return stages[0]
}
