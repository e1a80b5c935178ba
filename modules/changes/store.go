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
	state, window, heads, due *store.Hot
}

func newHot(db *store.DB) hot {
	return hot{
		state: db.Hot(`SELECT seq, floor FROM feeds WHERE {tenant}`),
		// One statement, so that the entries are those of the numbers beside them.
		window: db.Hot(`SELECT f.seq, f.floor, c.seq, c.at, c.kind, c.video_id, c.scroll_id, c.subject_id, c.word, c.was, c.became
FROM feeds f LEFT JOIN changes c ON {owner:c} = {owner:f} AND c.seq > $1 AND c.seq <= $2 WHERE {tenant:f} ORDER BY c.seq`),
		heads: db.HotTenantless(`SELECT {owner}, seq FROM feeds WHERE {owner} IN ({list:1})`, "those who wait are of several accounts"),
		due:   db.HotTenantless(`SELECT {owner} FROM feeds WHERE trim_at <= $1 ORDER BY trim_at LIMIT 100`, "old changes of all accounts are deleted"),
	}
}

// state returns the numbers of the last change and of the last one that was deleted, 0
// for none.
func (s *Service) state(ctx context.Context) (last, floor int64, err error) {
	err = s.hot.state.Each(ctx, func(row store.Row) (bool, error) {
		last, _ = row[0].(int64)
		floor, _ = row[1].(int64)
		return false, nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read the feed's state: %w", err)
	}
	if err := s.db.Settled(ctx); err != nil { // before a number is told
		return 0, 0, fmt.Errorf("read the feed's state: %w", err)
	}
	return last, floor, nil
}

// window reads the entries after a number, at most so many, with the feed's state.
func (s *Service) window(ctx context.Context, after, most int64) (found []Change, last, floor int64, err error) {
	rows, err := s.hot.window.Query(ctx, after, after+most)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var seq, at, video, scroll, subject sql.NullInt64
		var kind, word sql.NullString
		var c Change
		if err := rows.Scan(&last, &floor, &seq, &at, &kind, &video, &scroll, &subject, &word, &c.Old, &c.New); err != nil {
			return err
		}
		if !seq.Valid {
			return nil
		}
		c.Seq, c.At, c.Kind, c.Video, c.Scroll, c.Subject, c.Word = seq.Int64, at.Int64, feed.Kind(kind.String), video.Int64, scroll.Int64, subject.Int64, word.String
		found = append(found, c)
		return nil
	})
	if err != nil {
		return nil, 0, 0, fmt.Errorf("read changes: %w", err)
	}
	if err := s.db.Settled(ctx); err != nil { // before a number is told
		return nil, 0, 0, fmt.Errorf("read changes: %w", err)
	}
	return found, last, floor, nil
}

// heads returns the last numbers of accounts.
func (s *Service) heads(ctx context.Context, accounts []int64) (map[int64]int64, error) {
	heads := make(map[int64]int64, len(accounts))
	rows, err := s.hot.heads.Query(ctx, accounts)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var account, seq int64
		err := rows.Scan(&account, &seq)
		heads[account] = seq
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the heads of feeds: %w", err)
	}
	return heads, nil
}

// dropAtOnce bounds the changes that one transaction deletes.
const dropAtOnce = 1000

// trimmable returns accounts with changes that may be old enough, the longest overdue first.
func (s *Service) trimmable(ctx context.Context, now time.Time) (accounts []int64, err error) {
	rows, err := s.hot.due.Query(ctx, now.UnixMilli())
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var account int64
		err := rows.Scan(&account)
		accounts = append(accounts, account)
		return err
	})
	return accounts, err
}

// trim deletes changes of the account that are too old, at most dropAtOnce, and notes when
// to come again.
func (s *Service) trim(ctx context.Context, account int64, now time.Time) error {
	keepFrom := s.db.Hot(`SELECT MIN(seq) FROM changes WHERE {tenant} AND seq > $1 AND seq <= $2 AND at >= $3`)
	drop := s.db.Hot(`DELETE FROM changes WHERE {tenant} AND seq <= $1`)
	timeOf := s.db.Hot(`SELECT at FROM changes WHERE {tenant} AND seq = $1`)
	return s.db.Write(viewer.As(ctx, account), func(ctx context.Context, tx *store.Tx) error {
		row, err := tx.Ent().Feed.Query().Only(ctx)
		if err != nil {
			return err
		}
		end := min(row.Floor+dropAtOnce, row.Seq)
		var kept, at sql.NullInt64
		scan := func(into *sql.NullInt64) func(*sql.Rows) error {
			return func(rows *sql.Rows) error { return rows.Scan(into) }
		}
		err = store.Scan(keepFrom.QueryIn(ctx, tx, row.Floor, end, now.Add(-s.keep).UnixMilli()))(scan(&kept))
		if err != nil {
			return err
		}
		if kept.Valid {
			end = kept.Int64 - 1
		}
		if _, err := drop.ExecIn(ctx, tx, end); err != nil {
			return err
		}
		if err := store.Scan(timeOf.QueryIn(ctx, tx, end+1))(scan(&at)); err != nil {
			return err
		}
		next := now.Add(s.keep)
		if at.Valid {
			next = time.UnixMilli(at.Int64).Add(s.keep)
		}
		return tx.Ent().Feed.Update().Where(entfeed.ID(row.ID)).SetFloor(end).SetTrimAt(next.UnixMilli()).Exec(ctx)
	})
}
