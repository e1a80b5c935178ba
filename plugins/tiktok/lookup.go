package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
)

const (
	// maxTries is how often a page is asked for while the site fails.
	maxTries = 5
	// maxLost is after how many seeds in a row the site counts as down.
	maxLost = 3
	// maxPages bounds the requests for one seed.
	maxPages = 40
	// maxBarren bounds the pages in a row that bring nothing new: the interface
	// repeats videos, and now and then only those.
	maxBarren = 5
)

// lookup looks for one seed's videos.
type lookup struct {
	session *session
	filter  filter
	limit   int
	take    func(video) error

	seen    map[site.ID]bool
	unnamed int
	pages   int
	// What went wrong in a row: it begins anew with each good page.
	failed, stale int
	restarted     bool
}

// run goes through the windows until there is enough. The error is a *site.Stop,
// the context's, or what take answers.
func (h *lookup) run(ctx context.Context, todo []window) error {
	for len(todo) > 0 {
		w := todo[0]
		todo = todo[1:]
		err := h.window(ctx, w)
		var shorter *tooLong
		switch {
		case errors.As(err, &shorter):
			todo = append(shorter.halves, todo...)
		case err != nil:
			return err
		case len(h.seen) >= h.limit:
			todo = nil
		}
	}
	if h.unnamed > 0 {
		return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("%d videos had no id that could be read", h.unnamed)}
	}
	if len(h.seen) > 0 {
		return h.session.fields.Short()
	}
	return nil
}

// tooLong asks for shorter windows, which a site that fails may still manage.
type tooLong struct{ halves []window }

func (*tooLong) Error() string { return "the window is too long" }

// window reads the pages of one window.
func (h *lookup) window(ctx context.Context, w window) error {
	q := query{
		Query: h.filter, Start: w.start.Format("20060102"), End: w.end.Format("20060102"),
		MaxCount: min(perPage, max(h.limit, 1)),
	}
	for barren := 0; ; {
		if h.pages++; h.pages > maxPages {
			return &site.Stop{Status: stage.Partial, Detail: fmt.Sprintf("there is more after %d requests", maxPages)}
		}
		p, err := h.session.page(ctx, q)
		if err != nil {
			again, err := h.recover(ctx, err, w)
			if err != nil {
				return err
			}
			if again {
				q.Cursor, q.SearchID = "", ""
			}
			continue
		}
		h.failed, h.stale = 0, 0
		h.session.tries, h.session.lost = maxTries, 0
		fresh, err := h.keep(p)
		if err != nil || !p.more || len(h.seen) >= h.limit {
			return err
		}
		if barren++; fresh > 0 {
			barren = 0
		}
		if barren >= maxBarren || p.cursor == "" {
			return &site.Stop{Status: stage.Partial, Detail: "TikTok says that there is more, and does not give it"}
		}
		q.Cursor, q.SearchID = json.Number(p.cursor), p.searchID
	}
}

// keep takes what is new on a page, up to the limit.
func (h *lookup) keep(p page) (fresh int, err error) {
	h.unnamed += p.unnamed
	for _, v := range p.videos {
		if h.seen[v.ID] || len(h.seen) >= h.limit {
			continue
		}
		if err := h.take(v); err != nil {
			return fresh, err
		}
		h.seen[v.ID] = true
		fresh++
	}
	return fresh, nil
}

// recover waits where that may help; again says to begin the query anew. Its error
// ends the window.
func (h *lookup) recover(ctx context.Context, err error, w window) (again bool, _ error) {
	var f *failure
	if !errors.As(err, &f) {
		return false, err
	}
	if f.what == stale {
		return h.refind(ctx, f)
	}
	h.failed++
	if h.failed >= h.session.tries {
		return false, h.lose(f)
	}
	if err := h.wait(ctx, f, backoff(f, h.failed)); err != nil {
		return false, err
	}
	if halves, ok := w.halves(); ok && f.what == busy && h.failed >= 2 {
		return false, &tooLong{halves}
	}
	return false, nil
}

// backoff is how long to wait after the nth failure.
func backoff(f *failure, n int) time.Duration {
	switch {
	case f.wait > 0:
		return f.wait
	case f.what == garbled:
		return time.Duration(n) * 5 * time.Second
	case f.what == paced:
		return time.Minute
	}
	return min(30*time.Second<<(n-1), 2*time.Minute)
}

// refind waits for a search id to become known, then begins the search anew, once.
func (h *lookup) refind(ctx context.Context, f *failure) (again bool, _ error) {
	if h.stale++; h.stale > maxTries {
		if h.restarted {
			return false, &site.Stop{Status: stage.Changed, Detail: f.detail}
		}
		h.restarted, h.stale = true, 0
		return true, nil
	}
	return false, h.wait(ctx, f, time.Duration(h.stale)*5*time.Second)
}

func (h *lookup) wait(ctx context.Context, f *failure, d time.Duration) error {
	err := h.session.site.Wait(ctx, d, "waiting for TikTok")
	if errors.Is(err, site.ErrPatience) {
		return &site.Stop{Status: f.status(), RetryAt: h.session.site.Now().Add(d), Detail: f.detail, Scope: site.All}
	}
	return err
}

// lose gives the seed up. The next ones get one try each, and after some the site
// counts as down.
func (h *lookup) lose(f *failure) error {
	s := h.session
	s.tries = 1
	s.lost++
	stop := &site.Stop{Status: f.status(), RetryAt: s.site.Now().Add(backoff(f, maxTries)), Detail: f.detail}
	if s.lost >= maxLost || f.what == paced {
		stop.Scope = site.All
	}
	return stop
}
