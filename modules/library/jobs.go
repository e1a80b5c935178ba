package library

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/search"
)

// nicheJob ends the scoring of a niche that is too large for a scroll to wait for.
const nicheJob = "library.niches"

// Workers returns the work of the module.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{Kind: nicheJob, Timeout: time.Hour, Work: s.finishNiches}}
}

// Periodics returns the module's housekeeping: libraries that were scored by former rules
// or another growth table are scored again, and videos from before searches get their words.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{
		{Kind: "library.rescore", Every: 30 * time.Second, Run: s.RescoreAll},
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
