package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

const (
	// leaseTime is how long a lease lasts after its holder renewed it last, by the server's
	// clock; leaseRound is the time between two renewals.
	leaseTime  = 10 * time.Second
	leaseRound = 2 * time.Second
)

// ErrTaken is the error of a lock between processes that another one holds, and the cause of
// the context of one that was lost.
var ErrTaken = errors.New("another process holds the lock")

// lease is a name that has one holder at a time, by a row that says until when. The row of a
// process that died, is stopped or cannot reach the server expires, and another holder can
// take the name.
type lease struct {
	direct       *direct.Conn
	name, holder string
}

func newLease(conn *direct.Conn, name string) lease { return lease{conn, name, rand.Text()} }

// take takes the name if no other holder has it, or renews the lease.
func (l lease) take(ctx context.Context) (held bool, err error) {
	return l.exec(ctx, `INSERT INTO leases VALUES ($1, $2, clock_timestamp() + $3) ON CONFLICT (name) DO UPDATE
		SET holder = $2, until = EXCLUDED.until WHERE leases.holder = $2 OR leases.until < clock_timestamp()`, l.name, l.holder, leaseTime)
}

// renew fails to hold a lease that has expired, though no one else has taken it since:
// someone may have had it meanwhile.
func (l lease) renew(ctx context.Context) (held bool, err error) {
	return l.exec(ctx, "UPDATE leases SET until = clock_timestamp() + $3 WHERE name = $1 AND holder = $2 AND until >= clock_timestamp()", l.name, l.holder, leaseTime)
}

// free gives the name back. Without an answer in time the lease expires by itself.
func (l lease) free(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWait)
	defer cancel()
	_, err := l.exec(ctx, "DELETE FROM leases WHERE name = $1 AND holder = $2", l.name, l.holder)
	return err
}

func (l lease) exec(ctx context.Context, statement string, args ...any) (changed bool, err error) {
	err = l.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, statement, args...)
		changed = tag.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", l.name, err)
	}
	return changed, nil
}

// TryLock takes a name and a number while no one else has them, in this process or another,
// and returns the function that gives them back, to be called once. It fails with ErrTaken at
// once if they are held. held ends with ErrTaken when the lock is lost: this process was
// stopped, or could not reach the server, for 10 seconds.
func (s *Server) TryLock(ctx context.Context, name string, number int64) (held context.Context, leave func(), err error) {
	l := newLease(s.Direct, fmt.Sprint(name, " ", number))
	took, err := l.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !took {
		return nil, nil, ErrTaken
	}
	held, lose := context.WithCancelCause(ctx)
	go l.keep(held, lose)
	return held, func() {
		lose(nil)
		if err := l.free(ctx); err != nil {
			s.log.WarnContext(ctx, "a lock between processes is kept until it expires", "error", err)
		}
	}, nil
}

// keep renews the lease until ctx ends, and calls lose when it is lost.
func (l lease) keep(ctx context.Context, lose context.CancelCauseFunc) {
	ticker := time.NewTicker(leaseRound)
	defer ticker.Stop()
	for renewed := time.Now(); time.Since(renewed) < leaseTime; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		begun := time.Now()
		held, err := l.renew(ctx)
		if err == nil && !held {
			break
		}
		if err == nil {
			renewed = begun
		}
	}
	lose(ErrTaken)
}
