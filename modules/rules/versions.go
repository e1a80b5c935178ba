package rules

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

const (
	// defaultPage is the length of a list of versions when the caller names none.
	defaultPage = 25
	pagePrefix  = "page"
)

// before returns the version that the page of a token begins below; 0 for the first page.
func before(token string) (int, error) {
	if token == "" {
		return 0, nil
	}
	version, ok := publicid.Parse(pagePrefix, token)
	if !ok || version > 1<<31-1 {
		return 0, apierr.Invalid("pageToken", "is not a value that this list returned")
	}
	return int(version), nil
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
	if len(versions) > size {
		versions = versions[:size]
		next = publicid.Format(pagePrefix, int64(versions[size-1].Version))
	}
	id, _, err := s.workspace.ID(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("workspace of rules: %w", err)
	}
	for i := range versions {
		versions[i].WorkspaceID = id
	}
	return versions, next, nil
}
