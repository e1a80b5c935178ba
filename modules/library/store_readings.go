package library

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// LastObserved tells of those videos that the library has when each was observed
// last, in Unix milliseconds.
func (s *Service) LastObserved(ctx context.Context, refs []stage.Ref) (map[stage.Ref]int64, error) {
	last := make(map[stage.Ref]int64, len(refs))
	err := s.ofVideos(ctx, refs, func(platform string, ids []any) error {
		q := s.write("SELECT external_id, observed_at FROM videos WHERE account_id = $1 AND platform = $2 AND external_id IN (")
		q.names(3, len(ids))
		rows, err := s.statement(q.add(")").String()).Query(ctx, append([]any{platform}, ids...)...)
		return each(rows, err, func(rows *sql.Rows) error {
			ref, at := stage.Ref{Platform: platform}, int64(0)
			err := rows.Scan(&ref.ExternalID, &at)
			last[ref] = at
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up last observations: %w", err)
	}
	return last, nil
}

// scrollsAtOnce is how many scrolls ObservedIn looks through.
const scrollsAtOnce = 100

// ObservedIn tells when some scrolls, at most 100, observed videos: for each video
// that has an observation by one of them, the scroll and the time.
func (s *Service) ObservedIn(ctx context.Context, scrolls []int64, refs []stage.Ref) (map[stage.Ref]map[int64]int64, error) {
	found := map[stage.Ref]map[int64]int64{}
	if len(scrolls) == 0 {
		return found, nil
	}
	err := s.ofVideos(ctx, refs, func(platform string, ids []any) error {
		q := s.write("SELECT v.external_id, o.scroll_id, o.observed_at FROM videos v JOIN observations o ON o.video_id = v.id",
			" WHERE v.account_id = $1 AND v.platform = $2 AND v.external_id IN (")
		q.names(3, len(ids))
		slots := scrollsAtOnce
		if len(scrolls) == 1 {
			slots = 1
		}
		q.add(") AND o.account_id = $1 AND o.scroll_id IN (").names(3+len(ids), slots)
		args := append([]any{platform}, ids...)
		for i := range slots {
			args = append(args, scrolls[min(i, len(scrolls)-1)])
		}
		rows, err := s.statement(q.add(")").String()).Query(ctx, args...)
		return each(rows, err, func(rows *sql.Rows) error {
			ref := stage.Ref{Platform: platform}
			var scroll, at int64
			err := rows.Scan(&ref.ExternalID, &scroll, &at)
			if found[ref] == nil {
				found[ref] = map[int64]int64{}
			}
			found[ref][scroll] = at
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up observations: %w", err)
	}
	return found, nil
}

// names writes placeholders by their numbers.
func (t *text) names(from, count int) *text {
	for i := range count {
		if i > 0 {
			t.WriteByte(',')
		}
		fmt.Fprintf(t, "$%d", from+i)
	}
	return t
}

// ofVideos calls do with the ids of each platform, knownAtOnce at a time. The last
// portion is filled up by repeating an id, so that one statement serves them all.
func (s *Service) ofVideos(ctx context.Context, refs []stage.Ref, do func(platform string, ids []any) error) error {
	platforms := map[string][]string{}
	for _, ref := range refs {
		platforms[clean(ref.Platform)] = append(platforms[clean(ref.Platform)], clean(ref.ExternalID))
	}
	for _, platform := range names(platforms) {
		for ids := platforms[platform]; len(ids) > 0; ids = ids[min(len(ids), knownAtOnce):] {
			if err := ctx.Err(); err != nil {
				return err
			}
			args := make([]any, knownAtOnce)
			for i := range args {
				args[i] = ids[min(i, len(ids)-1)]
			}
			if err := do(platform, args); err != nil {
				return err
			}
		}
	}
	return nil
}

// Renew brings the documents of known videos up to date with records that bring no
// new reading of their counts, such as a file that is read again by a better column
// map. It adds neither video nor observation, and tells how many changed.
func (s *Service) Renew(ctx context.Context, tx *store.Tx, batch Batch) (changed int, err error) {
	account, err := tenant(ctx)
	if err != nil {
		return 0, err
	}
	for records := merge(batch.Records); len(records) > 0; records = records[min(len(records), ingestAtOnce):] {
		n, err := s.renewRows(ctx, tx, account, batch, records[:min(len(records), ingestAtOnce)])
		if err != nil {
			return 0, fmt.Errorf("renew %d videos: %w", len(batch.Records), err)
		}
		changed += n
	}
	return changed, nil
}

func (s *Service) renewRows(ctx context.Context, tx *store.Tx, account int64, batch Batch, records []*stage.Record) (int, error) {
	differ := func() (rows []*row, some []*stage.Record, err error) {
		known, err := s.lookUp(ctx, tx, account, records)
		for _, r := range records {
			if v := known[r.Ref]; v != nil && !silent(r) && digestOf(r) != v.digest {
				v.record, v.key = r, creatorKey(r)
				rows, some = append(rows, v), append(some, r)
			}
		}
		return rows, some, err
	}
	_, some, err := differ()
	if err != nil || len(some) == 0 {
		return 0, err
	}
	records = some
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return 0, err
	}
	rows, _, err := differ() // now that nobody else writes
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	if err := s.creators(ctx, tx, account, rows); err != nil {
		return 0, err
	}
	return len(rows), s.updateVideos(ctx, tx, account, batch, rows)
}
