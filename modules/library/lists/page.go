package lists

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/cache"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

const (
	// DefaultLimit is the length of a page, and MostItems the longest one of our lists.
	DefaultLimit, MostItems = 25, 100
	// mostBytes ends a page of our lists before it has all of its items: metadata of one video
	// may have 256 KiB.
	mostBytes = 4 << 20
)

// Page is what a caller may ask of a list. It is the key of the page cache, next
// to the tenant.
type Page struct {
	List         List
	Limit        int
	WithArchived bool
	// Kind and Platform are those that the list's index has; empty for all.
	Kind, Platform string
	// Filter filters what is shown, on top of kind and platform.
	Filter Filter
	// Token is where the page begins; empty for the first.
	Token string
	// Paged adds the cursor of the next page to the body.
	Paged bool
	// newest is the newest usable reading of the library, of new and rising videos alone.
	newest int64
}

// full reports whether a page that has so many items and bytes takes no more.
func (p Page) full(rows, bytes int) bool {
	ours := p.Paged || p.List == Videos
	return rows == p.Limit || ours && rows > 0 && bytes > mostBytes
}

// searched is how many items a page reads that chooses by a filter. Each number is another
// statement that is prepared, so there are two.
func (p Page) searched() int {
	if p.Limit <= DefaultLimit {
		return DefaultLimit + 1
	}
	return MostItems + 1
}

// indexes reports whether a filter is one of the list's index, and so costs nothing.
func (l List) indexes(filter string) bool {
	return filter == "kind" && l != Hooks || filter == "platform" && l == Videos
}

// order is the column that the list is sorted by.
func (p Page) order() string {
	switch p.List {
	case Hooks:
		return "hook_order"
	case Outliers, NewOutliers, BestHooks:
		return "outlier_order"
	case Rising:
		return "rising_order"
	default:
		return "seen_order"
	}
}

// ranges are the ranges of one index that together are the list. If a filter is missing
// that the index has, each of its values is a range: an index without it would cost more
// at every change than the ranges cost a page.
func (p Page) ranges(a *arguments) (ranges []string) {
	archived := []string{"0"}
	if p.WithArchived {
		archived = append(archived, "1")
	}
	kinds, platform := []string{p.Kind}, ""
	if p.Kind == "" {
		kinds = videos.Kinds()
	}
	if p.Platform != "" {
		platform = " AND v.platform = " + a.bind(p.Platform)
	}
	for _, flag := range archived {
		if p.List == Hooks {
			ranges = append(ranges, "v.hook_hidden = "+flag)
			continue
		}
		for _, kind := range kinds { // one of few, so that few statements are prepared
			where := "v.archived = " + flag + platform + " AND v.kind = '" + kind + "'"
			if p.List != NewOutliers && p.List != Rising {
				ranges = append(ranges, where)
				continue
			}
			for week, last := p.weeks(); week <= last; week++ {
				ranges = append(ranges, where+" AND v."+map[List]string{NewOutliers: "outlier_week = ", Rising: "posted_week = "}[p.List]+a.bind(week))
			}
		}
	}
	return ranges
}

// mostWeeks is how far back new outliers are listed: each week is a range.
const mostWeeks = 8

// within bounds a page of new or rising videos by the newest usable reading. It fails if
// the page asks for outliers of too long ago.
func (p Page) within(newest int64) (Page, error) {
	p.newest = newest
	switch oldest := newest - mostWeeks*score.Week; {
	case p.List == Rising:
		p.Filter.PostedAfter = max(p.Filter.PostedAfter, newest-score.RisingAge+1)
		if p.Filter.PostedBefore == 0 || p.Filter.PostedBefore > newest {
			p.Filter.PostedBefore = newest + 1
		}
	case p.Filter.Since == 0:
		p.Filter.Since = newest - score.Week
	case p.Filter.Since < oldest:
		return p, apierr.Invalid("since", "must be at most %d weeks before the newest reading, so %d or later", mostWeeks, oldest)
	}
	return p, nil
}

// weeks are the first and the last week of the ranges of new or rising videos.
func (p Page) weeks() (first, last int64) {
	if p.List == Rising {
		return score.WeekOf(p.newest - score.RisingAge + 1), score.WeekOf(p.newest)
	}
	return score.WeekOf(p.Filter.Since), score.WeekOf(p.newest)
}

// beyond is what a list demands beside its ranges.
func (p Page) beyond() string {
	switch {
	case p.List == BestHooks && p.WithArchived:
		return " AND v.hook_order IS NOT NULL"
	case p.List == BestHooks:
		return " AND v.hook_order IS NOT NULL AND v.hook_hidden = 0"
	}
	return ""
}

// Pages is a cache of rendered pages. A page is shown only while the library's
// revision, read from the database at every request, is the one it was made at:
// so a change is seen by the very next read, on every replica.
type Pages struct {
	cache   cache.Of[pageKey, rendered]
	buffers sync.Pool
}

// pageKey is the account and the page that it asked for.
type pageKey struct {
	account int64
	Page
}

// rendered is a page as it was at a stamp.
type rendered struct {
	stamp stamp
	body  []byte
	next  string
	tag   string    // see etag
	made  time.Time // of a computed answer, whose body is protobuf
}

// stamp is the state of the library that a page shows. Subject and completed are
// set for trends only, which also depend on them.
type stamp struct {
	revision  int64
	subject   string
	completed int
}

func NewPages(limit int64) (*Pages, error) {
	p := &Pages{buffers: sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}}
	if limit == 0 {
		return p, nil
	}
	var err error
	p.cache, err = cache.New(otter.Options[pageKey, rendered]{
		MaximumWeight: uint64(limit),
		Weigher: func(key pageKey, value rendered) uint32 {
			return uint32(len(value.body) + len(value.next) + len(value.tag) + len(key.Token) + len(value.stamp.subject) + 200)
		},
	})
	return p, err
}

func (p *Pages) get(key pageKey, now stamp) (rendered, bool) {
	if p.cache == nil {
		return rendered{}, false
	}
	known, ok := p.cache.GetIfPresent(key)
	return known, ok && known.stamp == now
}

func (p *Pages) put(key pageKey, value rendered) {
	if p.cache != nil {
		p.cache.Set(key, value)
	}
}

// etag identifies a page's state. The account is in it: another tenant's page at the same
// revision must not pass for this one.
func (k pageKey) etag(at stamp) string {
	h := fnv.New64a()
	for _, part := range []string{
		strconv.FormatInt(k.account, 36), string(rune(k.List)), strconv.Itoa(k.Limit), strconv.FormatBool(k.WithArchived),
		k.Kind, k.Platform, k.Token, at.subject, strconv.Itoa(at.completed),
	} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	if k.Paged || k.Filter != (Filter{}) {
		fmt.Fprintf(h, "%+v%t", k.Filter, k.Paged)
	}
	return strconv.FormatInt(at.revision, 36) + "-" + strconv.FormatUint(h.Sum64(), 36)
}
