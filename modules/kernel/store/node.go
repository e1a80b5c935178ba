package store

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

const (
	// nodeStep is how far ahead of the ids a node number is marked as used: one mark
	// is written in this time, and ids of a successor may run this far ahead.
	nodeStep = 10 * time.Second
	// nodeWait bounds the wait for a new mark, in which no id is made.
	nodeWait = 5 * time.Second
)

var errAllHeld = fmt.Errorf("all %d node numbers are held by running processes", publicid.MaxNode+1)

// nodes leases one node number to this process, for its life. The mark of a number
// is the last millisecond in which its holder may make ids; it is stored before it is
// used, and the next holder starts behind it. So ids are unique though clocks step
// back, and though a holder has lost its lock without knowing: it ends at its mark.
type nodes interface {
	// lease returns a number that no process holds and marks it. A number whose mark
	// has passed is preferred.
	lease(ctx context.Context, now int64) (publicid.Grant, error)
	// renew raises the mark beyond the millisecond at, or leases another number where
	// this one is lost.
	renew(ctx context.Context, at int64) (publicid.Grant, error)
	// close lowers the mark to the last millisecond used and frees the number.
	close(last int64) error
}

// leaseNode takes the number that this process makes its ids with.
func (db *DB) leaseNode(ctx context.Context) error {
	db.nodes = &fileNodes{dir: db.cfg.DataDir}
	if db.pool != nil {
		db.nodes = &postgresNodes{direct: db.direct}
	}
	grant, err := db.nodes.lease(ctx, db.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("lease a node number: %w", err)
	}
	db.ids = publicid.NewMaker(grant, db.now, func(at int64) (publicid.Grant, error) {
		// Not a caller's context: the new mark serves all of them.
		ctx, cancel := context.WithTimeout(context.Background(), nodeWait)
		defer cancel()
		grant, err := db.nodes.renew(ctx, at)
		if err != nil {
			db.log.Error("the node number cannot be renewed", "error", err)
			return grant, fmt.Errorf("renew the node number: %w", err)
		}
		return grant, nil
	})
	return nil
}
