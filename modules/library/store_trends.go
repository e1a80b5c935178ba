package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// reader runs a tenant's query, $1 being the account: in a transaction, or
// prepared on the pool of readers.
type reader func(ctx context.Context, query string, args ...any) (*sql.Rows, error)

func (s *Service) prepared(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.statement(query).Query(ctx, args...)
}

func within(tx *store.Tx, account int64) reader {
	return func(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
		return tx.Query(ctx, query, append([]any{account}, args...)...)
	}
}

// window is what a subject's trends are measured over.
type window struct {
	subject     string
	scrolls     []int64
	videos, all int
	trends      []trend
}

// trend is a key measured, with and without archived videos.
type trend struct {
	key, label string
	members    []member
}

var errChanged = errors.New("the library changed meanwhile")

// scoreTrends measures the trends of the scroll's subject. It reads outside of the
// transaction, so that nobody waits for it, and starts again when the library
// changed meanwhile; after a few times it reads inside.
func (s *Service) scoreTrends(ctx context.Context, scrollID int64) error {
	subject, err := s.scrolls.SubjectOf(ctx, scrollID)
	if err != nil {
		return err
	}
	_, scrolls, err := s.scrolls.Completed(ctx, subject, windowScrolls)
	if err != nil {
		return err
	}
	if !slices.Contains(scrolls, scrollID) {
		scrolls = append([]int64{scrollID}, scrolls...)
	}
	w := &window{subject: subject, scrolls: scrolls[:min(len(scrolls), windowScrolls)]}
	for try := 0; try < 3; try++ {
		revision, err := s.revision(ctx)
		if err != nil {
			return err
		}
		if err := s.measureWindow(ctx, s.prepared, w); err != nil {
			return err
		}
		err = s.writeWindow(ctx, w, &revision)
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return s.writeWindow(ctx, w, nil)
}

// writeWindow writes a measured window, unless the revision is another by now;
// without a revision it measures in the transaction.
func (s *Service) writeWindow(ctx context.Context, w *window, revision *int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		account, err := tenant(ctx)
		if err != nil {
			return err
		}
		if err := s.raise(ctx, tx, account, 0); err != nil {
			return err
		}
		if revision == nil {
			if err := s.measureWindow(ctx, within(tx, account), w); err != nil {
				return err
			}
			return s.replaceTrends(ctx, tx, account, w)
		}
		var now int64
		rows, err := tx.Query(ctx, revisionQuery, account)
		if err := each(rows, err, func(rows *sql.Rows) error { return rows.Scan(&now) }); err != nil {
			return err
		}
		if now != *revision+1 {
			return errChanged
		}
		return s.replaceTrends(ctx, tx, account, w)
	})
}

const (
	observedQuery = `SELECT video_id, scroll_id, views, likes, observed_at FROM observations
WHERE account_id = $1 AND scroll_id IN ($2, $3, $4, $5, $6)`
	carriersQuery = `SELECT v.id, v.creator_id, v.archived, d.keys FROM videos v CROSS JOIN video_docs d
WHERE v.account_id = $1 AND d.id = v.id AND v.id IN (SELECT video_id FROM observations WHERE scroll_id IN ($2, $3, $4, $5, $6)) ORDER BY v.id`
)

// span is the first and the last usable observation of a video in a window.
type span struct {
	firstAt, firstScroll, firstViews int64
	lastAt, lastScroll, lastViews    int64
	usable                           int
}

func (s *span) add(at, scroll, views int64) {
	if s.usable == 0 || at < s.firstAt || at == s.firstAt && scroll < s.firstScroll {
		s.firstAt, s.firstScroll, s.firstViews = at, scroll, views
	}
	if s.usable == 0 || at > s.lastAt || at == s.lastAt && scroll > s.lastScroll {
		s.lastAt, s.lastScroll, s.lastViews = at, scroll, views
	}
	s.usable++
}

// measureWindow counts the window's videos and finds the keys that are trends
// when archived videos count: without them there are none besides.
func (s *Service) measureWindow(ctx context.Context, read reader, w *window) error {
	scrolls := make([]any, windowScrolls)
	for i := range scrolls {
		scrolls[i] = int64(0)
		if i < len(w.scrolls) {
			scrolls[i] = w.scrolls[i]
		}
	}
	spans := map[int64]*span{}
	rows, err := read(ctx, observedQuery, scrolls...)
	err = each(rows, err, func(rows *sql.Rows) error {
		var video, scroll, at int64
		var views, likes *int64
		if err := rows.Scan(&video, &scroll, &views, &likes, &at); err != nil {
			return err
		}
		if !usable(views, likes) {
			return nil
		}
		if spans[video] == nil {
			spans[video] = &span{}
		}
		spans[video].add(at, scroll, *views)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read observations: %w", err)
	}
	w.videos, w.all, w.trends = 0, 0, nil
	found := map[string]*candidate{}
	rows, err = read(ctx, carriersQuery, scrolls...)
	err = each(rows, err, func(rows *sql.Rows) error {
		var m member
		var creator sql.NullInt64
		var keys string
		if err := rows.Scan(&m.video, &creator, &m.archived, &keys); err != nil {
			return err
		}
		m.creator = creator.Int64
		if seen := spans[m.video]; seen != nil && seen.usable > 1 {
			m.multiple = multiple(seen.firstViews, seen.lastViews)
		}
		w.all++
		if !m.archived {
			w.videos++
		}
		for _, key := range unpackKeys(keys) {
			if s.generic(key.Key) {
				continue
			}
			if found[key.Key] == nil {
				found[key.Key] = &candidate{labels: map[string]int{}}
			}
			found[key.Key].labels[key.Label]++
			found[key.Key].members = append(found[key.Key].members, m)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read carriers: %w", err)
	}
	for _, key := range names(found) {
		if _, ok := measure(found[key].members, true); ok {
			w.trends = append(w.trends, trend{key: key, label: found[key].label(), members: found[key].members})
		}
	}
	return nil
}

// candidate is a key that may be a trend.
type candidate struct {
	labels  map[string]int
	members []member
}

// label is the display form that most carriers use.
func (c *candidate) label() (best string) {
	for _, label := range names(c.labels) {
		if c.labels[label] > c.labels[best] {
			best = label
		}
	}
	return best
}

func (s *Service) replaceTrends(ctx context.Context, tx *store.Tx, account int64, w *window) error {
	scrolls := make([]string, len(w.scrolls))
	for i, id := range w.scrolls {
		scrolls[i] = strconv.FormatInt(id, 10)
	}
	err := s.write("INSERT INTO trend_windows (id, account_id, subject, scrolls, videos, all_videos) VALUES (",
		arg{s.db.NewID()}, ", ", arg{account}, ", ", arg{w.subject}, ", ", arg{strings.Join(scrolls, " ")}, ", ", arg{w.videos}, ", ", arg{w.all},
		") ON CONFLICT (account_id, subject) DO UPDATE SET scrolls = excluded.scrolls, videos = excluded.videos, all_videos = excluded.all_videos").exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("write trend window: %w", err)
	}
	err = s.write("DELETE FROM trends WHERE account_id = ", arg{account}, " AND subject = ", arg{w.subject}).exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("clear trends: %w", err)
	}
	return s.insertTrends(ctx, tx, account, w.subject, w.trends, true)
}

// insertTrends writes measured keys into the list without archived videos, and
// where all is true into the one with them too.
func (s *Service) insertTrends(ctx context.Context, tx *store.Tx, account int64, subject string, trends []trend, all bool) error {
	var values [][]any
	for _, t := range trends {
		for _, withArchived := range []bool{false, true} {
			g, ok := measure(t.members, withArchived)
			if !ok || withArchived && !all {
				continue
			}
			row := []any{
				s.db.NewID(), account, subject, 0, t.key, t.label, trendOrder(g.median, g.videos, t.key),
				renderTrend(t.key, t.label, g.videos, g.median), g.videos, nil, nil, nil, nil,
			}
			for i, id := range g.examples {
				row[9+i] = id
			}
			if withArchived {
				row[3], row[12] = 1, packMembers(t.members)
			}
			values = append(values, row)
		}
	}
	for part := range slices.Chunk(values, videosAtOnce) {
		err := s.write("INSERT INTO trends (id, account_id, subject, with_archived, key, label, place, head, video_count, example1, example2, example3, members) VALUES ").
			rows(part).exec(ctx, tx)
		if err != nil {
			return fmt.Errorf("write trends: %w", err)
		}
	}
	return nil
}

// windows reads the tenant's windows, without their trends.
func (s *Service) windows(ctx context.Context, tx *store.Tx, account int64) (windows []*window, err error) {
	err = s.write("SELECT subject, scrolls, videos, all_videos FROM trend_windows WHERE account_id = ", arg{account}).query(ctx, tx, func(rows *sql.Rows) error {
		var w window
		var scrolls string
		if err := rows.Scan(&w.subject, &scrolls, &w.videos, &w.all); err != nil {
			return err
		}
		for _, digits := range strings.Fields(scrolls) {
			id, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return fmt.Errorf("read trend window: %w", err)
			}
			w.scrolls = append(w.scrolls, id)
		}
		windows = append(windows, &w)
		return nil
	})
	return windows, err
}

// retrend measures the keys of a video again in every window that it is in, after
// it was archived or restored.
func (s *Service) retrend(ctx context.Context, tx *store.Tx, account, video int64, keys string, archived bool) error {
	windows, err := s.windows(ctx, tx, account)
	if err != nil {
		return err
	}
	for _, w := range windows {
		var seen bool
		err := s.write("SELECT 1 FROM observations WHERE account_id = ", arg{account}, " AND video_id = ", arg{video}, " AND scroll_id IN (").
			numbers(w.scrolls).add(") LIMIT 1").query(ctx, tx, func(*sql.Rows) error { seen = true; return nil })
		if err != nil {
			return err
		}
		if !seen {
			continue
		}
		by := 1
		if archived {
			by = -1
		}
		err = s.write("UPDATE trend_windows SET videos = videos + ", arg{by}, " WHERE account_id = ", arg{account}, " AND subject = ", arg{w.subject}).exec(ctx, tx)
		if err != nil {
			return err
		}
		if err := s.remeasure(ctx, tx, account, w.subject, keys); err != nil {
			return err
		}
	}
	return nil
}

// remeasure writes the list without archived videos anew for the keys.
func (s *Service) remeasure(ctx context.Context, tx *store.Tx, account int64, subject, packed string) error {
	keys := unpackKeys(packed)
	if len(keys) == 0 {
		return nil
	}
	in := func(t *text) *text {
		for i, key := range keys {
			if i > 0 {
				t.add(", ")
			}
			t.add(arg{key.Key})
		}
		return t.add(")")
	}
	var trends []trend
	everybody := map[int64]member{}
	err := in(s.write("SELECT key, label, members FROM trends WHERE account_id = ", arg{account}, " AND subject = ", arg{subject}, " AND with_archived = 1 AND key IN (")).
		query(ctx, tx, func(rows *sql.Rows) error {
			var t trend
			var packed []byte
			if err := rows.Scan(&t.key, &t.label, &packed); err != nil {
				return err
			}
			var err error
			t.members, err = unpackMembers(packed)
			for _, m := range t.members {
				everybody[m.video] = member{}
			}
			trends = append(trends, t)
			return err
		})
	if err != nil {
		return fmt.Errorf("read trends: %w", err)
	}
	for part := range slices.Chunk(names(everybody), videosAtOnce) {
		err := s.write("SELECT id, creator_id, archived FROM videos WHERE account_id = ", arg{account}, " AND id IN (").numbers(part).add(")").
			query(ctx, tx, func(rows *sql.Rows) error {
				var m member
				var creator sql.NullInt64
				err := rows.Scan(&m.video, &creator, &m.archived)
				m.creator = creator.Int64
				everybody[m.video] = m
				return err
			})
		if err != nil {
			return fmt.Errorf("read members: %w", err)
		}
	}
	for _, t := range trends {
		for i, m := range t.members {
			now := everybody[m.video]
			t.members[i].creator, t.members[i].archived = now.creator, now.archived
		}
	}
	err = in(s.write("DELETE FROM trends WHERE account_id = ", arg{account}, " AND subject = ", arg{subject}, " AND with_archived = 0 AND key IN (")).exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("clear trends: %w", err)
	}
	return s.insertTrends(ctx, tx, account, subject, trends, false)
}
