package scoring

import (
	"context"
	"errors"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// updateTries is how often a long computation is done beside other writes, before
// it is done with the library held.
const updateTries = 3

// writes are what a computation found to write; each fits a short transaction.
type writes []func(ctx context.Context, tx *store.Tx) error

// update writes the result of a long computation. The computation reads outside of
// transactions, so that no one waits for it, and its result is written only while
// the library is as it was read. A library that changes all the time is held once.
func (c *core) update(ctx context.Context, compute func(ctx context.Context, read videos.Reader) (writes, error)) error {
	for range updateTries {
		revision, err := c.videos.Revision(ctx)
		if err != nil {
			return err
		}
		found, err := compute(ctx, c.videos.Outside())
		if err != nil {
			return err
		}
		if err = c.writeUnchanged(ctx, revision, found); !errors.Is(err, videos.ErrChanged) {
			return err
		}
	}
	return c.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		found, err := compute(ctx, videos.Within(tx))
		for _, write := range found {
			if err == nil {
				err = write(ctx, tx)
			}
		}
		return err
	})
}

// writeUnchanged writes what was computed at a revision, in short transactions. It
// stops with errChanged once the library has another one.
func (c *core) writeUnchanged(ctx context.Context, revision int64, found writes) error {
	for _, write := range found {
		revision++ // by hold
		err := c.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
			now, err := c.videos.RevisionBy(ctx, videos.Within(tx))
			if err != nil {
				return err
			}
			if now != revision {
				return videos.ErrChanged
			}
			return write(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
