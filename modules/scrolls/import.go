package scrolls

import (
	"context"
	"errors"
	"fmt"

	"github.com/scrollery/scrollery/modules/fault"
	"github.com/scrollery/scrollery/modules/record"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/viewer"
)

// Imported is what an import did.
type Imported struct {
	// ScrollID is the scroll that stands for it.
	ScrollID int64
	// Read, Added and Reobserved count videos; each is counted once.
	Read, Added, Reobserved int
}

// Import loads records into the tenant's library, by way of a scroll that has them
// for its only source: so they are observed, rated and counted like any others. No
// rule, no limit and no budget applies. It returns when the scroll has ended; next
// ends with io.EOF. An import that breaks off is failed, and can be made again.
func (s *Service) Import(ctx context.Context, next func() ([]record.Record, error)) (done Imported, err error) {
	account, _, ok := viewer.Tenant(ctx)
	if !ok || account == 0 {
		return done, errors.New("import: no tenant in the context")
	}
	subject, briefed, err := s.needs.Workspaces.Subject(ctx)
	switch {
	case err != nil:
		return done, fmt.Errorf("import: workspace: %w", err)
	case !briefed:
		return done, fault.New(fault.WorkspaceRequired, "Set a workspace before you import videos.")
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := s.beginImport(ctx, account, subject)
	if err != nil {
		return done, fmt.Errorf("import: %w", err)
	}
	if end, ok := s.signals.begin(r.id, cancel); ok {
		defer end()
	}
	r.feed = next
	if err := r.execute(running, cancel); err != nil {
		return done, errors.Join(fmt.Errorf("import: %w", err), r.abandon(ctx))
	}
	progress := r.snapshot().progress
	return Imported{r.id, progress.Collected, r.snapshot().newVideos, progress.Reobserved}, nil
}

// beginImport writes a scroll that is running already, so no worker takes it.
func (s *Service) beginImport(ctx context.Context, account int64, subject string) (r *run, err error) {
	template := importTemplate
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := s.insertImport(ctx, tx, account, subject, template)
		if err != nil {
			return err
		}
		r = s.newRun(row, Limits{})
		r.state.stage = Plan
		return startRow(ctx, tx, row, Plan, s.now().UnixMilli())
	})
	return r, err
}

// abandon fails an import that did not come to its end.
func (r *run) abandon(ctx context.Context) error {
	return r.fail(context.WithoutCancel(ctx), internalFailure)
}
