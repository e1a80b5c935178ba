package library

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// peersAtOnce is how many niche peers are read at a time.
	peersAtOnce = 1000
	// nicheTries is how often a niche is scored beside everybody else's writes,
	// before it is done with the library held.
	nicheTries = 3
)

const (
	thinQuery = `SELECT v.id, v.creator_id, v.posted_at, v.usable_at, v.usable_views, v.outlier_order FROM creators c CROSS JOIN videos v
WHERE c.account_id = $1 AND c.platform = $2 AND c.thin = 1 AND v.account_id = $1 AND v.creator_id = c.id AND v.usable_views IS NOT NULL`
	strayQuery = `SELECT id, creator_id, posted_at, usable_at, usable_views, outlier_order FROM videos
WHERE account_id = $1 AND creator_id IS NULL AND platform = $2 AND usable_views IS NOT NULL`
	datedQuery = `SELECT id, creator_id, posted_at, usable_at, usable_views, outlier_order FROM videos
WHERE account_id = $1 AND platform = $2 AND posted_at <= $3 AND (posted_at < $3 OR id > $4) AND usable_views IS NOT NULL
ORDER BY posted_at DESC, id LIMIT 1000`
	undatedQuery = `SELECT id, creator_id, posted_at, usable_at, usable_views, outlier_order FROM videos
WHERE account_id = $1 AND platform = $2 AND posted_at IS NULL AND id > $3 AND usable_views IS NOT NULL ORDER BY id LIMIT 1000`
)

// scoreNiche scores the videos of a platform that have too few peers by their
// creator. Reading them takes long, so it is done outside of transactions; what
// comes of it is written only while the library is as it was read. A library that
// never rests is held for once.
func (s *Service) scoreNiche(ctx context.Context, platform string) error {
	for range nicheTries {
		revision, err := s.revision(ctx)
		if err != nil {
			return err
		}
		changes, err := nicheChanges(ctx, platform, s.prepared)
		if err != nil {
			return err
		}
		if err = s.applyUnchanged(ctx, revision, changes); !errors.Is(err, errChanged) {
			return err
		}
	}
	return s.hold(ctx, func(ctx context.Context, tx *store.Tx, account int64) error {
		changes, err := nicheChanges(ctx, platform, within(tx, account))
		if err != nil {
			return err
		}
		return s.applyScores(ctx, tx, account, changes)
	})
}

// hold runs do in a transaction that keeps the tenant's others waiting.
func (s *Service) hold(ctx context.Context, do func(ctx context.Context, tx *store.Tx, account int64) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		account, err := tenant(ctx)
		if err != nil {
			return err
		}
		if err := s.raise(ctx, tx, account, 0); err != nil {
			return err
		}
		return do(ctx, tx, account)
	})
}

// applyUnchanged writes scores that were made at a revision, in short
// transactions. It stops with errChanged once the library has another one.
func (s *Service) applyUnchanged(ctx context.Context, revision int64, changes []change) error {
	for part := range slices.Chunk(changes, videosAtOnce) {
		revision++ // hold's own
		err := s.hold(ctx, func(ctx context.Context, tx *store.Tx, account int64) error {
			var now int64
			rows, err := tx.Query(ctx, revisionQuery, account)
			if err := each(rows, err, func(rows *sql.Rows) error { return rows.Scan(&now) }); err != nil {
				return fmt.Errorf("read library revision: %w", err)
			}
			if now != revision {
				return errChanged
			}
			return s.applyScores(ctx, tx, account, part)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nicheChanges returns the scores that the platform's rows do not show yet.
func nicheChanges(ctx context.Context, platform string, read reader) ([]change, error) {
	creators := map[int64][]*sample{}
	for _, query := range []string{thinQuery, strayQuery} {
		rows, err := read(ctx, query, platform)
		err = each(rows, err, func(rows *sql.Rows) error {
			v, _, err := scanSample(rows)
			if err == nil {
				creators[v.creator] = append(creators[v.creator], v)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	youtube := platform == "youtube"
	targets := creators[0] // nobody's: no two of them have the same creator
	delete(creators, 0)
	for _, id := range names(creators) {
		targets = append(targets, scoreByCreator(creators[id], youtube, func(*sample, score) {})...)
	}
	slices.SortFunc(targets, func(a, b *sample) int { return cmp.Or(cmp.Compare(a.age(), b.age()), byDate(a, b)) })
	b := &board{youtube: youtube, more: func(undated bool, after *sample) ([]*sample, bool, error) {
		return nichePeersAfter(ctx, platform, read, undated, after)
	}}
	var changes []change
	for _, v := range targets {
		result, err := b.score(v)
		if err != nil {
			return nil, err
		}
		changes = append(changes, v.become(result)...)
	}
	return changes, nil
}

func nichePeersAfter(ctx context.Context, platform string, read reader, noDate bool, after *sample) (peers []*sample, end bool, err error) {
	query, args := datedQuery, []any{platform, int64(1<<63 - 1), int64(0)}
	if after != nil {
		args = []any{platform, after.posted, after.id}
	}
	if noDate {
		query, args = undatedQuery, []any{platform, int64(0)}
		if after != nil {
			args[1] = after.id
		}
	}
	rows, err := read(ctx, query, args...)
	err = each(rows, err, func(rows *sql.Rows) error {
		v, _, err := scanSample(rows)
		peers = append(peers, v)
		return err
	})
	return peers, len(peers) < peersAtOnce, err
}
