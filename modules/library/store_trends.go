package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/libraryrun"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// scoreTrends measures the trends of the scroll's subject.
func (s *Service) scoreTrends(ctx context.Context, scrollID int64) error {
	subject, err := s.scrolls.SubjectOf(ctx, scrollID)
	if err != nil {
		return err
	}
	if err := s.saveRun(ctx, subject, scrollID); err != nil {
		return err
	}
	return s.measureTrends(ctx, subject, scrollID)
}

// measureTrends replaces the trends of a subject. ending is a scroll that counts as
// completed, 0 for none.
func (s *Service) measureTrends(ctx context.Context, subject string, ending int64) error {
	return s.update(ctx, func(ctx context.Context, read reader) (writes, error) {
		w, err := s.gather(ctx, read, subject, ending)
		if err != nil || w == nil {
			return nil, err
		}
		rows := trendRows(w)
		return writes{func(ctx context.Context, tx *store.Tx) error { return s.saveTrends(ctx, tx, subject, w.Totals(), rows) }}, nil
	})
}

// saveRun notes what a scroll observed. A scroll without an observation leaves nothing.
func (s *Service) saveRun(ctx context.Context, subject string, scrollID int64) error {
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	var first, last, usableAt sql.NullInt64
	var repeats int64
	rows, err := s.db.Hot(`SELECT MIN(o.observed_at), MAX(o.observed_at),
MAX(CASE WHEN o.views > 0 AND o.views <= 9007199254740992 AND (o.likes IS NULL OR o.likes <= o.views) THEN o.observed_at END),
COUNT(CASE WHEN v.scroll_id <> o.scroll_id THEN 1 END)
FROM observations o CROSS JOIN videos v WHERE {tenant:o} AND o.scroll_id = $1 AND v.id = o.video_id AND +{tenant:v}`).Query(ctx, scrollID)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error { return rows.Scan(&first, &last, &usableAt, &repeats) })
	if err != nil {
		return fmt.Errorf("read what scroll %d observed: %w", scrollID, err)
	}
	if !first.Valid {
		return nil
	}
	return s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		create := tx.Ent().LibraryRun.Create().SetID(s.db.NewID()).SetAccountID(account).SetSubject(subject).SetScrollID(scrollID).
			SetFirstAt(first.Int64).SetLastAt(last.Int64).SetRepeats(repeats)
		if usableAt.Valid {
			create.SetUsableAt(usableAt.Int64)
		}
		err := create.OnConflictColumns(libraryrun.FieldAccountID, libraryrun.FieldScrollID).
			Update(func(u *ent.LibraryRunUpsert) { u.UpdateFirstAt().UpdateLastAt().UpdateUsableAt().UpdateRepeats() }).Exec(ctx)
		if err != nil {
			return fmt.Errorf("save the run of scroll %d: %w", scrollID, err)
		}
		return nil
	})
}

// trendRow is a key as one of the two lists has it.
type trendRow struct {
	score.Trend
	withArchived bool
	members      func() []score.Member // in the list with archived videos only
}

// trendRows are the keys of a window that are trends but for those above them: of the list
// with archived videos all that archiving can ever list, since it only takes away.
func trendRows(w *score.Window) (rows []trendRow) {
	var listed, same []score.Trend
	for _, withArchived := range []bool{true, false} {
		if withArchived || w.Archived() { // without archived videos both lists are the same
			listed, same = w.Trends(withArchived)
		}
		for _, t := range slices.Concat(listed, same) {
			row := trendRow{Trend: t, withArchived: withArchived}
			if withArchived {
				row.members = func() []score.Member { return w.Members(t.Key) }
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// saveTrends replaces a subject's window and its trends.
func (s *Service) saveTrends(ctx context.Context, tx *store.Tx, subject string, of score.Totals, rows []trendRow) error {
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	err = tx.Ent().TrendWindow.Create().SetID(s.db.NewID()).SetAccountID(account).SetSubject(subject).
		SetNewestAt(of.T).SetSpan(of.Span).SetVideos(of.Videos).SetRecent(of.Recent).SetEarlier(of.Earlier).
		OnConflictColumns(trendwindow.FieldAccountID, trendwindow.FieldSubject).
		Update(func(u *ent.TrendWindowUpsert) {
			u.UpdateNewestAt().UpdateSpan().UpdateVideos().UpdateRecent().UpdateEarlier()
		}).Exec(ctx)
	if err != nil {
		return fmt.Errorf("save trend window: %w", err)
	}
	var now []string
	for i := range rows {
		if !rows[i].withArchived && rows[i].Drop == score.Kept {
			now = append(now, rows[i].Key)
		}
	}
	if err := relisted(ctx, tx, subject, now); err != nil {
		return err
	}
	if _, err := tx.Ent().Trend.Delete().Where(enttrend.Subject(subject)).Exec(ctx); err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	return s.addTrends(ctx, tx, account, subject, rows)
}

// relisted adds the trends to the feed that enter or leave a list, which is still as it was.
func relisted(ctx context.Context, tx *store.Tx, subject string, now []string) error {
	before, err := tx.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.Listed(1)).
		Select(enttrend.FieldKey).Strings(ctx)
	if err != nil {
		return fmt.Errorf("read listed trends: %w", err)
	}
	return feed.Append(ctx, tx, trendsOf(before, now, scrollOf(ctx))...)
}

// addTrends stores trends, some at a time: their members may be many.
func (s *Service) addTrends(ctx context.Context, tx *store.Tx, account int64, subject string, rows []trendRow) error {
	for part := range slices.Chunk(rows, trendsAtOnce) {
		creates := make([]*ent.TrendCreate, len(part))
		for i := range part {
			t := &part[i]
			head, err := renderTrend(&t.Trend)
			if err != nil {
				return err
			}
			row := tx.Ent().Trend.Create().SetID(s.db.NewID()).SetAccountID(account).SetSubject(subject).SetWithArchived(flag(t.withArchived)).
				SetKey(t.Key).SetLabel(t.Label).SetPlace(t.AppendKey(nil)).SetListed(flag(t.Drop == score.Kept)).SetHead(head).SetVideoCount(t.VideoCount).
				SetRecent(packIDs(t.RecentVideos))
			examples := append(slices.Clone(t.Examples), 0, 0, 0)
			row.SetNillableExample1(orNil(examples[0]))
			row.SetNillableExample2(orNil(examples[1]))
			row.SetNillableExample3(orNil(examples[2]))
			if t.members != nil {
				row.SetMembers(packMembers(t.members()))
			}
			creates[i] = row
		}
		if err := tx.Ent().Trend.CreateBulk(creates...).Exec(ctx); err != nil {
			return fmt.Errorf("add trends: %w", err)
		}
	}
	return nil
}

// trendsAtOnce bounds the trends of a statement.
const trendsAtOnce = 100

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// recountAll measures the trends of every subject again, after videos were archived.
func (s *Service) recountAll(ctx context.Context, tx *store.Tx) error {
	windows, err := tx.Ent().TrendWindow.Query().All(ctx)
	if err != nil {
		return fmt.Errorf("read trend windows: %w", err)
	}
	for _, row := range windows {
		w, err := s.gather(ctx, within(tx), row.Subject, 0)
		if err != nil {
			return err
		}
		if w == nil {
			continue
		}
		if err := s.saveTrends(ctx, tx, row.Subject, w.Totals(), trendRows(w)); err != nil {
			return err
		}
	}
	return nil
}

// recountVideo measures the keys of a video again in every window that it is in, after it
// was archived or restored. Nothing else is measured: what the other keys count does not
// change, only which of them repeat one above them.
func (s *Service) recountVideo(ctx context.Context, tx *store.Tx, id int64, keys []stage.Key, archived bool) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.Key
	}
	windows, err := tx.Ent().TrendWindow.Query().Where(trendwindow.NewestAtGT(0)).All(ctx)
	if err != nil {
		return fmt.Errorf("read trend windows: %w", err)
	}
	for _, w := range windows {
		found, err := tx.Ent().Trend.Query().Where(enttrend.Subject(w.Subject), enttrend.WithArchived(1), enttrend.KeyIn(texts...)).All(ctx)
		if err != nil {
			return fmt.Errorf("read trends: %w", err)
		}
		of := score.Totals{T: w.NewestAt, Span: w.Span, Videos: w.Videos, Recent: w.Recent, Earlier: w.Earlier}
		var changed []score.Trend
		for _, row := range found {
			t, isMember, err := recount(ctx, tx, of, row, id, archived)
			if err != nil {
				return err
			}
			if isMember {
				changed = append(changed, t)
			}
		}
		if len(changed) == 0 {
			continue
		}
		if err := s.relist(ctx, tx, w.Subject, changed); err != nil {
			return err
		}
	}
	return nil
}

// recount measures a key without archived videos, after one of its own was archived or
// restored; isMember is false where the video was not in the window.
func recount(ctx context.Context, tx *store.Tx, of score.Totals, row *ent.Trend, id int64, archived bool) (t score.Trend, isMember bool, err error) {
	if row.Members == nil {
		return t, false, errors.New("a trend has no members")
	}
	members, err := unpackMembers(*row.Members)
	if err != nil {
		return t, false, err
	}
	for i := range members {
		if members[i].ID == id {
			members[i].Archived, isMember = archived, true
		}
	}
	if !isMember {
		return t, false, nil
	}
	if err := tx.Ent().Trend.UpdateOneID(row.ID).SetMembers(packMembers(members)).Exec(ctx); err != nil {
		return t, false, fmt.Errorf("save the members of a trend: %w", err)
	}
	return of.Measure(score.Key{Key: row.Key, Label: row.Label}, members, false), true, nil
}

// relist writes changed keys into the list without archived videos, and finds out anew
// which of its keys repeat one above them.
func (s *Service) relist(ctx context.Context, tx *store.Tx, subject string, changed []score.Trend) error {
	account, err := tenant(ctx)
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
		now := flag(t.Drop == score.Kept)
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
	return s.addTrends(ctx, tx, account, subject, added)
}
