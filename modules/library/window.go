package library

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

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

// candidate is a key that may be a trend.
type candidate struct {
	labels  map[string]int
	members []member
}

// label is the display form that most carriers use.
func (c *candidate) label() (best string) {
	for _, label := range sortedKeys(c.labels) {
		if c.labels[label] > c.labels[best] {
			best = label
		}
	}
	return best
}

// scoreTrends measures the trends of the scroll's subject.
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
	return s.update(ctx, func(ctx context.Context, read reader) (writes, error) {
		return writes{func(ctx context.Context, tx *store.Tx) error { return s.saveWindow(ctx, tx, w) }}, s.measureWindow(ctx, read, w)
	})
}

// measureWindow counts the window's videos and finds the keys that are trends
// when archived videos count: without them there are none besides.
func (s *Service) measureWindow(ctx context.Context, read reader, w *window) error {
	spans := map[int64]*span{}
	rows, err := read.hot(ctx, s.hot.observed, w.scrolls)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
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
	rows, err = read.hot(ctx, s.hot.carriers, w.scrolls)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var m member
		var creator sql.NullInt64
		var keys string
		if err := rows.Scan(&m.video, &creator, &m.archived, &keys); err != nil {
			return err
		}
		m.creator, m.multiple = creator.Int64, spans[m.video].multiple()
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
		return fmt.Errorf("read videos with keys: %w", err)
	}
	for _, key := range sortedKeys(found) {
		if _, ok := measure(found[key].members, true); ok {
			w.trends = append(w.trends, trend{key: key, label: found[key].label(), members: found[key].members})
		}
	}
	return nil
}

// generic reports whether a key names the feed instead of a subject.
func (s *Service) generic(key string) bool {
	name, found := strings.CutPrefix(key, "hashtag:")
	if !found {
		name, found = strings.CutPrefix(key, "term:")
	}
	return found && s.isGeneric[name]
}

// windows reads the tenant's windows, without their trends.
func (s *Service) windows(ctx context.Context, tx *store.Tx) (windows []*window, err error) {
	rows, err := tx.Ent().TrendWindow.Query().All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trend windows: %w", err)
	}
	for _, row := range rows {
		w := &window{subject: row.Subject, videos: row.Videos, all: row.AllVideos}
		for _, digits := range strings.Fields(row.Scrolls) {
			id, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("read trend window: %w", err)
			}
			w.scrolls = append(w.scrolls, id)
		}
		windows = append(windows, w)
	}
	return windows, nil
}
