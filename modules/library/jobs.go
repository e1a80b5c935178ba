package library

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/search"
)

// nicheJob ends the scoring of a niche that is too large for a scroll to wait for.
const nicheJob = "library.niches"

// Workers returns the work of the module.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{Kind: nicheJob, Timeout: time.Hour, Aside: true, Work: s.finishNiches}}
}

// Periodics returns the module's housekeeping: libraries that were scored by former rules
// or another growth table are scored again, archived and restored videos are counted in
// trends, and videos from before searches get their words.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{
		{Kind: "library.rescore", Every: 30 * time.Second, Aside: true, Run: s.RescoreAll},
		{Kind: "library.trends", Every: time.Second, Run: s.CountAll},
		{Kind: "library.index", Every: 30 * time.Second, Aside: true, Run: s.IndexAll},
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
