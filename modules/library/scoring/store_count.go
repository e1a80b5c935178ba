package scoring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/uncountedvideo"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// CountTrends counts in the tenant's trends what was archived or restored before the call
// and is not counted yet. Two may do so at once: what one has counted, the other finds done.
func (tr *Trends) CountTrends(ctx context.Context) error {
	last, err := tr.db.Ent().UncountedVideo.Query().Order(uncountedvideo.ByID(entsql.OrderDesc())).FirstID(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	for try := 1; err == nil; {
		var found bool
		found, err = tr.countSome(ctx, last)
		if errors.Is(err, videos.ErrChanged) && try < countTries {
			try, err = try+1, nil
			continue
		}
		if !found {
			break
		}
	}
	return err
}

// countSome counts some of the videos up to the last one. found is false if there are none.
func (tr *Trends) countSome(ctx context.Context, last int64) (found bool, err error) {
	rows, err := tr.db.Ent().UncountedVideo.Query().Where(uncountedvideo.IDLTE(last)).Order(uncountedvideo.ByID()).Limit(uncountedAtOnce).All(ctx)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	parts, err := tr.CountParts(ctx, rows)
	if err != nil {
		return false, err
	}
	return true, tr.WriteParts(ctx, parts)
}

// CountParts are the parts of counting the videos; the last one ends it.
func (tr *Trends) CountParts(ctx context.Context, rows []*ent.UncountedVideo) (parts []CountPart, err error) {
	ids, changed := make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		ids[i], changed[i] = row.ID, row.VideoID
	}
	slices.Sort(changed)
	carriers, err := tr.windows.carriersOf(ctx, tr.videos.Outside(), slices.Compact(changed))
	if err != nil {
		return nil, err
	}
	windows, err := tr.db.Ent().TrendWindow.Query().Where(trendwindow.NewestAtGT(0)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trend windows: %w", err)
	}
	for _, w := range windows {
		if changed[0] == videos.AllTrends {
			if err := tr.MeasureTrends(ctx, w.Subject, 0); err != nil {
				return nil, err
			}
			continue
		}
		of, err := tr.countIn(ctx, w, carriers)
		if err != nil {
			return nil, err
		}
		parts = append(parts, of...)
	}
	return append(parts, CountPart{write: func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().UncountedVideo.Delete().Where(uncountedvideo.IDIn(ids...)).Exec(ctx)
		if err == nil && n != len(ids) {
			return videos.ErrChanged // others have counted meanwhile
		}
		return err
	}}), nil
}

// countIn are the parts of counting videos again in a window. Only their own keys are
// measured: what the other keys count does not change, only which of them overlap with one
// above them.
func (tr *Trends) countIn(ctx context.Context, window *ent.TrendWindow, of []score.Carrier) (parts []CountPart, err error) {
	archived, keys := map[int64]bool{}, map[string]bool{}
	for i := range of {
		archived[of[i].ID] = of[i].Archived
		for _, key := range of[i].Keys {
			keys[key.Key] = true
		}
	}
	rows, err := tr.db.Ent().Trend.Query().Where(enttrend.Subject(window.Subject), enttrend.WithArchived(1), enttrend.KeyIn(slices.Sorted(maps.Keys(keys))...)).
		Select(enttrend.FieldVideoCount).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trends: %w", err)
	}
	var ids []int64
	var changed []score.Trend
	for _, row := range rows {
		parts = append(parts, CountPart{Bytes: memberSize * row.VideoCount, write: func(ctx context.Context, tx *store.Tx) error {
			t, isMember, err := recount(ctx, tx, totalsOf(window), row.ID, archived)
			if err == nil && isMember {
				ids, changed = append(ids, row.ID), append(changed, t)
			}
			return err
		}})
	}
	return append(parts, CountPart{write: func(ctx context.Context, tx *store.Tx) error {
		if len(ids) == 0 {
			return nil
		}
		n, err := tx.Ent().Trend.Query().Where(enttrend.IDIn(ids...)).Count(viewer.ByIDs(ctx))
		if err == nil && n != len(ids) {
			return videos.ErrChanged // a scroll was scored meanwhile
		}
		if err != nil {
			return fmt.Errorf("read trends: %w", err)
		}
		return tr.relist(ctx, tx, window.Subject, changed)
	}}), nil
}

// recount measures a key without archived videos, after some were archived or restored;
// isMember is false if none of them is in the window with it.
func recount(ctx context.Context, tx *store.Tx, of score.Totals, id int64, archived map[int64]bool) (t score.Trend, isMember bool, err error) {
	row, err := tx.Ent().Trend.Get(ctx, id)
	if ent.IsNotFound(err) {
		return t, false, videos.ErrChanged
	}
	if err != nil {
		return t, false, fmt.Errorf("read a trend: %w", err)
	}
	if row.Members == nil {
		return t, false, errors.New("a trend has no members")
	}
	members, err := unpackMembers(*row.Members)
	if err != nil {
		return t, false, err
	}
	for i := range members {
		if now, ok := archived[members[i].ID]; ok {
			members[i].Archived, isMember = now, true
		}
	}
	if !isMember {
		return t, false, nil
	}
	saved, err := tx.Ent().Trend.Update().Where(enttrend.ID(id)).SetMembers(packMembers(members)).Save(ctx)
	if err != nil {
		return t, false, fmt.Errorf("save the members of a trend: %w", err)
	}
	if saved == 0 {
		return t, false, videos.ErrChanged
	}
	return of.Measure(score.Key{Key: row.Key, Label: row.Label}, members, false), true, nil
}

// relist writes changed keys into the list without archived videos, and decides again
// which of its keys overlap with one above them.
func (tr *Trends) relist(ctx context.Context, tx *store.Tx, subject string, changed []score.Trend) error {
	account, err := videos.Account(ctx)
	if err != nil {
		return err
	}
	texts, fit := make([]string, len(changed)), []score.Trend{}
	for i, t := range changed {
		if texts[i] = t.Key; t.Drop == score.Kept {
			fit = append(fit, t)
		}
	}
	others, err := tx.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.KeyNotIn(texts...)).
		Select(enttrend.FieldKey, enttrend.FieldPlace, enttrend.FieldListed, enttrend.FieldRecent).All(ctx)
	if err != nil {
		return fmt.Errorf("read trends: %w", err)
	}
	ids, wasListed := map[string]int64{}, map[string]int{}
	for _, row := range others {
		t, ok := score.TrendOfKey(row.Place)
		if !ok || row.Recent == nil {
			continue
		}
		t.RecentVideos = unpackIDs(*row.Recent)
		fit, ids[row.Key], wasListed[row.Key] = append(fit, t), row.ID, row.Listed
	}
	listed, dropped := score.Distinct(fit)
	now := make([]string, len(listed))
	for i := range listed {
		now[i] = listed[i].Key
	}
	if err := relisted(ctx, tx, subject, now); err != nil {
		return err
	}
	_, err = tx.Ent().Trend.Delete().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.KeyIn(texts...)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	var added []trendRow
	change := map[int][]int64{}
	for _, t := range slices.Concat(listed, dropped) {
		id, known := ids[t.Key]
		now := videos.Flag(t.Drop == score.Kept)
		switch {
		case !known:
			added = append(added, trendRow{Trend: t})
		case wasListed[t.Key] != now:
			change[now] = append(change[now], id)
		}
	}
	for now, of := range change {
		if err := tx.Ent().Trend.Update().Where(enttrend.IDIn(of...)).SetListed(now).Exec(viewer.ByIDs(ctx)); err != nil {
			return fmt.Errorf("list trends: %w", err)
		}
	}
	return tr.addTrends(ctx, tx, account, subject, added)
}
