package library

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/maypok86/otter/v2"

	"github.com/scrollery/scrollery/modules/kernel/cache"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/search"
)

// defaultLimit is the length of a page, and the longest one.
const defaultLimit = 25

// page is what a caller may ask of a list. It is the key of the page cache, next
// to the tenant.
type page struct {
	list         list
	limit        int
	withArchived bool
	// kind filters outliers and the library; empty for all.
	kind string
	// platform filters the library; empty for all.
	platform string
	// filter filters what is shown, on top of kind and platform.
	filter search.Filter
	// token is where the page begins; empty for the first.
	token string
	// paged adds the cursor of the next page to the body.
	paged bool
}

// order is the column that the list is sorted by.
func (p page) order() string {
	switch p.list {
	case hooks:
		return "hook_order"
	case outliers:
		return "outlier_order"
	default:
		return "seen_order"
	}
}

// columns are the JSON texts of one row. With the sort key they are all that the
// statement reads: the key is in the index, the texts in one row beside it.
func (p page) columns() string {
	if p.list == hooks {
		return "d.doc, d.hook"
	}
	return "d.doc"
}

// ranges are the ranges of one index that together are the list. Where a filter is missing
// that the index has, each of its values is a range: an index without it would cost more
// at every change than the ranges cost a page.
func (p page) ranges() (ranges []string) {
	archived := []string{"0"}
	if p.withArchived {
		archived = append(archived, "1")
	}
	kindRanges := []string{p.kind}
	if p.kind == "" {
		kindRanges = kinds()
	}
	for _, flag := range archived {
		if p.list == hooks {
			ranges = append(ranges, "hook_hidden = "+flag)
			continue
		}
		for _, kind := range kindRanges {
			where := "archived = " + flag
			if p.platform != "" {
				where += " AND platform = $2"
			}
			ranges = append(ranges, where+" AND kind = '"+kind+"'")
		}
	}
	return ranges
}

// query is the statement of the page; the kind is one of few, so that few are
// prepared. $1 is the sort key to begin after, $2 the platform. It reads one row
// more than the page has, which tells whether there is another page. Where it tells the
// library's revision, that is the last column.
func (p page) query(db *store.DB, tells bool) string {
	limit, order := p.limit+1, p.order()
	ranges, columns := p.ranges(), p.columns()
	if tells {
		columns += ", (SELECT revision FROM libraries WHERE {tenant})"
	}
	if len(ranges) == 1 {
		return fmt.Sprintf(`SELECT v.%[1]s, %[2]s FROM videos v CROSS JOIN video_docs d
WHERE {tenant:v} AND v.%[3]s AND v.%[1]s > $1 AND d.id = v.id AND {tenant:d} ORDER BY v.%[1]s LIMIT %[4]d`,
			order, columns, strings.ReplaceAll(ranges[0], " AND ", " AND v."), limit)
	}
	return fmt.Sprintf(`SELECT k.place, %s FROM (%s) k CROSS JOIN video_docs d
WHERE d.id = k.id AND {tenant:d} ORDER BY k.place LIMIT %d`, columns, p.firstOf(db, ranges, limit), limit)
}

// tracked is the statement of Tracked: ids instead of documents.
func (p page) tracked(db *store.DB) string {
	ranges := p.ranges()
	for i := range ranges {
		ranges[i] += " AND gone_at IS NULL"
	}
	return fmt.Sprintf(`SELECT v.id, v.external_id FROM (%s) k CROSS JOIN videos v WHERE v.id = k.id AND +{tenant:v} ORDER BY k.place LIMIT %d`,
		p.firstOf(db, ranges, p.limit), p.limit)
}

// firstOf are the ids of the first videos of all ranges, with their place.
func (p page) firstOf(db *store.DB, ranges []string, limit int) string {
	parts := make([]string, len(ranges))
	for i, where := range ranges {
		parts[i] = fmt.Sprintf("SELECT id, %[1]s AS place FROM videos WHERE {tenant} AND %[2]s AND %[1]s > $1", p.order(), where)
	}
	return db.Merged(parts, limit)
}

// trendsQuery reads trends with their examples. $1 is the subject, $2 the sort key to
// begin after, $3 and $4 the fewest videos and the least growth where the page asks for
// any. A subject has thousands of trends at most, so filters need no index. The last column
// is null unless archived or restored videos are still to be counted.
func (p page) trendsQuery(dialect string) string {
	with, where := 0, ""
	if p.withArchived {
		with = 1
	}
	if p.kind != "" { // one of few
		where += fmt.Sprintf(" AND t.key >= '%[1]s:' AND t.key < '%[1]s;'", p.kind)
	}
	if p.filter.MinVideos > 0 || p.filter.MinGrowth > 0 {
		growth := `CAST(json_extract(t.head || ']}', '$.metrics.medianGrowthMultiple') AS REAL)`
		if dialect == store.Postgres {
			growth = `CAST(CAST(t.head || ']}' AS jsonb) -> 'metrics' ->> 'medianGrowthMultiple' AS float8)`
		}
		where += " AND t.video_count >= $3 AND " + growth + " >= $4"
	}
	return fmt.Sprintf(`SELECT t.place, t.head, d1.doc, d2.doc, d3.doc, (SELECT 1 FROM uncounted_videos WHERE {tenant} ORDER BY id LIMIT 1) FROM trends t
LEFT JOIN video_docs d1 ON d1.id = t.example1 AND {tenant:d1} LEFT JOIN video_docs d2 ON d2.id = t.example2 AND {tenant:d2}
LEFT JOIN video_docs d3 ON d3.id = t.example3 AND {tenant:d3}
WHERE {tenant:t} AND t.subject = $1 AND t.with_archived = %d AND t.listed = 1 AND t.place > $2%s ORDER BY t.place LIMIT %d`, with, where, p.limit+1)
}

// pages is a cache of rendered pages. A page is shown only while the library's
// revision, read from the database at every request, is the one it was made at:
// so a change is seen by the very next read, on every replica.
type pages struct {
	cache   cache.Of[pageKey, rendered]
	buffers sync.Pool
}

// pageKey is the account and the page that it asked for.
type pageKey struct {
	account int64
	page
}

// rendered is a page as it was at a stamp.
type rendered struct {
	stamp stamp
	body  []byte
	next  string
	tag   string // see etag
}

// stamp is the state of the library that a page shows. Subject and completed are
// set for trends only, which also depend on them.
type stamp struct {
	revision  int64
	subject   string
	completed int
}

func newPages(limit int64) (*pages, error) {
	p := &pages{buffers: sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}}
	if limit == 0 {
		return p, nil
	}
	var err error
	p.cache, err = cache.New(otter.Options[pageKey, rendered]{
		MaximumWeight: uint64(limit),
		Weigher: func(key pageKey, value rendered) uint32 {
			return uint32(len(value.body) + len(value.next) + len(value.tag) + len(key.token) + len(value.stamp.subject) + 200)
		},
	})
	return p, err
}

func (p *pages) get(key pageKey, now stamp) (rendered, bool) {
	if p.cache == nil {
		return rendered{}, false
	}
	known, ok := p.cache.GetIfPresent(key)
	return known, ok && known.stamp == now
}

// perhaps returns a page that shows the library's state but for its revision, unless the
// library is known to have changed since.
func (p *pages) perhaps(key pageKey, now stamp) (rendered, bool) {
	if p.cache == nil {
		return rendered{}, false
	}
	known, ok := p.cache.GetIfPresent(key)
	if now.revision = known.stamp.revision; !ok || known.stamp != now {
		return rendered{}, false
	}
	seen, ok := p.cache.GetIfPresent(pageKey{account: key.account})
	return known, !ok || seen.stamp.revision <= known.stamp.revision
}

// see says that an account's library has a revision, so that no statement is spent on
// pages that are past. It may be late, or be left out. On SQLite each call knows.
func (s *Service) see(account, revision int64) {
	if s.db.Dialect() == store.Postgres {
		s.pages.put(pageKey{account: account}, rendered{stamp: stamp{revision: revision}})
	}
}

func (p *pages) put(key pageKey, value rendered) {
	if p.cache != nil {
		p.cache.Set(key, value)
	}
}

// etag identifies a page's state, of an epoch of the database. The account is in it:
// another tenant's page at the same revision must not pass for this one.
func (k pageKey) etag(at stamp, epoch string) string {
	h := fnv.New64a()
	for _, part := range []string{
		strconv.FormatInt(k.account, 36), string(rune(k.list)), strconv.Itoa(k.limit), strconv.FormatBool(k.withArchived),
		k.kind, k.platform, k.token, at.subject, strconv.Itoa(at.completed), epoch,
	} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	if k.paged || !k.filter.IsZero() {
		fmt.Fprintf(h, "%+v%t", k.filter, k.paged)
	}
	return strconv.FormatInt(at.revision, 36) + "-" + strconv.FormatUint(h.Sum64(), 36)
}
