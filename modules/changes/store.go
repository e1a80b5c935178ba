package changes

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	entfeed "github.com/scrollery/scrollery/ent/feed"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// hot holds the statements of the feed, whose table no Ent client knows: its key is the
// account and the number.
type hot struct {
	state, window, timeOf, heads, due *store.Hot
}

func newHot(db *store.DB) hot {
	return hot{
		state: db.Hot(`SELECT seq, floor FROM feeds WHERE {tenant}`),
		// One statement, so that the entries are those of the numbers beside them.
		window: db.Hot(`SELECT f.seq AS last, f.floor, c.seq, c.at, c.kind, c.video_id, c.scroll_id, c.subject_id, c.word, c.was, c.became
FROM feeds f LEFT JOIN changes c ON {owner:c} = {owner:f} AND c.seq > $1 AND c.seq <= $2 WHERE {tenant:f} ORDER BY c.seq`),
		timeOf: db.Hot(`SELECT at FROM changes WHERE {tenant} AND seq = $1`),
		heads:  db.HotTenantless(`SELECT {owner}, seq FROM feeds WHERE {owner} IN ({list:1})`, "those who wait are of several accounts"),
		due:    db.HotTenantless(`SELECT {owner} FROM feeds WHERE trim_at <= $1 ORDER BY trim_at LIMIT 100`, "old changes of all accounts are deleted"),
	}
}

// state returns the numbers of the last change and of the last one that was deleted, 0
// for none.
func (s *Service) state(ctx context.Context) (last, floor int64, err error) {
	feed, _, err := store.One[struct{ Seq, Floor int64 }](ctx, s.hot.state)
	if err != nil {
		return 0, 0, fmt.Errorf("read the feed's state: %w", err)
	}
	return feed.Seq, feed.Floor, nil
}

// entry is a change beside the state of its feed; without changes, the state alone.
type entry struct {
	Last, Floor                  int64
	Seq, At                      sql.NullInt64
	VideoID, ScrollID, SubjectID sql.NullInt64
	Kind, Word                   sql.NullString
	Was, Became                  sql.NullFloat64
}

func (e *entry) change() Change {
	return Change{Seq: e.Seq.Int64, At: e.At.Int64, Change: feed.Change{
		Kind: feed.Kind(e.Kind.String), Video: e.VideoID.Int64, Scroll: e.ScrollID.Int64, Subject: e.SubjectID.Int64,
		Word: e.Word.String, Old: e.Was, New: e.Became,
	}}
}

// window reads the entries after a number, at most so many, with the feed's state.
func (s *Service) window(ctx context.Context, after, most int64) (found []Change, last, floor int64, err error) {
	err = store.Each(ctx, s.hot.window, func(e *entry) (bool, error) {
		last, floor = e.Last, e.Floor
		if e.Seq.Valid {
			found = append(found, e.change())
		}
		return true, nil
	}, after, after+most)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read changes: %w", err)
	}
	return found, last, floor, nil
}

// timeOf returns when a change happened, 0 for one that is deleted meanwhile.
func (s *Service) timeOf(ctx context.Context, seq int64) (at int64, err error) {
	at, _, err = store.One[int64](ctx, s.hot.timeOf, seq)
	if err != nil {
		return 0, fmt.Errorf("read the time of change %d: %w", seq, err)
	}
	return at, nil
}

// heads returns the last numbers of accounts.
func (s *Service) heads(ctx context.Context, accounts []int64) (map[int64]int64, error) {
	heads := make(map[int64]int64, len(accounts))
	err := store.Each(ctx, s.hot.heads, func(feed *struct{ AccountID, Seq int64 }) (bool, error) {
		heads[feed.AccountID] = feed.Seq
		return true, nil
	}, accounts)
	if err != nil {
		return nil, fmt.Errorf("read the heads of feeds: %w", err)
	}
	return heads, nil
}

// dropAtOnce bounds the changes that one transaction deletes.
const dropAtOnce = 1000

// trimmable returns accounts with changes that may be old enough, the longest overdue first.
func (s *Service) trimmable(ctx context.Context, now time.Time) (accounts []int64, err error) {
	return store.Query[int64](ctx, s.hot.due, now.UnixMilli())
}

// trim deletes changes of the account that are too old, at most dropAtOnce, and notes when
// to come again.
func (s *Service) trim(ctx context.Context, account int64, now time.Time) error {
	keepFrom := s.db.Hot(`SELECT MIN(seq) FROM changes WHERE {tenant} AND seq > $1 AND seq <= $2 AND at >= $3`)
	drop := s.db.Hot(`DELETE FROM changes WHERE {tenant} AND seq <= $1`)
	return s.db.Write(viewer.As(ctx, account), func(ctx context.Context, tx *store.Tx) error {
		row, err := tx.Ent().Feed.Query().Only(ctx)
		if err != nil {
			return err
		}
		end := min(row.Floor+dropAtOnce, row.Seq)
		kept, _, err := store.OneIn[sql.NullInt64](ctx, tx, keepFrom, row.Floor, end, now.Add(-s.keep).UnixMilli())
		if err != nil {
			return err
		}
		if kept.Valid {
			end = kept.Int64 - 1
		}
		if _, err := drop.ExecIn(ctx, tx, end); err != nil {
			return err
		}
		at, found, err := store.OneIn[int64](ctx, tx, s.hot.timeOf, end+1)
		if err != nil {
			return err
		}
		next := now.Add(s.keep)
		if found {
			next = time.UnixMilli(at).Add(s.keep)
		}
		return tx.Ent().Feed.Update().Where(entfeed.ID(row.ID)).SetFloor(end).SetTrimAt(next.UnixMilli()).Exec(ctx)
	})
}
