package lists

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// examined bounds the rows of the list's index that one page looks at, and few those of
// the index of words, each of which costs twice as much. With these, a page costs less
// than five times one without a filter.
const examined, few = 180, 200

// endOfKeys is above every sort key.
var endOfKeys = bytes.Repeat([]byte{0xff}, 256)

// arguments are those of a statement that is put together.
type arguments struct{ values []any }

// bind adds an argument and returns its mark.
func (a *arguments) bind(value any) string {
	a.values = append(a.values, value)
	return "$" + strconv.Itoa(len(a.values))
}

// Query is the statement of a page without filters, after a sort key. It reads one row
// more than the page has, which tells whether there is another page.
func (p Page) Query(db *store.DB, after []byte) (text string, args []any) {
	var a arguments
	ranges := p.each("SELECT v.id, v.{order} AS place FROM videos v WHERE {tenant:v} AND {range} AND v.{order} > "+a.bind(after), &a)
	return p.documents(db.Merged(ranges, p.Limit+1)), a.values
}

// chosen is the statement of a page of what the filter chooses, and the key that the page
// ends at if it has room: nil at the end of the list. There are two ways: by the videos that
// have a rare term, or along the list, as far as examined.
func (p Page) chosen(ctx context.Context, db *store.DB, after []byte) (text string, args []any, end []byte, err error) {
	terms := strings.Fields(p.Filter.Terms)
	isRare, err := rareFirst(ctx, db, terms)
	if err != nil {
		return "", nil, nil, err
	}
	d, a, until := dialectOf(db), &arguments{}, endOfKeys
	if !isRare {
		if end, err = p.end(ctx, db, after, examined); err != nil {
			return "", nil, nil, err
		}
		if end != nil {
			until = end
		}
	}
	within := fmt.Sprintf("v.{order} > %s AND v.{order} <= %s", a.bind(after), a.bind(until))
	if !isRare {
		from, where := d.conditions(p.Filter, terms, a)
		where += p.beyond()
		ranges := p.each("SELECT v.id, v.{order} AS place FROM videos v"+p.index(db)+from+" WHERE {tenant:v} AND {range} AND "+within+where, a)
		return p.documents(db.Merged(ranges, p.searched())), a.values, end, nil
	}
	having := d.having(a.bind(terms[0]))
	from, where := d.conditions(p.Filter, terms[1:], a)
	where += p.beyond()
	// The inner limit cuts nothing off. Without it PostgreSQL would read the whole list in
	// order until it met the few videos.
	return p.documents(fmt.Sprintf("SELECT id, place FROM (SELECT v.id, v.%[1]s AS place FROM (%[2]s LIMIT %[3]d) w CROSS JOIN videos v%[4]s WHERE v.id = w.id AND {tenant:v} AND (%[5]s) AND %[6]s%[7]s LIMIT %[3]d) m ORDER BY place LIMIT %[8]d",
		p.order(), having, few+1, from, strings.Join(p.ranges(a), " OR "), strings.ReplaceAll(within, "{order}", p.order()), where, p.searched())), a.values, nil, nil
}

// rareFirst moves the first term that few videos have to the front, and reports whether
// there is one.
func rareFirst(ctx context.Context, db *store.DB, terms []string) (isRare bool, err error) {
	for i, term := range terms {
		_, isFrequent, err := store.One[int64](ctx, db.Hot(dialectOf(db).beyond()), term)
		if err != nil {
			return false, err
		}
		if !isFrequent {
			terms[0], terms[i] = terms[i], terms[0]
			return true, nil
		}
	}
	return false, nil
}

// end is the key of the last of so many rows after a key; nil if fewer are left.
func (p Page) end(ctx context.Context, db *store.DB, after []byte, rows int) (end []byte, err error) {
	var a arguments
	ranges := p.each("SELECT v.{order} AS place FROM videos v"+p.index(db)+" WHERE {tenant:v} AND {range} AND v.{order} > "+a.bind(after), &a)
	end, _, err = store.One[[]byte](ctx, db.Hot(db.MergedLast(ranges, rows)), a.values...)
	return end, err
}

// index names the index of the ranges to SQLite, which has no statistics: of two that begin
// alike it took the one that has no week, and looked at every row of it.
func (p Page) index(db *store.DB) string {
	name := map[List]string{NewOutliers: "video_new", Rising: "video_rising"}[p.List]
	if name == "" || db.Dialect() != store.SQLite {
		return ""
	}
	return " INDEXED BY " + name
}

// documents reads the documents of the chosen videos, which are the first of all; for lists
// of ours with their scores.
func (p Page) documents(chosen string) string {
	hook, more, from, where := "CAST(NULL AS TEXT) AS hook", "CAST(NULL AS TEXT) AS hook_text, CAST(NULL AS TEXT) AS language, "+videos.NoScore, "", ""
	if p.List.items() == Hooks {
		hook = "d.hook"
	}
	if p.Paged && p.List != Videos {
		more, from, where = "d.hook_text, d.language, "+videos.ScoreOf("r"), " CROSS JOIN videos r", " AND r.id = k.id AND +{tenant:r}"
	}
	return "SELECT k.place, d.doc, " + hook + ", " + more + " FROM (" + chosen + ") k CROSS JOIN video_docs d" + from +
		" WHERE d.id = k.id AND {tenant:d}" + where + " ORDER BY k.place"
}

// each is the statement for each of the ranges.
func (p Page) each(statement string, a *arguments) []string {
	ranges := p.ranges(a)
	for i, where := range ranges {
		ranges[i] = strings.NewReplacer("{order}", p.order(), "{range}", where).Replace(statement)
	}
	return ranges
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

// conditions are those of a filter with the terms that are not met yet: what they read
// besides the video v, and the conditions. Most searches are for words alone: these look at
// the index of the list and at the terms, and not at the video's own row.
func (d dialect) conditions(f Filter, terms []string, a *arguments) (from, where string) {
	if f.asks("v.") {
		where = f.where("v.", a)
	}
	if f.asks("c.") {
		where += " AND EXISTS (SELECT 1 FROM creators c WHERE +{tenant:c} AND c.id = v.creator_id AND c.followers IS NOT NULL" + f.where("c.", a) + ")"
	}
	if len(terms) == 0 && f.Without == "" {
		return "", where
	}
	has := func(term string) string { return fmt.Sprintf(d.has, "' ' || CAST("+a.bind(term)+" AS TEXT) || ' '") }
	where += " AND t.id = v.id AND {tenant:t}"
	if f.Without != "" {
		where += " AND NOT " + has(f.Without)
	}
	for _, term := range terms {
		where += " AND " + has(term)
	}
	return " CROSS JOIN video_terms t", where
}
