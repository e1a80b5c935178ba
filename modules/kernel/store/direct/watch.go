package direct

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Between two tries to connect, after the connection was lost.
const againAfter = 200 * time.Millisecond

// watch is the channel that the process itself listens to, beside the queue.
type watch struct {
	channel string
	told    func(payload string)
	listens *pgx.Conn // that listens to the channel
	// kept are notifications of other channels, for the listener.
	kept []*pgconn.Notification
}

// Watch has told called with the payload of each notification of a channel, until the
// connection is closed. It must return at once. What comes while the connection is lost
// is missed. Only the first call has an effect.
func (c *Conn) Watch(channel string, told func(payload string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.halt != nil || c.closed {
		return
	}
	ctx, halt := context.WithCancel(context.Background())
	c.halt, c.halted = halt, make(chan struct{})
	go func() {
		defer close(c.halted)
		for ctx.Err() == nil {
			if err := c.watchOnce(ctx, channel, told); err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(againAfter):
				}
			}
		}
	}()
}

// watchOnce waits for a notification, or until another wants the connection. It makes the
// connection again where it was lost.
func (c *Conn) watchOnce(ctx context.Context, channel string, told func(payload string)) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	c.channel, c.told = channel, told
	if c.conn == nil || c.conn.IsClosed() {
		if err := c.connect(ctx); err != nil {
			return err
		}
	}
	if c.listens != c.conn {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTimeout)
		defer cancel()
		if _, err := c.conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
		c.listens = c.conn
	}
	if err := c.wait(ctx); err != nil && c.conn.IsClosed() {
		return err
	}
	return nil
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

// notified is called by the goroutine that reads from the connection.
func (c *Conn) notified(_ *pgconn.PgConn, got *pgconn.Notification) {
	if c.told != nil && got.Channel == c.channel {
		c.told(got.Payload)
		return
	}
	c.kept = append(c.kept, got)
}
