package changes

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	// readAtOnce bounds the entries of one statement, and readsOfACall the statements of
	// one call that looks for few kinds.
	readAtOnce   = 1000
	readsOfACall = 20
	// lookEvery bounds the time after which a waiting reader looks by itself.
	lookEvery = 5 * time.Second
)

// Service reads the feeds. It is safe for concurrent use.
type Service struct {
	db      *store.DB
	library Library
	hot     hot
	hub     *hub
	keep    time.Duration
	now     func() time.Time
}

// New returns the module's service. Close it.
func New(db *store.DB, library Library) *Service {
	s := &Service{db: db, library: library, hot: newHot(db), keep: feed.Keep, now: time.Now}
	s.hub = newHub(s.heads)
	s.hub.unlisten = db.OnNotify(s.hub.wake)
	return s
}

// Close ends the notifications.
func (s *Service) Close() { s.hub.close() }

// Start returns the number after which a reading from a place begins.
func (s *Service) Start(ctx context.Context, from From) (after int64, err error) {
	if !from.Oldest && !from.Now && from.Since == 0 {
		return from.After, nil
	}
	last, floor, err := s.state(ctx)
	switch {
	case err != nil:
		return 0, err
	case from.Since > 0:
		return s.before(ctx, from.Since, floor, last)
	case from.Oldest:
		return floor, nil
	}
	return last, nil
}

// Read returns at most so many changes of the kinds after a number. It fails with
// CursorExpired where some of them are deleted, and where the number is above the newest:
// the database was restored from a backup.
func (s *Service) Read(ctx context.Context, after int64, types Types, most int) (Page, error) {
	page := Page{Next: after}
	for range readsOfACall {
		size := int64(readAtOnce)
		if len(types) == 0 {
			size = int64(most - len(page.Changes))
		}
		found, last, floor, err := s.window(ctx, page.Next, size)
		if err != nil {
			return Page{}, err
		}
		if page.Next < floor || page.Next > last {
			return Page{}, expired()
		}
		for _, c := range found {
			if len(page.Changes) == most {
				break
			}
			if page.Next = c.Seq; types.Want(c.Kind) {
				page.Changes = append(page.Changes, c)
			}
		}
		if page.More = page.Next < last; !page.More || len(page.Changes) == most {
			break
		}
	}
	return page, nil
}

// Await is Read that waits, until ctx ends, for the first change. Its end is no error:
// the page is empty then.
func (s *Service) Await(ctx context.Context, after int64, types Types, most int) (Page, error) {
	account, _, _ := viewer.Tenant(ctx)
	changed, stop := s.hub.watch(account)
	defer stop()
	for {
		page, err := s.Read(ctx, after, types, most)
		switch {
		case ctx.Err() != nil:
			return Page{Next: after}, nil
		case err != nil || len(page.Changes) > 0:
			return page, err
		}
		after = page.Next
		if page.More {
			continue
		}
		select {
		case <-ctx.Done():
			return page, nil
		case <-changed:
		case <-time.After(lookEvery):
		}
	}
}

// Watch calls send for each change after a number, and waits for the next ones until ctx
// ends or send fails.
func (s *Service) Watch(ctx context.Context, after int64, types Types, send func(Change) error) error {
	for ctx.Err() == nil {
		page, err := s.Await(ctx, after, types, readAtOnce/10)
		if err != nil {
			return err
		}
		for _, c := range page.Changes {
			if err := send(c); err != nil {
				return err
			}
		}
		after = page.Next
	}
	return context.Cause(ctx)
}
