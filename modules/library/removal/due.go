package removal

import (
	"context"
	"time"
)

// Due is what the sweep of a source has before it.
type Due struct {
	Source string
	// Next is the earliest time at which something of a library is looked at; zero for never.
	Next time.Time
	// Overdue is in how many libraries that time was more than late ago.
	Overdue int
}

// late is how long after its time a sweep may look at something: it runs every hour.
const late = 2 * time.Hour

// Due returns, for each source of which the policy deletes something, when that is next, as of now.
// It reads one end of an index for each library, until ctx ends.
func (s *Service) Due(ctx context.Context, now time.Time) (all []Due, err error) {
	for _, r := range s.retention {
		all = append(all, Due{Source: r.Source})
	}
	if len(all) == 0 {
		return all, nil
	}
	err = s.everyLibrary(ctx, func(ctx context.Context, _ int64) error {
		for i, r := range s.retention {
			next, err := s.sweeps.Next(ctx, r)
			if err != nil {
				return err
			}
			if next.IsZero() {
				continue
			}
			if all[i].Next.IsZero() || next.Before(all[i].Next) {
				all[i].Next = next
			}
			if now.Sub(next) > late {
				all[i].Overdue++
			}
		}
		return nil
	})
	return all, err
}
