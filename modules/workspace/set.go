package workspace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// AlreadySet is the refusal to replace a brief by POST; it carries the current one.
type AlreadySet struct{ Current Workspace }

func (e *AlreadySet) Error() string { return "the workspace is already set" }

// Set creates the brief. created is false if one says the same already; one
// that says something else is AlreadySet. However many first calls race, one
// workspace is made.
func (s *Service) Set(ctx context.Context, sent Change) (w Workspace, created bool, err error) {
	change, err := sent.brief()
	if err == nil {
		err = sent.bounded()
	}
	if err != nil {
		return w, false, err
	}
	version, err := s.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		created = false
		current, err := s.reads.load(ctx, tx)
		switch {
		case err != nil:
			return err
		case current == nil:
			now := s.now().UnixMilli()
			w = Workspace{ID: s.db.NewID(), Competitors: []string{}, CreatedAt: now, UpdatedAt: now}.apply(change)
			created = true
			if err := changed(ctx, tx, w.ID); err != nil {
				return err
			}
			return insert(ctx, tx.Ent(), w)
		case change.matches(*current):
			w = *current
			return nil
		default:
			return &AlreadySet{Current: *current}
		}
	})
	if already := (*AlreadySet)(nil); errors.As(err, &already) {
		already.Current.RulesVersion = version
		return w, false, already
	}
	if err != nil {
		return w, false, fmt.Errorf("set workspace: %w", err)
	}
	w.RulesVersion = version
	return w, created, nil
}

// changed adds an entry to the account's feed.
func changed(ctx context.Context, tx *store.Tx, id int64) error {
	return feed.Append(ctx, tx, feed.Change{Kind: feed.WorkspaceChange, Subject: id})
}

// brief is check for a new brief. Its error is InvalidWorkspaceBrief with the issues.
func (c Change) brief() (Change, error) {
	if !c.names() {
		refusal := apierr.New(apierr.InvalidWorkspaceBrief, "The brief needs at least one of description, website, appStoreUrl and url.")
		refusal.Issues = []apierr.Issue{{Message: "at least one of description, website, appStoreUrl and url is needed"}}
		return c, refusal
	}
	change, issues := c.check()
	if len(issues) == 0 {
		return change, nil
	}
	refusal := apierr.New(apierr.InvalidWorkspaceBrief, "%s", sentence(issues))
	refusal.Issues = issues
	return change, refusal
}

// sentence shows issues to a caller whose error body has no place for them.
func sentence(issues []apierr.Issue) string {
	parts := make([]string, len(issues))
	for i, issue := range issues {
		parts[i] = issue.Path + " " + issue.Message
	}
	return "The brief is not acceptable: " + strings.Join(parts, "; ") + "."
}
