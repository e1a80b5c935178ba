package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

var (
	errNoTenant = errors.New("library: no account in the context")
	errChanged  = errors.New("the library changed meanwhile")
)

// tenant is the account that the context works for.
func tenant(ctx context.Context) (int64, error) {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return 0, errNoTenant
	}
	return account, nil
}

// withTenant is the context of work on an account's behalf.
func withTenant(ctx context.Context, account int64) context.Context { return viewer.As(ctx, account) }

// reader reads in a transaction or outside of all.
type reader struct {
	*ent.Client
	// each hands out rows of a hot statement.
	each func(ctx context.Context, query *store.Hot, do eachRow, args ...any) error
}

// eachRow takes a row, until it returns false.
type eachRow = func(row store.Row) (more bool, err error)

func (s *Service) outside() reader {
	return reader{s.db.Ent(), func(ctx context.Context, query *store.Hot, do eachRow, args ...any) error {
		return query.Each(ctx, do, args...)
	}}
}

func within(tx *store.Tx) reader {
	return reader{tx.Ent(), func(ctx context.Context, query *store.Hot, do eachRow, args ...any) error {
		return query.EachIn(ctx, tx, do, args...)
	}}
}

// raise begins every transaction of this module: it raises the library's revision,
// by which readers know that their pages are stale, and makes the tenant's other
// transactions wait.
func (s *Service) raise(ctx context.Context, tx *store.Tx) error {
	if _, err := s.hot.raise.ExecIn(ctx, tx, s.db.NewID(), s.method); err != nil {
		return fmt.Errorf("raise library revision: %w", err)
	}
	account, err := tenant(ctx)
	tx.AfterCommit(func() { s.see(account, math.MaxInt64) }) // greater than what any page has
	return err
}

// revision is the library's current one; 0 before its first video.
func (s *Service) revision(ctx context.Context) (int64, error) { return s.revisionBy(ctx, s.outside()) }

func (s *Service) revisionBy(ctx context.Context, read reader) (revision int64, err error) {
	err = read.each(ctx, s.hot.revision, func(row store.Row) (bool, error) {
		revision, _ = row[0].(int64)
		return false, nil
	})
	if err != nil {
		return 0, fmt.Errorf("read library revision: %w", err)
	}
	return revision, nil
}

// hold runs do in a transaction that keeps the tenant's others waiting.
func (s *Service) hold(ctx context.Context, do func(ctx context.Context, tx *store.Tx) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if scrollOf(ctx) != 0 { // the scroll, or the job that scores after it, ends by a later write
			tx.Unawaited()
		}
		if err := s.raise(ctx, tx); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// updateTries is how often a long computation is done beside other writes, before
// it is done with the library held.
const updateTries = 3

// writes are what a computation found to write; each fits a short transaction.
type writes []func(ctx context.Context, tx *store.Tx) error

// update writes the result of a long computation. The computation reads outside of
// transactions, so that no one waits for it, and its result is written only while
// the library is as it was read. A library that changes all the time is held once.
func (s *Service) update(ctx context.Context, compute func(ctx context.Context, read reader) (writes, error)) error {
	for range updateTries {
		revision, err := s.revision(ctx)
		if err != nil {
			return err
		}
		found, err := compute(ctx, s.outside())
		if err != nil {
			return err
		}
		if err = s.writeUnchanged(ctx, revision, found); !errors.Is(err, errChanged) {
			return err
		}
	}
	return s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		found, err := compute(ctx, within(tx))
		for _, write := range found {
			if err == nil {
				err = write(ctx, tx)
			}
		}
		return err
	})
}

// writeUnchanged writes what was computed at a revision, in short transactions. It
// stops with errChanged once the library has another one.
func (s *Service) writeUnchanged(ctx context.Context, revision int64, found writes) error {
	for _, write := range found {
		revision++ // by hold
		err := s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
			now, err := s.revisionBy(ctx, within(tx))
			if err != nil {
				return err
			}
			if now != revision {
				return errChanged
			}
			return write(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
