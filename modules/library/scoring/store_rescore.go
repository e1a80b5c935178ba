package scoring

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/libraryrun"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// RescorePause is what a rescoring leaves to others after each transaction.
const RescorePause = 2 * time.Millisecond

// nextStale returns an account whose library was scored by other rules.
func (s *Service) nextStale(ctx context.Context) (account int64, found bool, err error) {
	stale := s.db.HotTenantless(`SELECT {owner} FROM libraries WHERE method <> $1 ORDER BY {owner} LIMIT 1`,
		"looks for any tenant whose library has to be scored again")
	account, found, err = store.One[int64](ctx, stale, s.method)
	if err != nil {
		return 0, false, fmt.Errorf("find a library to score again: %w", err)
	}
	return account, found, nil
}

// rescoreStep is a part of a rescoring. It does some of its work after a position and
// returns the next one; done at its end.
type rescoreStep func(s *Service, ctx context.Context, after int64) (next int64, done bool, err error)

// rescoreSteps are the steps of a rescoring, in order. Their numbers are stored.
func rescoreSteps() []rescoreStep {
	return []rescoreStep{(*Service).rederive, (*Service).rekey, (*Service).rerun, (*Service).recount, (*Service).rescoreCreators, (*Service).rescoreNiches, (*Service).remeasure}
}

// unfinished ends the stored method of a library whose rescoring has begun.
const unfinished = ", not finished"

// Rescore scores the tenant's library by the current rules and growth table, in short
// transactions with pauses. Lists show the former scores until a video has its new one.
// Where it is stopped, the next call goes on; one by other rules begins again.
func (s *Service) Rescore(ctx context.Context) error {
	row, err := s.db.Ent().Library.Query().Only(ctx)
	if err != nil {
		return fmt.Errorf("rescore: %w", err)
	}
	steps := rescoreSteps()
	at, after := row.RescoreStep, row.RescoredTo
	if row.Method != s.method+unfinished {
		at, after = 0, 0
		err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Library.Update().SetMethod(s.method + unfinished).SetRescoreStep(at).SetRescoredTo(after).Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("rescore: %w", err)
		}
	}
	for at < len(steps) {
		next, done, err := steps[at](s, ctx, after)
		if err != nil {
			return fmt.Errorf("rescore, step %d: %w", at, err)
		}
		if after = next; done {
			at, after = at+1, 0
		}
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Library.Update().SetRescoreStep(at).SetRescoredTo(after).Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("rescore: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(RescorePause):
		}
	}
	return s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().Library.Update().SetMethod(s.method).SetRescoreStep(0).SetRescoredTo(0).Exec(ctx)
	})
}

// rederive and rekey mend what an earlier version stored of videos.
func (s *Service) rederive(ctx context.Context, _ int64) (next int64, done bool, err error) {
	done, err = s.videos.Rederive(ctx)
	return 0, done, err
}

func (s *Service) rekey(ctx context.Context, _ int64) (next int64, done bool, err error) {
	return 0, true, s.videos.Rekey(ctx)
}

// rerun notes what scrolls observed that an earlier version completed.
func (s *Service) rerun(ctx context.Context, after int64) (next int64, done bool, err error) {
	rows, err := s.db.Hot(`SELECT MIN(scroll_id) FROM observations WHERE {tenant} AND scroll_id > $1`).Query(ctx, after)
	var scroll sql.NullInt64
	if err = store.Scan(rows, err)(func(rows *sql.Rows) error { return rows.Scan(&scroll) }); err != nil || !scroll.Valid {
		return 0, true, err
	}
	completed, err := s.scrolls.CompletedOf(ctx, []int64{scroll.Int64})
	if err != nil || len(completed) == 0 {
		return scroll.Int64, false, err
	}
	subject, found, err := s.scrolls.SubjectOf(ctx, scroll.Int64)
	if err != nil || !found {
		return scroll.Int64, false, err
	}
	return scroll.Int64, false, s.Trends.saveRun(ctx, subject, scroll.Int64)
}

// recount counts the next creators by where they stand; those that are marked are counted
// before they are scored.
func (s *Service) recount(ctx context.Context, after int64) (next int64, done bool, err error) {
	return s.count(ctx, after, 0)
}

// followedAfter are the ids of the next creators with followers after one, that are marked or not.
func (s *Service) followedAfter(ctx context.Context, of *ent.Client, after int64, dirty, limit int) ([]int64, error) {
	return of.Creator.Query().Where(creator.Dirty(dirty), creator.FollowersNotNil(), creator.IDGT(after)).Order(creator.ByID()).Limit(limit).IDs(ctx)
}

// rescoreCreators scores the videos of the next creators by each other.
func (s *Service) rescoreCreators(ctx context.Context, after int64) (next int64, done bool, err error) {
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().Creator.Query().Where(creator.Dirty(0), creator.IDGT(after)).Order(creator.ByID()).Limit(creatorsAtOnce).IDs(ctx)
		if err != nil {
			return err
		}
		if done = len(ids) < creatorsAtOnce; len(ids) == 0 {
			return nil
		}
		next = ids[len(ids)-1]
		return s.scoreSome(ctx, tx, ids, true)
	})
	return next, done, err
}

// rescoreNiches scores what is marked, and all videos that depend on a niche.
func (s *Service) rescoreNiches(ctx context.Context, _ int64) (next int64, done bool, err error) {
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		kinds, err := tx.Ent().Niche.Query().All(ctx)
		if err != nil {
			return err
		}
		all := map[score.Kind]int64{}
		for _, row := range kinds {
			all[score.Kind(row.Kind)] = StartOfTime
		}
		return s.videos.MarkNiches(ctx, tx, all)
	})
	if err == nil {
		err = s.ScoreMarked(ctx, math.MaxInt)
	}
	return 0, true, err
}

// remeasure measures the trends of every subject.
func (s *Service) remeasure(ctx context.Context, _ int64) (next int64, done bool, err error) {
	var subjects []string
	err = s.db.Ent().LibraryRun.Query().Unique(true).Order(ent.Asc(libraryrun.FieldSubject)).Select(libraryrun.FieldSubject).Scan(ctx, &subjects)
	if err != nil {
		return 0, false, err
	}
	for _, subject := range subjects {
		if err := s.Trends.MeasureTrends(ctx, subject, 0); err != nil {
			return 0, false, err
		}
	}
	// What an earlier version measured and no run explains is no longer shown.
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Ent().TrendWindow.Delete().Where(trendwindow.NewestAt(0)).Exec(ctx)
		return err
	})
	return 0, true, err
}
