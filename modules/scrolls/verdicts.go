package scrolls

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Verdict is what the screens said last of a video of the tenant. It outlives the
// scroll: what is archived is not judged again, so its verdict stays with it.
type Verdict struct {
	ID int64
	stage.Verdict
	ScrollID int64
	// JudgedAt in Unix milliseconds.
	JudgedAt int64
}

// VerdictFilter narrows a list of verdicts; nil and empty parts do not.
type VerdictFilter struct {
	// Scroll is a public id.
	Scroll     string
	Dropped    *bool
	ExternalID string
}

// Verdicts returns a page of the tenant's verdicts, those of the videos that were
// first judged last at the head. next is empty at the end.
func (s *Service) Verdicts(ctx context.Context, filter VerdictFilter, size int, token string) (verdicts []Verdict, next string, err error) {
	var before, scroll int64
	if token != "" {
		var ok bool
		if before, ok = publicid.Parse(pagePrefix, token); !ok {
			return nil, "", apierr.Invalid("pageToken", "This is not a token that a list returned.")
		}
	}
	if filter.Scroll != "" {
		var ok bool
		if scroll, ok = publicid.Parse(publicid.Scroll, filter.Scroll); !ok {
			return nil, "", nil // nobody's
		}
	}
	verdicts, err = s.pageOfVerdicts(ctx, scroll, filter, before, size+1)
	if err != nil {
		return nil, "", fmt.Errorf("list verdicts: %w", err)
	}
	if len(verdicts) > size {
		verdicts = verdicts[:size]
		next = publicid.Format(pagePrefix, verdicts[size-1].ID)
	}
	return verdicts, next, nil
}

// SweepVerdicts forgets drops that are older than the configuration keeps them: a
// video that comes up again is judged again. What was kept stays with its video.
func (s *Service) SweepVerdicts(ctx context.Context) error {
	if s.cfg.KeepDrops == 0 {
		return nil
	}
	const batch = 1000
	below := s.now().Add(-s.cfg.KeepDrops).UnixMilli()
	for {
		removed, err := s.forgetDrops(viewer.System(ctx), below, batch)
		if err != nil {
			return fmt.Errorf("sweep verdicts: %w", err)
		}
		if removed < batch {
			return nil
		}
	}
}
