package videos

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

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
