package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/uncountedvideo"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/search"
)

// nicheJob ends the scoring of a niche that is too large for a scroll to wait for.
const nicheJob = "library.niches"

// Workers returns the work of the module.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{Kind: nicheJob, Timeout: time.Hour, Work: s.finishNiches}}
}

// Periodics returns the module's housekeeping: libraries that were scored by former rules
// or another growth table are scored again, archived and restored videos are counted in
// trends, and videos from before searches get their words.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{
		{Kind: "library.rescore", Every: 30 * time.Second, Run: s.RescoreAll},
		{Kind: "library.trends", Every: time.Second, Run: s.CountAll},
		{Kind: "library.index", Every: 30 * time.Second, Run: s.IndexAll},
	}
}

// RescoreAll scores every library again that was scored by other rules, one after the
// other. It can be stopped at any time and goes on where it was.
func (s *Service) RescoreAll(ctx context.Context) error {
	for {
		account, found, err := s.nextStale(ctx)
		if err != nil || !found {
			return err
		}
		if err := s.Rescore(withTenant(ctx, account)); err != nil {
			return err
		}
	}
}

// IndexAll makes every video that an earlier version stored known to searches, in short
// transactions with pauses. Until then, searches do not find it. It can be stopped at any
// time and goes on where it was.
func (s *Service) IndexAll(ctx context.Context) error {
	for {
		account, found, err := search.NextUnindexed(ctx, s.db)
		if err != nil || !found {
			return err
		}
		err = s.hold(withTenant(ctx, account), func(ctx context.Context, tx *store.Tx) error {
			refs, err := search.Unindexed(ctx, tx, s.db)
			if err != nil || len(refs) == 0 {
				return err
			}
			known, err := s.load(ctx, tx, 0, refs)
			if err != nil {
				return err
			}
			var terms []search.Terms
			for _, v := range known {
				terms = append(terms, search.Terms{Video: v.id, Terms: v.terms()})
			}
			return search.Save(ctx, tx, s.db, terms)
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rescorePause):
		}
	}
}

const (
	// uncountedAtOnce bounds the videos that are counted together.
	uncountedAtOnce = 200
	// countTries bounds how often counting begins again, because others count too.
	countTries = 10
)

// CountAll counts what was archived or restored in every library.
func (s *Service) CountAll(ctx context.Context) error {
	next := s.db.HotTenantless(`SELECT MIN({owner}) FROM uncounted_videos WHERE {owner} > $1`, "looks for any tenant whose trends have to be counted")
	var failed []error
	for after := int64(0); ; {
		account := int64(0)
		err := next.Each(ctx, func(row store.Row) (bool, error) { account = intOf(row[0], 0); return false, nil }, after)
		if err != nil || account == 0 {
			return errors.Join(append(failed, err)...)
		}
		if err := s.CountTrends(withTenant(ctx, account)); err != nil {
			failed = append(failed, fmt.Errorf("count trends of account %d: %w", account, err))
		}
		after = account
	}
}

// CountTrends counts in the tenant's trends what was archived or restored before the call
// and is not counted yet. Two may do so at once: what one has counted, the other finds done.
func (s *Service) CountTrends(ctx context.Context) error {
	last, err := s.db.Ent().UncountedVideo.Query().Order(uncountedvideo.ByID(entsql.OrderDesc())).FirstID(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	for try := 1; err == nil; {
		var found bool
		found, err = s.countSome(ctx, last)
		if errors.Is(err, errChanged) && try < countTries {
			try, err = try+1, nil
			continue
		}
		if !found {
			break
		}
	}
	return err
}

// countSome counts some of the videos up to the last one. found is false where there are none.
func (s *Service) countSome(ctx context.Context, last int64) (found bool, err error) {
	rows, err := s.db.Ent().UncountedVideo.Query().Where(uncountedvideo.IDLTE(last)).Order(uncountedvideo.ByID()).Limit(uncountedAtOnce).All(ctx)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	parts, err := s.countParts(ctx, rows)
	if err != nil {
		return false, err
	}
	return true, s.writeParts(ctx, parts)
}

// countParts are the parts of counting the videos; the last one ends it.
func (s *Service) countParts(ctx context.Context, rows []*ent.UncountedVideo) (parts []countPart, err error) {
	ids, videos := make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		ids[i], videos[i] = row.ID, row.VideoID
	}
	slices.Sort(videos)
	carriers, err := s.carriersOf(ctx, s.outside(), slices.Compact(videos))
	if err != nil {
		return nil, err
	}
	windows, err := s.db.Ent().TrendWindow.Query().Where(trendwindow.NewestAtGT(0)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trend windows: %w", err)
	}
	for _, w := range windows {
		if videos[0] == allTrends {
			if err := s.measureTrends(ctx, w.Subject, 0); err != nil {
				return nil, err
			}
			continue
		}
		of, err := s.countIn(ctx, w, carriers)
		if err != nil {
			return nil, err
		}
		parts = append(parts, of...)
	}
	return append(parts, countPart{write: func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().UncountedVideo.Delete().Where(uncountedvideo.IDIn(ids...)).Exec(viewer.ByIDs(ctx))
		if err == nil && n != len(ids) {
			return errChanged // others have counted meanwhile
		}
		return err
	}}), nil
}

// countPart is a part of counting, with the bytes of members that it reads and writes.
type countPart struct {
	bytes int
	write func(ctx context.Context, tx *store.Tx) error
}

// writeParts does the parts in order, as many in a transaction as read little together.
func (s *Service) writeParts(ctx context.Context, parts []countPart) error {
	for len(parts) > 0 {
		n, bytes := 0, 0
		for n < len(parts) && (n == 0 || bytes+parts[n].bytes <= packedAtOnce) {
			bytes += parts[n].bytes
			n++
		}
		err := s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
			for _, p := range parts[:n] {
				if err := p.write(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}
