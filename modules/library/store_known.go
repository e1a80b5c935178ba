package library

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/scrollery/scrollery/plugins/stage"
)

// knownAtOnce is how many videos one look-up asks for; one number, so that one
// statement serves them all.
const knownAtOnce = 100

func (s *Service) knownQuery() string {
	q := s.write("SELECT platform, external_id, hook_order IS NOT NULL FROM videos WHERE account_id = $1 AND platform = $2 AND external_id IN (")
	for i := range knownAtOnce {
		if i > 0 {
			q.WriteByte(',')
		}
		fmt.Fprintf(q, "$%d", i+3)
	}
	return q.add(")").String()
}

// Known holds an entry for each of the videos that the library has, true where it
// has evidence too.
func (s *Service) Known(ctx context.Context, refs []stage.Ref) (map[stage.Ref]bool, error) {
	known := map[stage.Ref]bool{}
	platforms := map[string][]string{}
	for _, ref := range refs {
		platforms[ref.Platform] = append(platforms[ref.Platform], ref.ExternalID)
	}
	query := s.statement(s.knownQuery())
	for _, platform := range names(platforms) {
		for ids := platforms[platform]; len(ids) > 0; {
			n := min(len(ids), knownAtOnce)
			args := make([]any, 0, knownAtOnce+1)
			args = append(args, clean(platform))
			for i := range knownAtOnce {
				args = append(args, clean(ids[min(i, n-1)]))
			}
			rows, err := query.Query(ctx, args...)
			err = each(rows, err, func(rows *sql.Rows) error {
				var ref stage.Ref
				var evidence bool
				err := rows.Scan(&ref.Platform, &ref.ExternalID, &evidence)
				known[ref] = evidence
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("look up known videos: %w", err)
			}
			ids = ids[n:]
		}
	}
	return known, nil
}

// Tracked returns videos of a platform that are neither archived nor gone, the last
// seen first time first. after is 0 at the beginning and then the next of the call before;
// next is 0 at the end.
func (s *Service) Tracked(ctx context.Context, platform string, after int64, limit int) (refs []stage.Ref, next int64, err error) {
	from := []byte{0}
	if after != 0 {
		rows, err := s.statement("SELECT seen_order FROM videos WHERE account_id = $1 AND id = $2").Query(ctx, after)
		if err := each(rows, err, func(rows *sql.Rows) error { return rows.Scan(&from) }); err != nil {
			return nil, 0, fmt.Errorf("find tracked videos: %w", err)
		}
	}
	q := page{list: videos, platform: platform, limit: limit}
	rows, err := s.statement(q.tracked()).Query(ctx, from, platform)
	err = each(rows, err, func(rows *sql.Rows) error {
		ref := stage.Ref{Platform: platform}
		err := rows.Scan(&next, &ref.ExternalID)
		refs = append(refs, ref)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list tracked videos: %w", err)
	}
	if len(refs) < limit {
		next = 0
	}
	return refs, next, nil
}
