package videos

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Terms are those of one video, a row that [Save] stores.
type Terms struct {
	Video int64
	Terms string
}

// Save stores terms in the transaction that saves their documents; the database keeps the
// index beside them.
func Save(ctx context.Context, tx *store.Tx, db *store.DB, all []Terms) error {
	if len(all) == 0 {
		return nil
	}
	var err error
	if db.Dialect() == store.SQLite {
		// One statement: SQLite writes the index out at the beginning of each, so that
		// one a video makes a segment a video, and merging them takes longer than all else.
		_, err = db.Hot(`INSERT INTO video_terms ({owner}, id, terms) SELECT {account}, CAST(t.key AS INTEGER), t.value FROM json_each($1) AS t WHERE true
ON CONFLICT (id) DO UPDATE SET terms = excluded.terms WHERE {tenant:video_terms} AND video_terms.terms <> excluded.terms`).ExecIn(ctx, tx, asObject(all))
	} else {
		rows := make([][]any, len(all))
		for i, one := range all {
			rows[i] = []any{one.Video, one.Terms}
		}
		_, err = db.Hot(`INSERT INTO video_terms ({owner}, id, terms) VALUES {rows:1}
ON CONFLICT ({key}) DO UPDATE SET terms = excluded.terms WHERE {tenant:video_terms} AND video_terms.terms <> excluded.terms`).ExecIn(ctx, tx, rows)
	}
	if err != nil {
		return fmt.Errorf("save the words of videos: %w", err)
	}
	return nil
}

// asObject returns a JSON object with the terms by the id of their video.
func asObject(all []Terms) string {
	text := []byte{'{'}
	for i, one := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendInt(append(text, '"'), one.Video, 10), `":`...)
		text, _ = jsontext.AppendQuote(text, one.Terms) // the error reports broken UTF-8, which it replaces
	}
	return string(append(text, '}'))
}

// NextUnindexed returns an account with videos from before there were terms.
func NextUnindexed(ctx context.Context, db *store.DB) (account int64, found bool, err error) {
	next := db.HotTenantless(`SELECT {owner} FROM unindexed_libraries ORDER BY {owner} LIMIT 1`,
		"looks for any tenant whose videos have no words yet")
	rows, err := next.Query(ctx)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error { found = true; return rows.Scan(&account) })
	if err != nil {
		return 0, false, fmt.Errorf("find a library without words: %w", err)
	}
	return account, found, nil
}

// indexedAtOnce is how many videos get their terms in one transaction.
const indexedAtOnce = 200

// Unindexed are the next videos of the tenant that may lack terms, and notes that they are
// done with the transaction. There are none at the end.
func Unindexed(ctx context.Context, tx *store.Tx, db *store.DB) (refs []stage.Ref, err error) {
	var last stage.Ref
	rows, err := db.Hot(`SELECT platform, external_id FROM unindexed_libraries WHERE {tenant}`).QueryIn(ctx, tx)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error { return rows.Scan(&last.Platform, &last.ExternalID) })
	if err != nil {
		return nil, fmt.Errorf("read how far the words came: %w", err)
	}
	rows, err = db.Hot(fmt.Sprintf(`SELECT platform, external_id FROM videos WHERE {tenant} AND (platform, external_id) > ($1, $2)
ORDER BY platform, external_id LIMIT %d`, indexedAtOnce)).QueryIn(ctx, tx, last.Platform, last.ExternalID)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		err := rows.Scan(&last.Platform, &last.ExternalID)
		refs = append(refs, last)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read videos without words: %w", err)
	}
	if len(refs) > 0 {
		_, err = db.Hot(`UPDATE unindexed_libraries SET platform = $1, external_id = $2 WHERE {tenant}`).ExecIn(ctx, tx, last.Platform, last.ExternalID)
	} else {
		_, err = db.Hot(`DELETE FROM unindexed_libraries WHERE {tenant}`).ExecIn(ctx, tx)
	}
	if err != nil {
		return nil, fmt.Errorf("note how far the words came: %w", err)
	}
	return refs, nil
}

// The steps in which CleanWords merges the index of SQLite.
const (
	// mergedAtOnce is how many pages of the index, of 4 KB, one step writes. A single word of a
	// large library may take more.
	mergedAtOnce = 64
	// firstTombstone is the least id of a page of the index that notes deleted videos, in
	// whichever segment: such a page is there as long as words of them are.
	firstTombstone = (1<<16 + 1) << 37
)

// CleanWords takes the words of deleted videos out of the index of searches, in short
// transactions with pauses. No search finds them, but SQLite keeps them in its file, without order,
// until the index is merged; PostgreSQL keeps none. It can be stopped at any time, and the next
// call goes on. What is deleted meanwhile is left to the next call.
func (s Sweeps) CleanWords(ctx context.Context) error {
	if s.db.Dialect() != store.SQLite {
		return nil
	}
	const reason = "the index of words is one for all tenants"
	_, stale, err := store.One[int64](ctx, s.db.HotTenantless(fmt.Sprintf(`SELECT id FROM video_words_data WHERE id >= %d LIMIT 1`, firstTombstone), reason))
	if err != nil || !stale {
		return err
	}
	changes := s.db.HotTenantless(`SELECT total_changes()`, reason)
	merge := s.db.HotTenantless(`INSERT INTO video_words(video_words, rank) VALUES ('merge', $1)`, reason)
	// The first step, with a negative number, puts all segments into one merge, and the others
	// go on with it.
	for pages, done := -mergedAtOnce, false; !done; pages = mergedAtOnce {
		err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			before, _, err := store.OneIn[int64](ctx, tx, changes)
			if err != nil {
				return err
			}
			if _, err := merge.ExecIn(ctx, tx, pages); err != nil {
				return err
			}
			after, _, err := store.OneIn[int64](ctx, tx, changes)
			done = err == nil && after-before < 2 // the statement counts as one
			return err
		})
		if err != nil {
			return fmt.Errorf("merge the index of words: %w", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(indexPause):
		}
	}
	return nil
}
