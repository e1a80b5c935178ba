package videos

import (
	"context"
	"errors"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

var (
	errNoTenant = errors.New("library: no account in the context")
	ErrChanged  = errors.New("the library changed meanwhile")
)

// Account is the account that the context works for.
func Account(ctx context.Context) (int64, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return 0, errNoTenant
	}
	return account, nil
}

// Reader reads in a transaction, or outside of all if Tx is nil.
type Reader struct {
	*ent.Client
	Tx *store.Tx
}

func (s *Service) Outside() Reader { return Reader{Client: s.db.Ent()} }

func Within(tx *store.Tx) Reader { return Reader{tx.Ent(), tx} }

// Raise begins every transaction of this module: it raises the library's revision,
// by which readers know that their pages are stale, and makes the tenant's other
// transactions wait.
func (s *Service) Raise(ctx context.Context, tx *store.Tx) error {
	if _, err := s.hot.raise.ExecIn(ctx, tx, s.db.NewID(), s.method); err != nil {
		return fmt.Errorf("raise library revision: %w", err)
	}
	return nil
}

// Revision is the library's current one; 0 before its first video.
func (s *Service) Revision(ctx context.Context) (int64, error) { return s.RevisionBy(ctx, s.Outside()) }

func (s *Service) RevisionBy(ctx context.Context, read Reader) (revision int64, err error) {
	if revision, _, err = store.OneIn[int64](ctx, read.Tx, s.hot.revision); err != nil {
		return 0, fmt.Errorf("read library revision: %w", err)
	}
	return revision, nil
}

// Hold runs do in a transaction that keeps the tenant's others waiting.
func (s *Service) Hold(ctx context.Context, do func(ctx context.Context, tx *store.Tx) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.Raise(ctx, tx); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

type scrollKey struct{}

// AtScroll is the context of the scoring after a scroll, to which its flags belong.
// Scoring without one, by other rules for instance, leaves no flags.
func AtScroll(ctx context.Context, scrollID int64) context.Context {
	return context.WithValue(ctx, scrollKey{}, scrollID)
}

// ScrollOf is the scroll after which the context scores, 0 for none.
func ScrollOf(ctx context.Context) int64 {
	id, _ := ctx.Value(scrollKey{}).(int64)
	return id
}
