package library

import (
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/maypok86/otter/v2"
)

// pages is a cache of rendered pages. A page is shown only while the library's
// revision, read from the database at every request, is the one it was made at:
// so a change is seen by the very next read, on every replica.
type pages struct {
	cache   *otter.Cache[pageKey, rendered]
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
	p.cache, err = otter.New(&otter.Options[pageKey, rendered]{
		MaximumWeight: uint64(limit),
		Weigher: func(key pageKey, value rendered) uint32 {
			return uint32(len(value.body) + len(value.next) + len(key.token) + len(value.stamp.subject) + 200)
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

func (p *pages) put(key pageKey, value rendered) {
	if p.cache != nil {
		p.cache.Set(key, value)
	}
}

// etag identifies a page's state. The account is in it: another tenant's page at the
// same revision must not pass for this one.
func (k pageKey) etag(at stamp) string {
	h := fnv.New64a()
	for _, part := range []string{
		strconv.FormatInt(k.account, 36), string(rune(k.list)), strconv.Itoa(k.limit), strconv.FormatBool(k.withArchived),
		k.kind, k.platform, k.token, at.subject, strconv.Itoa(at.completed),
	} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return strconv.FormatInt(at.revision, 36) + "-" + strconv.FormatUint(h.Sum64(), 36)
}
