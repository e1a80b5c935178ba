package scoring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// NicheJob ends the scoring of a niche that is too large for a scroll to wait for.
const NicheJob = "library.niches"

// Workers returns the work of the module.
func (s *Service) Workers() []jobs.Worker {
	return []jobs.Worker{{Kind: NicheJob, Timeout: time.Hour, Work: s.FinishNiches}}
}

// Periodics returns the housekeeping: libraries that were scored by former rules or another
// growth table are scored again, and so are those of which videos were deleted; archived and
// restored videos are counted in trends.
func (s *Service) Periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: "library.rescore", Every: 30 * time.Second, Run: s.RescoreAll},
		{Kind: "library.unscored", Every: time.Second, Run: s.ScoreAllUnscored},
		{Kind: "library.trends", Every: time.Second, Run: s.Trends.CountAll},
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
		if err := s.Rescore(viewer.As(ctx, account)); err != nil {
			return err
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
func (tr *Trends) CountAll(ctx context.Context) error {
	next := tr.db.HotTenantless(`SELECT COALESCE(MIN({owner}), 0) FROM uncounted_videos WHERE {owner} > $1`, "looks for any tenant whose trends have to be counted")
	var failed []error
	for after := int64(0); ; {
		account, _, err := store.One[int64](ctx, next, after)
		if err != nil || account == 0 {
			return errors.Join(append(failed, err)...)
		}
		if err := tr.CountTrends(viewer.As(ctx, account)); err != nil {
			failed = append(failed, fmt.Errorf("count trends of account %d: %w", account, err))
		}
		after = account
	}
}

// CountPart is a part of counting, with the bytes of members that it reads and writes.
type CountPart struct {
	Bytes int
	write func(ctx context.Context, tx *store.Tx) error
}

// WriteParts does the parts in order, as many in a transaction as read little together.
func (tr *Trends) WriteParts(ctx context.Context, parts []CountPart) error {
	for len(parts) > 0 {
		n, bytes := 0, 0
		for n < len(parts) && (n == 0 || bytes+parts[n].Bytes <= packedAtOnce) {
			bytes += parts[n].Bytes
			n++
		}
		err := tr.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
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
