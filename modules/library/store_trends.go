package library

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// saveWindow replaces a subject's window and its trends.
func (s *Service) saveWindow(ctx context.Context, tx *store.Tx, w *window) error {
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	scrolls := make([]string, len(w.scrolls))
	for i, id := range w.scrolls {
		scrolls[i] = strconv.FormatInt(id, 10)
	}
	err = tx.Ent().TrendWindow.Create().SetID(s.db.NewID()).SetAccountID(account).SetSubject(w.subject).
		SetScrolls(strings.Join(scrolls, " ")).SetVideos(w.videos).SetAllVideos(w.all).
		OnConflictColumns(trendwindow.FieldAccountID, trendwindow.FieldSubject).
		Update(func(u *ent.TrendWindowUpsert) { u.UpdateScrolls().UpdateVideos().UpdateAllVideos() }).Exec(ctx)
	if err != nil {
		return fmt.Errorf("save trend window: %w", err)
	}
	if _, err := tx.Ent().Trend.Delete().Where(enttrend.Subject(w.subject)).Exec(ctx); err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	return s.addTrends(ctx, tx, w.subject, w.trends, true)
}

// addTrends writes measured keys into the list without archived videos, and
// where all is true into the one with them too.
func (s *Service) addTrends(ctx context.Context, tx *store.Tx, subject string, trends []trend, all bool) error {
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	var rows []*ent.TrendCreate
	for _, t := range trends {
		for withArchived := range 2 {
			g, ok := measure(t.members, withArchived == 1)
			if !ok || withArchived == 1 && !all {
				continue
			}
			head, err := renderTrend(t.key, t.label, g)
			if err != nil {
				return err
			}
			row := tx.Ent().Trend.Create().SetID(s.db.NewID()).SetAccountID(account).SetSubject(subject).SetWithArchived(withArchived).
				SetKey(t.key).SetLabel(t.label).SetPlace(trendOrder(g.median, g.videos, t.key)).SetHead(head).SetVideoCount(g.videos)
			examples := append(slices.Clone(g.examples), 0, 0)
			row.SetExample1(examples[0])
			row.SetNillableExample2(orNil(examples[1]))
			row.SetNillableExample3(orNil(examples[2]))
			if withArchived == 1 {
				row.SetMembers(packMembers(t.members))
			}
			rows = append(rows, row)
		}
	}
	for part := range slices.Chunk(rows, videosAtOnce) {
		if err := tx.Ent().Trend.CreateBulk(part...).Exec(ctx); err != nil {
			return fmt.Errorf("add trends: %w", err)
		}
	}
	return nil
}

func orNil(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// recountAll measures every window again, after videos were archived.
func (s *Service) recountAll(ctx context.Context, tx *store.Tx) error {
	windows, err := s.windows(ctx, tx)
	if err != nil {
		return err
	}
	for _, w := range windows {
		if err := s.measureWindow(ctx, within(tx), w); err != nil {
			return err
		}
		if err := s.saveWindow(ctx, tx, w); err != nil {
			return err
		}
	}
	return nil
}

// recountVideo measures the keys of a video again in every window that it is in,
// after it was archived or restored.
func (s *Service) recountVideo(ctx context.Context, tx *store.Tx, id int64, keys []stage.Key, archived bool) error {
	windows, err := s.windows(ctx, tx)
	if err != nil {
		return err
	}
	by := 1
	if archived {
		by = -1
	}
	for _, w := range windows {
		seen, err := tx.Ent().Observation.Query().Where(observation.ScrollIDIn(w.scrolls...), observation.VideoID(id)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("find observations: %w", err)
		}
		if !seen {
			continue
		}
		if err := tx.Ent().TrendWindow.Update().Where(trendwindow.Subject(w.subject)).AddVideos(by).Exec(ctx); err != nil {
			return fmt.Errorf("count videos of a trend window: %w", err)
		}
		if err := s.recountKeys(ctx, tx, w.subject, keys); err != nil {
			return err
		}
	}
	return nil
}

// recountKeys writes the list without archived videos anew for the keys.
func (s *Service) recountKeys(ctx context.Context, tx *store.Tx, subject string, keys []stage.Key) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.Key
	}
	found, err := tx.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(1), enttrend.KeyIn(texts...)).All(ctx)
	if err != nil {
		return fmt.Errorf("read trends: %w", err)
	}
	trends := make([]trend, len(found))
	all := map[int64]*ent.Video{}
	for i, row := range found {
		trends[i] = trend{key: row.Key, label: row.Label}
		if trends[i].members, err = unpackMembers(*row.Members); err != nil {
			return err
		}
		for _, m := range trends[i].members {
			all[m.video] = nil
		}
	}
	for part := range slices.Chunk(sortedKeys(all), videosAtOnce) {
		rows, err := tx.Ent().Video.Query().Where(video.IDIn(part...)).Select(video.FieldCreatorID, video.FieldArchived).All(ctx)
		if err != nil {
			return fmt.Errorf("read members: %w", err)
		}
		for _, row := range rows {
			all[row.ID] = row
		}
	}
	for _, t := range trends {
		for i, m := range t.members {
			now := all[m.video]
			if now == nil {
				continue
			}
			if t.members[i].archived = now.Archived == 1; now.CreatorID != nil {
				t.members[i].creator = *now.CreatorID
			}
		}
	}
	_, err = tx.Ent().Trend.Delete().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.KeyIn(texts...)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	return s.addTrends(ctx, tx, subject, trends, false)
}
