// Package direct keeps the one connection to PostgreSQL that a process has outside of
// its pool. It listens, and renews leases while others have the whole pool. It goes to the
// server itself where the pool goes to a pooler of transactions, which would hand what a
// session listens to to the next client.
package direct

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// useTimeout bounds what one Use does. It is not cut short by a caller that leaves: that
// would close the connection of the others.
const useTimeout = 10 * time.Second

// Conn is a connection that is made again when it was lost. It is safe for concurrent
// use.
type Conn struct {
	cfg *pgx.ConnConfig
	// place is held by the user of the connection. Waiters take turns.
	place chan struct{}
	conn  *pgx.Conn // guarded by place
	// kept are notifications for the listener; guarded by place.
	kept []*pgconn.Notification
	// wanted counts the callers that wait for the place or have it, without the listener.
	wanted atomic.Int32

	mu sync.Mutex
	// interrupt ends the listener's wait.
	interrupt context.CancelFunc
	closed    bool
}

// Open connects.
func Open(ctx context.Context, cfg *pgx.ConnConfig) (*Conn, error) {
	cfg = cfg.Copy()
	// A host that vanished without a word is missed in about 12 seconds. What waits for
	// nothing needs no limits of its own.
	for name, value := range map[string]string{
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3",
		"statement_timeout": "0", "lock_timeout": "0",
	} {
		cfg.RuntimeParams[name] = value
	}
	c := &Conn{cfg: cfg, place: make(chan struct{}, 1)}
	cfg.OnNotification = func(_ *pgconn.PgConn, got *pgconn.Notification) { c.kept = append(c.kept, got) }
	return c, c.Use(ctx, func(context.Context, *pgx.Conn) error { return nil })
}

// Use calls do with the connection, which no one else uses meanwhile; do must not keep
// it for long. A lost connection is made again first. ctx bounds the wait and the connecting.
func (c *Conn) Use(ctx context.Context, do func(ctx context.Context, conn *pgx.Conn) error) error {
	c.wanted.Add(1)
	defer c.wanted.Add(-1)
	c.interruptWait()
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	if c.conn == nil || c.conn.IsClosed() {
		if err := c.connect(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTimeout)
	defer cancel()
	return do(ctx, c.conn)
}

func (c *Conn) connect(ctx context.Context) error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return fmt.Errorf("connect to PostgreSQL: the database is closed")
	}
	ctx, cancel := context.WithTimeout(ctx, useTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, c.cfg)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL outside of the pool: %w", err)
	}
	c.conn, c.kept = conn, nil
	return nil
}

func (c *Conn) take(ctx context.Context) error {
	select {
	case c.place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Conn) give() { <-c.place }

func (c *Conn) interruptWait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupt != nil {
		c.interrupt()
	}
}

// Close closes the connection and frees what it holds.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.wanted.Add(1)
	defer c.wanted.Add(-1)
	c.interruptWait()
	ctx, cancel := context.WithTimeout(context.Background(), useTimeout)
	defer cancel()
	if err := c.take(ctx); err != nil {
		return fmt.Errorf("close the connection outside of the pool: %w", err)
	}
	defer c.give()
	if c.conn == nil {
		return nil
	}
	return c.conn.Close(ctx)
}

// wait returns after a message of the server, and fails with context.Canceled where
// another wants the connection. Its caller has the place.
func (c *Conn) wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.interrupt = cancel
	if c.wanted.Load() > 0 {
		cancel()
	}
	c.mu.Unlock()
	return c.conn.PgConn().WaitForNotification(ctx)
}
