package videos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/ent/deletedvideo"
	"github.com/scrollery/scrollery/ent/tombstone"
	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// suppressed are those of the hashes that an erasure keeps out of every library.
func (s Tombstones) suppressed(ctx context.Context, tx *store.Tx, hashes []string, found map[string]bool) error {
	look := s.db.HotTenantless(`SELECT hash FROM suppressions WHERE hash IN ({list:1})`, "an erased creator stays out of the libraries of all tenants")
	for part := range slices.Chunk(hashes, videosAtOnce) {
		err := store.EachIn(ctx, tx, look, func(hash *string) (bool, error) { found[*hash] = true; return true, nil }, part)
		if err != nil {
			return fmt.Errorf("look for erased creators: %w", err)
		}
	}
	return nil
}

// erasures is the lock that transactions share while they rely on what is erased.
const erasures = "erasures"

// keepErasures lets no erasure go on before the transaction ends, which has looked for erased names
// by then. On SQLite transactions that write wait for each other anyway.
func keepErasures(ctx context.Context, tx *store.Tx) error { return tx.ShareLock(ctx, erasures, 0) }

// AwaitArchiving waits for the transactions that may have looked for erased names before the last
// suppression was committed. Those that follow know it.
func (s Tombstones) AwaitArchiving(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.Lock(ctx, erasures, 0) })
}

// Erased returns those of some handles on a platform that an erasure keeps out of all libraries. No
// erasure goes on between this call and the end of the transaction.
func (s Tombstones) Erased(ctx context.Context, tx *store.Tx, platform string, handles []string) (map[string]bool, error) {
	erased := map[string]bool{}
	if err := keepErasures(ctx, tx); err != nil {
		return nil, err
	}
	if _, any, err := store.OneIn[string](ctx, tx, s.hot.anySuppression); err != nil || !any {
		return nil, err
	}
	v, err := s.vault.open()
	if err != nil {
		return nil, err
	}
	of, hashes := map[string]string{}, []string(nil)
	for _, handle := range handles {
		for _, key := range []string{"handle:", "alone:"} {
			hash := v.ofCreator(platform, key+score.Handle(clean(handle)))
			of[hash], hashes = handle, append(hashes, hash)
		}
	}
	found := map[string]bool{}
	if err := s.suppressed(ctx, tx, hashes, found); err != nil {
		return nil, err
	}
	for hash := range found {
		erased[of[hash]] = true
	}
	return erased, nil
}

// suppress keeps hashes out of every library, and says so to the log of removals. What is kept out
// already stays so.
func (s Tombstones) suppress(ctx context.Context, tx *store.Tx, erasure int64, hashes []string) error {
	at := time.Now().UnixMilli()
	added, err := s.addSuppressions(ctx, tx, erasure, hashes, at)
	if err != nil {
		return err
	}
	lines := make([]removals.Line, len(added))
	for i, hash := range added {
		lines[i] = removals.Suppress(erasure, hash, at)
	}
	return removals.Note(ctx, tx, lines...)
}

// addSuppressions returns those of the hashes that were not kept out before.
func (s Tombstones) addSuppressions(ctx context.Context, tx *store.Tx, erasure int64, hashes []string, at int64) (added []string, err error) {
	add := s.db.HotTenantless(`INSERT INTO suppressions (id, hash, erasure_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (hash) DO NOTHING`,
		"an erased creator stays out of the libraries of all tenants")
	for _, hash := range slices.Sorted(slices.Values(hashes)) { // in one order, or two transactions wait for each other
		n, err := add.ExecIn(ctx, tx, s.db.NewID(), hash, erasure, at)
		if err != nil {
			return nil, fmt.Errorf("keep an erased creator out: %w", err)
		}
		if n > 0 {
			added = append(added, hash)
		}
	}
	return added, nil
}

// SuppressCreator keeps a creator out of every library by all names.
func (s Tombstones) SuppressCreator(ctx context.Context, tx *store.Tx, erasure int64, c CreatorName) error {
	hashes, err := s.vault.HashesOf(c)
	if err != nil {
		return err
	}
	return s.suppress(ctx, tx, erasure, hashes)
}

// keptBy are the hashes that rows of kept videos have of a creator.
func (s Tombstones) keptBy(c CreatorName) ([]string, error) {
	return s.vault.HashesOf(CreatorName{Platform: c.Platform, Asked: c.Keys, Keys: c.Keys})
}

// KeptOf reports whether the tenant's deletions of before keep a video of a creator.
func (s Tombstones) KeptOf(ctx context.Context, c CreatorName) (bool, error) {
	hashes, err := s.keptBy(c)
	if err != nil {
		return false, err
	}
	kept, err := s.db.Ent().DeletedVideo.Query().Where(deletedvideo.Or(deletedvideo.CreatorIn(hashes...), deletedvideo.HandleIn(hashes...))).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for what is kept of a creator: %w", err)
	}
	return kept, nil
}

// EraseKept deletes what the tenant's deletions of before keep of a creator, in the transaction.
func (s Tombstones) EraseKept(ctx context.Context, tx *store.Tx, c CreatorName) (videos int, err error) {
	hashes, err := s.keptBy(c)
	if err != nil {
		return 0, err
	}
	byCreator, err := tx.Ent().DeletedVideo.Delete().Where(deletedvideo.CreatorIn(hashes...)).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("erase what is kept for an undo: %w", err)
	}
	byHandle, err := tx.Ent().DeletedVideo.Delete().Where(deletedvideo.HandleIn(hashes...)).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("erase what is kept for an undo: %w", err)
	}
	return byCreator + byHandle, nil
}

// Mark notes in the tenant's library, in the transaction, that an erasure counts the account; first
// is false if it did before. The mark is a tombstone that keeps nothing out, so that it outlasts an
// erasure that is cut off, and goes with the account.
func (s Tombstones) Mark(ctx context.Context, tx *store.Tx, erasure int64) (first bool, err error) {
	v, err := s.vault.open()
	if err != nil {
		return false, err
	}
	added, err := s.addTombstones(ctx, tx, erasure, []string{v.ofErasure(erasure)}, time.Now().UnixMilli(), nil)
	return added > 0, err
}

// Unmark removes the mark of an erasure from the tenant's library.
func (s Tombstones) Unmark(ctx context.Context, erasure int64) error {
	marked, err := s.db.Ent().Tombstone.Query().Where(tombstone.DeletionID(erasure)).Exist(ctx)
	if err == nil && marked {
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Lift(ctx, tx, erasure)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("remove the mark of an erasure: %w", err)
	}
	return nil
}
