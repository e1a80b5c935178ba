package removal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Again deletes once more what the log of removals says, from a database that was restored from an
// older copy. It is used at one start, by one goroutine.
type Again struct {
	s *Service
	// accounts have tombstones of the log; of all libraries if there are names.
	accounts map[int64]bool
	// names are the hashes that erasures keep out.
	names map[string]bool
}

// Again begins to delete once more.
func (s *Service) Again() *Again {
	return &Again{s, map[int64]bool{}, map[string]bool{}}
}

// Deletion keeps a deletion that the database does not have, so that the account can undo it.
func (a *Again) Deletion(ctx context.Context, account, id int64, what string, at int64) error {
	ctx = viewer.As(ctx, account)
	d, err := a.s.load(ctx, id)
	if err != nil || d != nil {
		return err
	}
	return a.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return insert(ctx, tx, account, &Deletion{ID: id, Status: deleted, What: what, CreatedAt: at})
	})
}

// Bury keeps hashes of videos and creators out of the library of an account.
func (a *Again) Bury(ctx context.Context, account, deletion int64, names []string, at int64) error {
	ctx = viewer.As(ctx, account)
	if d, err := a.s.load(ctx, deletion); err != nil || d != nil && (d.Status == undoing || d.Status == undone) {
		return err
	}
	a.accounts[account] = true
	return a.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return a.s.videos.Tombstones.BuryAgain(ctx, tx, deletion, names, at)
	})
}

// Forget takes back what a scroll read.
func (a *Again) Forget(ctx context.Context, account, deletion, scroll int64) error {
	ctx = viewer.As(ctx, account)
	undo, err := a.undoable(ctx, deletion)
	for left := true; left && err == nil; {
		err = a.s.videos.Hold(videos.WithMore(ctx, true), func(ctx context.Context, tx *store.Tx) error {
			if err := a.s.videos.Tombstones.BuryScrolls(ctx, tx, deletion, []int64{scroll}); err != nil {
				return err
			}
			n, readings, err := a.s.deletions.ForgetSome(ctx, tx, []int64{scroll}, videos.Removal{Deletion: deletion, Undo: undo})
			if left = readings > 0; err != nil || !left {
				return err
			}
			return a.s.countAgain(ctx, tx, deletion, n, readings, undo)
		})
	}
	if err != nil {
		return fmt.Errorf("forget a scroll of account %d again: %w", account, err)
	}
	return a.s.deletions.ScoreNow(ctx)
}

// Suppress keeps hashes of erased creators and their videos out of all libraries.
func (a *Again) Suppress(ctx context.Context, erasure int64, names []string, at int64) error {
	for _, name := range names {
		a.names[name] = true
	}
	return a.s.db.Write(viewer.System(ctx), func(ctx context.Context, tx *store.Tx) error {
		return a.s.videos.Tombstones.SuppressAgain(ctx, tx, erasure, names, at)
	})
}

// Lift undoes a deletion that the database has as one that is not undone.
func (a *Again) Lift(ctx context.Context, account, deletion int64) error {
	ctx = viewer.As(ctx, account)
	d, err := a.s.load(ctx, deletion)
	if err != nil || d == nil || d.Status != deleted {
		return err
	}
	_, err = a.s.beginUndo(ctx, deletion)
	return err
}

// Delete deletes what the libraries have of the names, and returns how many videos that were.
func (a *Again) Delete(ctx context.Context) (deleted int, err error) {
	some := func(ctx context.Context) error {
		n, err := a.deleteFrom(ctx)
		if deleted += n; err != nil {
			return fmt.Errorf("delete again from a library: %w", err)
		}
		return nil
	}
	if len(a.names) == 0 {
		for _, account := range slices.Sorted(maps.Keys(a.accounts)) {
			if err := some(viewer.As(ctx, account)); err != nil {
				return deleted, fmt.Errorf("account %d: %w", account, err)
			}
		}
		return deleted, nil
	}
	err = a.s.everyLibrary(ctx, func(ctx context.Context, _ int64) error {
		if err := some(ctx); err != nil {
			return err
		}
		return a.s.deletions.EraseSuppressed(ctx, a.names)
	})
	return deleted, err
}

// deleteFrom deletes from the tenant's library what is kept out of it.
func (a *Again) deleteFrom(ctx context.Context) (deleted int, err error) {
	for after, done := (stage.Ref{}), false; !done; {
		var found map[videos.Removal][]int64
		if found, after, done, err = a.s.videos.Tombstones.Banned(ctx, after); err != nil {
			return deleted, err
		}
		for by, all := range found {
			if by.Undo, err = a.undoable(ctx, by.Deletion); err != nil {
				return deleted, err
			}
			for ids := range slices.Chunk(all, videos.DeletedAtOnce) {
				err := a.s.videos.Hold(videos.WithMore(ctx, true), func(ctx context.Context, tx *store.Tx) error {
					n, readings, err := a.s.deletions.Delete(ctx, tx, ids, by)
					if err != nil {
						return err
					}
					deleted += n
					if by.Deletion == 0 {
						return nil
					}
					return a.s.countAgain(ctx, tx, by.Deletion, n, readings, by.Undo)
				})
				if err != nil {
					return deleted, err
				}
			}
		}
	}
	return deleted, a.s.deletions.ScoreNow(ctx)
}

// undoable reports whether a deletion can bring videos back.
func (a *Again) undoable(ctx context.Context, deletion int64) (bool, error) {
	if deletion == 0 {
		return false, nil
	}
	d, err := a.s.load(ctx, deletion)
	return err == nil && d != nil && a.s.now().Before(d.undoEnd()), err
}
