package videos

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/removals"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// noteBuried says to the log of removals which of some new tombstones there are.
func (s Tombstones) noteBuried(ctx context.Context, tx *store.Tx, deletion, at int64, rows [][]any) error {
	account, err := Account(ctx)
	if err != nil {
		return err
	}
	v, err := s.vault.open()
	if err != nil {
		return err
	}
	ids, of := make([]int64, len(rows)), make(map[int64]string, len(rows))
	for i, row := range rows {
		ids[i], _ = row[0].(int64)
		of[ids[i]], _ = row[1].(string)
	}
	added, err := store.QueryIn[int64](ctx, tx, s.db.Hot(`SELECT id FROM tombstones WHERE +{tenant} AND id IN ({list:1})`), ids)
	if err != nil {
		return fmt.Errorf("note tombstones: %w", err)
	}
	lines := make([]removals.Line, len(added))
	for i, id := range added {
		lines[i] = removals.Bury(v.hasher, account, deletion, of[id], at)
	}
	return removals.Note(ctx, tx, lines...)
}

// NoteDeletion says to the log of removals what a deletion deletes. scrolls are those whose readings
// it takes back.
func (s Tombstones) NoteDeletion(ctx context.Context, tx *store.Tx, id int64, what string, scrolls []int64, at int64) error {
	return s.note(ctx, tx, func(v *vault, account int64) []removals.Line {
		lines := []removals.Line{removals.Deletion(v.hasher, account, id, what, at)}
		for _, scroll := range scrolls {
			lines = append(lines, removals.Forget(v.hasher, account, id, scroll, at))
		}
		return lines
	})
}

// NoteLift says to the log of removals that a deletion is undone.
func (s Tombstones) NoteLift(ctx context.Context, tx *store.Tx, deletion, at int64) error {
	return s.note(ctx, tx, func(v *vault, account int64) []removals.Line {
		return []removals.Line{removals.Lift(v.hasher, account, deletion, at)}
	})
}

func (s Tombstones) note(ctx context.Context, tx *store.Tx, lines func(v *vault, account int64) []removals.Line) error {
	account, err := Account(ctx)
	if err != nil {
		return err
	}
	v, err := s.vault.open()
	if err != nil {
		return err
	}
	return removals.Note(ctx, tx, lines(v, account)...)
}

// BuryAgain adds tombstones of a deletion that the log of removals knows.
func (s Tombstones) BuryAgain(ctx context.Context, tx *store.Tx, deletion int64, hashes []string, at int64) error {
	_, err := s.addTombstones(ctx, tx, deletion, hashes, at, nil)
	return err
}

// SuppressAgain keeps hashes out of all libraries that the log of removals knows.
func (s Tombstones) SuppressAgain(ctx context.Context, tx *store.Tx, erasure int64, hashes []string, at int64) error {
	_, err := s.addSuppressions(ctx, tx, erasure, hashes, at)
	return err
}

// Banned finds, among the next videos of the tenant's library after one, those that a tombstone or a
// suppression keeps out, by what keeps them out; the zero Ref begins. A library has such videos only
// after the database was restored. next is the last one that was looked at; done at the end.
func (s Tombstones) Banned(ctx context.Context, after stage.Ref) (found map[Removal][]int64, next stage.Ref, done bool, err error) {
	v, err := s.vault.open()
	if err != nil {
		return nil, after, false, err
	}
	of, names := map[string][]int64{}, []string(nil)
	rows, err := store.Query[struct {
		ID                           int64
		Platform, ExternalID, Handle string
		HandleOnly                   bool
		Key                          string
	}](ctx, s.db.Hot(`SELECT v.id, v.platform, v.external_id, v.handle, v.handle_only, COALESCE(c.key, '') AS key FROM videos v LEFT JOIN creators c ON c.id = v.creator_id AND +{tenant:c}
WHERE {tenant:v} AND (v.platform, v.external_id) > ($1, $2) ORDER BY v.platform, v.external_id LIMIT 500`), after.Platform, after.ExternalID)
	if err != nil || len(rows) == 0 {
		return nil, after, len(rows) == 0, err
	}
	for _, row := range rows {
		next = stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}
		for _, hash := range v.ofStored(next, row.Handle, row.HandleOnly, row.Key) {
			of[hash], names = append(of[hash], row.ID), append(names, hash)
		}
	}
	slices.Sort(names)
	found, seen := map[Removal][]int64{}, map[int64]bool{}
	take := func(hash string, by Removal) {
		for _, id := range of[hash] {
			if !seen[id] {
				seen[id], found[by] = true, append(found[by], id)
			}
		}
	}
	for part := range slices.Chunk(slices.Compact(names), videosAtOnce) {
		type kept struct {
			Hash   string
			Origin int64
		}
		erased := s.db.HotTenantless(`SELECT hash, erasure_id AS origin FROM suppressions WHERE hash IN ({list:1})`, "an erased creator stays out of the libraries of all tenants")
		err := store.Each(ctx, erased, func(k *kept) (bool, error) { take(k.Hash, Removal{Erasure: k.Origin}); return true, nil }, part)
		if err == nil {
			buried := s.db.Hot(`SELECT hash, deletion_id AS origin FROM tombstones WHERE {tenant} AND hash IN ({list:1})`)
			err = store.Each(ctx, buried, func(k *kept) (bool, error) { take(k.Hash, Removal{Deletion: k.Origin}); return true, nil }, part)
		}
		if err != nil {
			return nil, next, false, fmt.Errorf("look for videos that were deleted: %w", err)
		}
	}
	return found, next, false, nil
}

// ofStored are the hashes under which a tombstone keeps a video out that the library has.
func (v *vault) ofStored(ref stage.Ref, handle string, handleOnly bool, creatorKey string) []string {
	hashes := []string{v.ofVideo(ref)}
	if creatorKey != "" {
		hashes = append(hashes, v.ofCreator(ref.Platform, creatorKey))
	}
	if handle != "" {
		hashes = append(hashes, v.ofCreator(ref.Platform, "handle:"+handle))
	}
	if handle != "" && handleOnly {
		hashes = append(hashes, v.ofCreator(ref.Platform, "alone:"+handle))
	}
	return hashes
}

// EraseSuppressed takes erased creators out of what the tenant's earlier deletions keep, and out of
// what its scrolls say of their seeds. names are the hashes to look for.
func (s Deletions) EraseSuppressed(ctx context.Context, names map[string]bool) error {
	err := s.videos.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := s.videos.db.Hot(`DELETE FROM deleted_videos WHERE {tenant} AND (creator IN (SELECT hash FROM suppressions) OR handle IN (SELECT hash FROM suppressions))`).ExecIn(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("erase what is kept for an undo: %w", err)
	}
	v, err := s.videos.Vault.open()
	if err != nil {
		return err
	}
	for _, platform := range platforms.IDs() {
		err := s.videos.scrolls.EraseHandle(ctx, platform, func(handle string) bool {
			handle = score.Handle(clean(handle))
			return names[v.ofCreator(platform, "handle:"+handle)] || names[v.ofCreator(platform, "alone:"+handle)]
		})
		if err != nil {
			return err
		}
	}
	return nil
}
