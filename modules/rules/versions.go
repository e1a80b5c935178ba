package rules

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/paging"
)

const (
	// defaultPage is the length of a list of versions when the caller names none.
	defaultPage = 25
)

// before returns the version that the page of a token begins below; 0 for the first page.
func before(token string) (int, error) {
	version, err := paging.Start(token)
	if err == nil && version > 1<<31-1 {
		err = apierr.Invalid("pageToken", "is not a value that this list returned")
	}
	return int(version), err
}

// Versions returns a page of the tenant's rulesets, newest first. next is empty at the
// end.
func (s *Service) Versions(ctx context.Context, size int, token string) (versions []Rules, next string, err error) {
	from, err := before(token)
	if err != nil {
		return nil, "", err
	}
	versions, err = loadVersions(ctx, s.db.Ent(), from, size+1)
	if err != nil || len(versions) == 0 {
		return nil, "", err
	}
	versions, next = paging.Cut(versions, size, func(r Rules) int64 { return int64(r.Version) })
	id, _, err := s.workspace.ID(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("workspace of rules: %w", err)
	}
	for i := range versions {
		versions[i].WorkspaceID = id
	}
	return versions, next, nil
}
