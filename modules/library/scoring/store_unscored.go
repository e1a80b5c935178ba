package scoring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/libraryrun"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/unscoredlibrary"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// ScoreAllUnscored scores every library again of which videos were deleted or brought back, once
// the deletion or the sweep has ended.
func (s *Service) ScoreAllUnscored(ctx context.Context) error {
	next := s.db.HotTenantless(`SELECT COALESCE(MIN({owner}), 0) FROM unscored_libraries WHERE {owner} > $1 AND wait_until <= $2`, "looks for any tenant whose library has to be scored again")
	var failed []error
	for after := int64(0); ctx.Err() == nil; {
		account, _, err := store.One[int64](ctx, next, after, time.Now().UnixMilli())
		if err != nil || account == 0 {
			return errors.Join(append(failed, err)...)
		}
		if err := s.ScoreUnscored(viewer.As(ctx, account)); err != nil {
			failed = append(failed, fmt.Errorf("score account %d after a deletion: %w", account, err))
		}
		after = account
	}
	return errors.Join(append(failed, context.Cause(ctx))...)
}

// ScoreUnscored makes the tenant's scores and trends those of the videos that are left. It can
// be stopped at any time, and the next call goes on. What changes meanwhile is left to it too.
func (s *Service) ScoreUnscored(ctx context.Context) error {
	row, err := s.db.Ent().UnscoredLibrary.Query().Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what is unscored: %w", err)
	}
	subjects, err := s.Trends.rereadRuns(ctx)
	if err != nil {
		return err
	}
	if err := s.ScoreMarked(ctx, math.MaxInt); err != nil {
		return err
	}
	for _, subject := range subjects {
		if err := s.Trends.MeasureTrends(ctx, subject, 0); err != nil {
			return err
		}
	}
	return s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Ent().UnscoredLibrary.Delete().Where(unscoredlibrary.ID(row.ID), unscoredlibrary.Changes(row.Changes)).Exec(viewer.ByIDs(ctx))
		return err
	})
}

// rereadRuns notes again what scrolls observed of which readings came or went, deletes the runs
// that nothing is left of, and returns the subjects whose trends may be others by that.
func (tr *Trends) rereadRuns(ctx context.Context) ([]string, error) {
	subjects := map[string]bool{}
	windows, err := tr.db.Ent().TrendWindow.Query().Select(trendwindow.FieldSubject).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trend windows: %w", err)
	}
	for _, subject := range windows {
		subjects[subject] = true
	}
	runs, err := tr.db.Ent().LibraryRun.Query().Where(libraryrun.RepeatsIsNil()).Order(libraryrun.ByScrollID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	for _, run := range runs {
		subjects[run.Subject] = true
		if err := tr.saveRun(ctx, run.Subject, run.ScrollID); err != nil {
			return nil, err
		}
	}
	if len(runs) > 0 {
		err := tr.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
			for _, run := range runs {
				_, err := tr.db.Hot(`DELETE FROM library_runs WHERE {tenant} AND scroll_id = $1 AND repeats IS NULL
AND NOT EXISTS (SELECT 1 FROM observations o WHERE {tenant:o} AND o.scroll_id = $1)`).ExecIn(ctx, tx, run.ScrollID)
				if err != nil {
					return fmt.Errorf("delete runs: %w", err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(subjects)), nil
}

// clearTrends deletes the trends of a subject of which no scroll has a usable reading any more.
func (tr *Trends) clearTrends(ctx context.Context, tx *store.Tx, subject string) error {
	if err := relisted(ctx, tx, subject, nil); err != nil {
		return err
	}
	if _, err := tx.Ent().Trend.Delete().Where(enttrend.Subject(subject)).Exec(ctx); err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	if _, err := tx.Ent().TrendWindow.Delete().Where(trendwindow.Subject(subject)).Exec(ctx); err != nil {
		return fmt.Errorf("delete a trend window: %w", err)
	}
	return nil
}
