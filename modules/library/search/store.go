package search

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
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
	terms := strings.Fields(f.Terms)
	isRare, err := rareFirst(ctx, db, terms)
	if err != nil {
		return nil, err
	}
	until := endOfKeys
	statement := l.rare(db, f, len(terms))
	if !isRare {
		if next, err = l.end(ctx, db, f, after); err != nil {
			return nil, err
		}
		if statement = l.walk(db, f, len(terms)); next != nil {
			until = next
		}
	}
	rows, last := 0, after
	err = db.Hot(statement).Each(ctx, func(row store.Row) (bool, error) {
		if rows == limit {
			next = last
			return false, nil
		}
		rows++
		last, _ = row[0].([]byte)
		return true, do(row)
	}, append([]any{after, f.Platform, until}, f.values(terms)...)...)
	return next, err
}

// rareFirst moves the first term that few videos have to the front, and reports whether
// there is one.
func rareFirst(ctx context.Context, db *store.DB, terms []string) (isRare bool, err error) {
	beyond := db.Hot(dialectOf(db).beyond())
	for i, term := range terms {
		isRare = true
		err := beyond.Each(ctx, func(store.Row) (bool, error) { isRare = false; return false, nil }, term)
		if err != nil {
			return false, err
		}
		if isRare {
			terms[0], terms[i] = terms[i], terms[0]
			return true, nil
		}
	}
	return false, nil
}

// end is the last key that a page may look at; nil where it may look at all that is left.
func (l List) end(ctx context.Context, db *store.DB, f Filter, after []byte) (end []byte, err error) {
	args := []any{after}
	if strings.Contains(l.Ranges[0], "$2") {
		args = append(args, f.Platform)
	}
	last := db.MergedLast(l.each(fmt.Sprintf("SELECT v.%[1]s AS place FROM videos v WHERE {tenant:v} AND %%s AND v.%[1]s > $1", l.Order)), examined)
	err = db.Hot(last).Each(ctx, func(row store.Row) (bool, error) {
		end, _ = row[0].([]byte)
		return false, nil
	}, args...)
	return end, err
}

// The arguments of both statements below: $1 is the key to begin after, $2 the platform,
// $3 the last key to look at, then the values of the filter. Both read one item more than
// the longest page.

// walk looks at the rows of the list up to $3.
func (l List) walk(db *store.DB, f Filter, terms int) string {
	from, where := dialectOf(db).conditions(f, 0, terms)
	ranges := l.each(fmt.Sprintf("SELECT v.id, v.%[1]s AS place FROM videos v%[2]s WHERE {tenant:v} AND %%s AND v.%[1]s > $1 AND v.%[1]s <= $3 AND %[3]s",
		l.Order, from, where))
	return l.documents(db.Merged(ranges, MostItems+1))
}

// rare looks at the videos that have the first term, which the index has found.
func (l List) rare(db *store.DB, f Filter, terms int) string {
	d := dialectOf(db)
	from, where := d.conditions(f, 1, terms)
	// The inner limit cuts nothing off. Without it PostgreSQL would read the whole list in
	// order until it met the few videos.
	return l.documents(fmt.Sprintf("SELECT id, place FROM (SELECT v.id, v.%[1]s AS place FROM (%[2]s) w CROSS JOIN videos v%[3]s WHERE v.id = w.id AND {tenant:v} AND (%[4]s) AND v.%[1]s > $1 AND v.%[1]s <= $3 AND %[5]s LIMIT %[6]d) m ORDER BY place LIMIT %[7]d",
		l.Order, d.having("$11")+" LIMIT "+strconv.Itoa(few+1), from, strings.Join(l.Ranges, " OR "), where, few+1, MostItems+1))
}

// documents reads the documents of the chosen videos, which are the first of all.
func (l List) documents(chosen string) string {
	return fmt.Sprintf("SELECT k.place, %s FROM (%s) k CROSS JOIN video_docs d WHERE d.id = k.id AND {tenant:d} ORDER BY k.place", l.Columns, chosen)
}

// each is the statement for each of the ranges.
func (l List) each(statement string) []string {
	all := make([]string, len(l.Ranges))
	for i, where := range l.Ranges {
		all[i] = fmt.Sprintf(statement, where)
	}
	return all
}

// dialect has what the databases name differently.
type dialect struct {
	// has is the condition that a video has the term %s.
	has string
	// ids are those of the videos with a word; %s is the word with its account.
	ids string
}

func dialectOf(db *store.DB) dialect {
	if db.Dialect() == store.Postgres {
		return dialect{"strpos(t.terms, %s) > 0", `SELECT id FROM video_terms WHERE {tenant} AND array_to_tsvector(string_to_array(
CAST({owner} AS text) || '_' || replace(btrim(terms), ' ', ' ' || CAST({owner} AS text) || '_'), ' ')) @@ CAST('''' || %s || '''' AS tsquery)`}
	}
	return dialect{"contains(t.terms, %s)", `SELECT rowid AS id FROM video_words WHERE video_words MATCH ('"' || %s || '"')`}
}

// having are the videos with a term.
func (d dialect) having(term string) string {
	return fmt.Sprintf(d.ids, "CAST(CAST({account} AS BIGINT) AS TEXT) || '_' || CAST("+term+" AS TEXT)")
}

// beyond has a row if more than a few videos have the term $1.
func (d dialect) beyond() string {
	return fmt.Sprintf("SELECT t.id FROM (%s LIMIT 1 OFFSET %d) w CROSS JOIN video_terms t WHERE t.id = w.id AND {tenant:t}", d.having("$1"), few)
}

// conditions are those of a filter with so many terms, the first of which are met: what
// they read besides the video v, and the conditions. Most searches are for words alone:
// these look at the index of the list and at the terms, and not at the video's own row.
func (d dialect) conditions(f Filter, met, terms int) (from, where string) {
	where = "1 = 1"
	if (f != Filter{Terms: f.Terms, Without: f.Without}) {
		where = `(v.platform = $2 OR CAST($2 AS TEXT) = '') AND (v.kind = $4 OR CAST($4 AS TEXT) = '')
AND (v.handle = $5 OR CAST($5 AS TEXT) = '') AND (v.usable_views >= $6 OR CAST($6 AS BIGINT) = 0) AND v.score >= $7
AND (v.posted_at >= $8 OR CAST($8 AS BIGINT) = 0) AND (v.posted_at < $9 OR CAST($9 AS BIGINT) = 0)`
	}
	if f.followed() {
		at := f.afterTerms(terms)
		where += fmt.Sprintf(` AND EXISTS (SELECT 1 FROM creators c WHERE +{tenant:c} AND c.id = v.creator_id
AND c.followers >= $%[1]d AND (c.followers <= $%[2]d OR CAST($%[2]d AS BIGINT) = 0))`, at, at+1)
	}
	if met >= terms && f.Without == "" {
		return "", where
	}
	from = " CROSS JOIN video_terms t"
	where += " AND t.id = v.id AND {tenant:t}"
	if f.Without != "" {
		where += " AND NOT " + fmt.Sprintf(d.has, "' ' || CAST($10 AS TEXT) || ' '")
	}
	for i := met; i < terms; i++ {
		where += " AND " + fmt.Sprintf(d.has, fmt.Sprintf("' ' || CAST($%d AS TEXT) || ' '", 11+i))
	}
	return from, where
}
