package videos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Welcome leaves out the records that a tombstone or an erasure keeps out. In a transaction that
// stays so until its end; tx may be nil. Without any tombstone it costs two look-ups a batch.
func (s Tombstones) Welcome(ctx context.Context, tx *store.Tx, records []*stage.Record) ([]*stage.Record, error) {
	if tx != nil {
		if err := keepErasures(ctx, tx); err != nil {
			return nil, err
		}
	}
	_, buries, err := store.OneIn[string](ctx, tx, s.hot.anyTombstone)
	if err != nil {
		return nil, err
	}
	_, suppresses, err := store.OneIn[string](ctx, tx, s.hot.anySuppression)
	if err != nil {
		return nil, err
	}
	if !buries && !suppresses {
		return records, nil
	}
	v, err := s.vault.open()
	if err != nil {
		return nil, err
	}
	var all []string
	of := make([][]string, len(records))
	for i, r := range records {
		of[i] = v.of(r)
		all = append(all, of[i]...)
	}
	buried := map[string]bool{}
	if buries {
		err = s.buried(ctx, tx, all, buried)
	}
	if err == nil && suppresses {
		err = s.suppressed(ctx, tx, all, buried)
	}
	if err != nil || len(buried) == 0 {
		return records, err
	}
	kept := make([]*stage.Record, 0, len(records))
	for i, r := range records {
		if !slices.ContainsFunc(of[i], func(hash string) bool { return buried[hash] }) {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// buried finds those of the hashes that have a tombstone.
func (s Tombstones) buried(ctx context.Context, tx *store.Tx, hashes []string, found map[string]bool) error {
	for part := range slices.Chunk(hashes, videosAtOnce) {
		err := store.EachIn(ctx, tx, s.hot.tombstones, func(hash *string) (bool, error) { found[*hash] = true; return true, nil }, part)
		if err != nil {
			return fmt.Errorf("look for tombstones: %w", err)
		}
	}
	return nil
}

// bury adds tombstones, and says so to the log of removals. What has one keeps it.
func (s Tombstones) bury(ctx context.Context, tx *store.Tx, deletion int64, hashes []string) error {
	at := time.Now().UnixMilli()
	_, err := s.addTombstones(ctx, tx, deletion, hashes, at, func(rows [][]any) error { return s.noteBuried(ctx, tx, deletion, at, rows) })
	return err
}

// addTombstones adds tombstones, and returns how many had none. added, if there is one, is called
// with the rows of each statement, of which those are there that had none.
func (s Tombstones) addTombstones(ctx context.Context, tx *store.Tx, deletion int64, hashes []string, at int64, added func(rows [][]any) error) (count int, err error) {
	for part := range slices.Chunk(hashes, videosAtOnce) {
		rows := make([][]any, len(part))
		for i, hash := range part {
			rows[i] = []any{s.db.NewID(), hash, deletion, at}
		}
		n, err := s.db.Hot(`INSERT INTO tombstones ({owner}, id, hash, deletion_id, created_at) VALUES {rows:1} ON CONFLICT ({owner}, hash) DO NOTHING`).ExecIn(ctx, tx, rows)
		if err == nil && added != nil {
			err = added(rows)
		}
		if err != nil {
			return count, fmt.Errorf("add tombstones: %w", err)
		}
		count += int(n)
	}
	return count, nil
}

// BuryScrolls keeps what some scrolls read out of what other deletions bring back, in a transaction
// that holds the library: until the deletion is undone, and for good if it is 0, as for an import
// that is undone. The log of removals has scrolls of its own.
func (s Tombstones) BuryScrolls(ctx context.Context, tx *store.Tx, deletion int64, scrolls []int64) error {
	v, err := s.vault.open()
	if err != nil {
		return err
	}
	hashes := make([]string, len(scrolls))
	for i, scroll := range scrolls {
		hashes[i] = v.ofScroll(scroll, deletion != 0)
	}
	_, err = s.addTombstones(ctx, tx, deletion, hashes, time.Now().UnixMilli(), nil)
	return err
}

// BuryCreator adds tombstones for a creator by all names that the library has, which it returns,
// and drops its rows without a video, in a transaction that holds the library.
func (s Deletions) BuryCreator(ctx context.Context, tx *store.Tx, deletion int64, c CreatorName) (CreatorName, error) {
	v, err := s.videos.Vault.open()
	if err != nil {
		return c, err
	}
	if c, err = s.videos.Targets.WithNames(ctx, tx, c); err != nil {
		return c, err
	}
	if err := s.videos.Tombstones.bury(ctx, tx, deletion, c.hashes(v)); err != nil {
		return c, err
	}
	return c, s.DropCreators(ctx, tx, c)
}
