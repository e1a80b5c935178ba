package search

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// List is a list of videos as the library sorts it.
type List struct {
	// Order is the column of the sort key.
	Order string
	// Ranges are conditions. Each is one range of an index that ends in Order, and
	// together they are the list. A platform in them is $2.
	Ranges []string
	// Columns are the texts of an item, of the document d.
	Columns string
}

// endOfKeys is above every sort key.
var endOfKeys = bytes.Repeat([]byte{0xff}, 256)

// Page hands do the items after a sort key that the filter chooses, in order: the key,
// then the list's columns. It returns the key that the next page begins after, nil at
// the end of the list.
func Page(ctx context.Context, db *store.DB, l List, f Filter, limit int, after []byte, do func(row store.Row) error) (next []byte, err error) {
	end, err := l.end(ctx, db, f, after)
	if err != nil {
		return nil, err
	}
	until := end
	if end == nil {
		until = endOfKeys
	}
	rows, last := 0, after
	err = db.Hot(l.page()).Each(ctx, func(row store.Row) (bool, error) {
		if rows == limit {
			end = last
			return false, nil
		}
		rows++
		last, _ = row[0].([]byte)
		return true, do(row)
	}, append([]any{after, f.Platform, until}, f.values()...)...)
	return end, err
}

// end is the last key that a page may examine; nil where it may examine all that is left.
func (l List) end(ctx context.Context, db *store.DB, f Filter, after []byte) (end []byte, err error) {
	parts := l.each(fmt.Sprintf("SELECT v.%[1]s AS place FROM videos v WHERE {tenant:v} AND %%s AND v.%[1]s > $1 ORDER BY v.%[1]s LIMIT 1 OFFSET %[2]d",
		l.Order, examined/len(l.Ranges)-1))
	args := []any{after}
	if strings.Contains(l.Ranges[0], "$2") {
		args = append(args, f.Platform)
	}
	err = db.Hot("SELECT place FROM ("+parts+") k ORDER BY place LIMIT 1").Each(ctx, func(row store.Row) (bool, error) {
		end, _ = row[0].([]byte)
		return false, nil
	}, args...)
	return end, err
}

// conditions are those of the filter, from $4 on.
const conditions = `(v.platform = $2 OR CAST($2 AS TEXT) = '') AND (v.kind = $4 OR CAST($4 AS TEXT) = '')
AND (v.handle = $5 OR CAST($5 AS TEXT) = '') AND (v.usable_views >= $6 OR CAST($6 AS BIGINT) = 0) AND v.score >= $7
AND (v.posted_at >= $8 OR CAST($8 AS BIGINT) = 0) AND (v.posted_at < $9 OR CAST($9 AS BIGINT) = 0)`

// page is the statement of a page. $1 is the key to begin after, $2 the platform, $3 the
// last key to examine. It reads one item more than the longest page.
func (l List) page() string {
	parts := l.each(fmt.Sprintf("SELECT v.id, v.%[1]s AS place FROM videos v WHERE {tenant:v} AND %%s AND v.%[1]s > $1 AND v.%[1]s <= $3 AND %[2]s ORDER BY v.%[1]s LIMIT %[3]d",
		l.Order, conditions, MostItems+1))
	return fmt.Sprintf("SELECT k.place, %s FROM (SELECT id, place FROM (%s) m ORDER BY place LIMIT %d) k CROSS JOIN video_docs d WHERE d.id = k.id ORDER BY k.place",
		l.Columns, parts, MostItems+1)
}

// each is the statement for each of the ranges, one below the other.
func (l List) each(statement string) string {
	parts := make([]string, len(l.Ranges))
	for i, where := range l.Ranges {
		parts[i] = fmt.Sprintf("SELECT * FROM ("+statement+") r%d", where, i)
	}
	return strings.Join(parts, " UNION ALL ")
}
