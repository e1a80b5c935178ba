package workspace

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// valid is check with the issues as an error.
func (c Change) valid() (Change, error) {
	change, issues := c.check()
	if len(issues) > 0 {
		return change, apierr.InvalidIssues(issues...)
	}
	return change, nil
}

// Update changes the fields that are sent; a change that changes nothing leaves
// UpdatedAt alone. A changed subject cancels the prior one's active scrolls and,
// with archivePrior, archives its videos; archived counts them.
func (s *Service) Update(ctx context.Context, sent Change, archivePrior bool) (w Workspace, archived int, err error) {
	change, err := sent.valid()
	if err == nil {
		err = sent.bounded()
	}
	if err != nil {
		return w, 0, err
	}
	version, err := s.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		archived = 0
		current, err := s.reads.load(ctx, tx)
		if err != nil {
			return err
		}
		if current == nil {
			return apierr.New(apierr.WorkspaceRequired, "Set the workspace first: POST /v1/workspace.")
		}
		w = current.apply(change)
		if w.same(*current) {
			return nil
		}
		w.UpdatedAt = max(s.now().UnixMilli(), current.UpdatedAt)
		if err := update(ctx, tx, w); err != nil {
			return err
		}
		if err := changed(ctx, tx, w.ID); err != nil {
			return err
		}
		prior := current.Subject.CanonicalID
		if prior == w.Subject.CanonicalID {
			return nil
		}
		if err := s.scrolls.CancelSubject(ctx, tx, prior); err != nil {
			return fmt.Errorf("cancel scrolls of %q: %w", prior, err)
		}
		if !archivePrior {
			return nil
		}
		if archived, err = s.library.ArchiveSubject(ctx, tx, prior); err != nil {
			return fmt.Errorf("archive videos of %q: %w", prior, err)
		}
		return nil
	})
	if err != nil {
		return w, 0, fmt.Errorf("update workspace: %w", err)
	}
	w.RulesVersion = version
	return w, archived, nil
}
