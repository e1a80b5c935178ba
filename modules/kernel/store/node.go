package store

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// nodeWait bounds the wait for a new mark, in which no id is made.
const nodeWait = 5 * time.Second

// nodes leases one node number to this process, for its life. The mark of a number
// is the last millisecond in which its holder may make ids; it is stored before it is
// used, and the next holder starts behind it. So ids are unique though clocks step
// back, and though a holder has lost its lock without knowing: it ends at its mark.
type nodes interface {
	// Lease returns a number that no process holds and marks it. A number whose mark
	// has passed is preferred.
	Lease(ctx context.Context, now int64) (publicid.Grant, error)
	// Renew raises the mark beyond the millisecond at, or leases another number where
	// this one is lost.
	Renew(ctx context.Context, at int64) (publicid.Grant, error)
	// Close lowers the mark to the last millisecond used and frees the number.
	Close(last int64) error
}

// leaseNode takes the number that this process makes its ids with.
func (db *DB) leaseNode(ctx context.Context) error {
	db.nodes = sqlite.NewNodes(db.cfg.DataDir)
	if db.pg != nil {
		db.nodes = postgres.NewNodes(db.pg.Direct)
	}
	grant, err := db.nodes.Lease(ctx, db.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("lease a node number: %w", err)
	}
	db.ids = publicid.NewMaker(grant, db.now, func(at int64) (publicid.Grant, error) {
		// Not a caller's context: the new mark serves all of them.
		ctx, cancel := context.WithTimeout(context.Background(), nodeWait)
		defer cancel()
		grant, err := db.nodes.Renew(ctx, at)
		if err != nil {
			db.log.Error("the node number cannot be renewed", "error", err)
			return grant, fmt.Errorf("renew the node number: %w", err)
		}
		return grant, nil
	})
	return nil
}
