package library

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// raise begins every transaction of this room: it raises the library's revision,
// by which readers know their pages stale, and makes the tenant's transactions
// wait for each other. added counts new videos.
func (s *Service) raise(ctx context.Context, tx *store.Tx, account int64, added int) error {
	err := s.write("INSERT INTO libraries (id, account_id, revision, videos) VALUES (",
		arg{s.db.NewID()}, ", ", arg{account}, ", 1, ", arg{added},
		") ON CONFLICT (account_id) DO UPDATE SET revision = libraries.revision + 1, videos = libraries.videos + excluded.videos").exec(ctx, tx)
	if err != nil {
		return fmt.Errorf("raise library revision: %w", err)
	}
	return nil
}

const revisionQuery = "SELECT revision FROM libraries WHERE account_id = $1"

// revision is the library's as of now; 0 before its first video.
func (s *Service) revision(ctx context.Context) (revision int64, err error) {
	err = s.statement(revisionQuery).Each(ctx, func(row store.Row) (bool, error) {
		revision, _ = row[0].(int64)
		return false, nil
	})
	if err != nil {
		return 0, fmt.Errorf("read library revision: %w", err)
	}
	return revision, nil
}
