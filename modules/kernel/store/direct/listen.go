package direct

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

var errLost = errors.New("the connection that listened is lost")

// Driver is River's driver with the listener on a connection that others use too.
// River's own takes one of the pool for as long as the process lives.
type Driver struct {
	*riverpgxv5.Driver
	Conn *Conn
}

// GetListener implements riverdriver.Driver.
func (d Driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{direct: d.Conn, schema: params.Schema}
}

// listener is of use while the connection that it connected by lasts; then River makes
// it connect again. River calls it from several goroutines at once.
type listener struct {
	direct *Conn

	mu     sync.Mutex // guards what follows; it is not held while the connection works
	schema string
	prefix string
	conn   *pgx.Conn
	topics []string // that were listened to; those of others stay
}

// Connect implements riverdriver.Listener.
func (l *listener) Connect(ctx context.Context) error {
	return l.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		schema := l.Schema()
		if schema == "" {
			if err := conn.QueryRow(ctx, "SELECT coalesce(current_schema(), '')").Scan(&schema); err != nil {
				return err
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.schema, l.conn, l.prefix, l.topics = schema, conn, "", nil
		if schema != "" {
			l.prefix = schema + "."
		}
		return nil
	})
}

// Close ends the listening. The connection stays open for the others.
func (l *listener) Close(ctx context.Context) error {
	l.mu.Lock()
	topics := l.topics
	if l.conn == nil {
		topics = nil
	}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.conn = nil
	}()
	for _, topic := range topics {
		if err := l.Unlisten(ctx, topic); err != nil && !errors.Is(err, errLost) {
			return err
		}
	}
	return nil
}

// Listen implements riverdriver.Listener.
func (l *listener) Listen(ctx context.Context, topic string) error {
	l.mu.Lock()
	l.topics = append(l.topics, topic)
	l.mu.Unlock()
	return l.exec(ctx, "LISTEN "+l.channel(topic))
}

// Unlisten implements riverdriver.Listener.
func (l *listener) Unlisten(ctx context.Context, topic string) error {
	return l.exec(ctx, "UNLISTEN "+l.channel(topic))
}

// channel is the name of a topic's channel, quoted.
func (l *listener) channel(topic string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return pgx.Identifier{l.prefix + topic}.Sanitize()
}

// Ping implements riverdriver.Listener.
func (l *listener) Ping(ctx context.Context) error { return l.exec(ctx, "SELECT 1") }

// Schema implements riverdriver.Listener.
func (l *listener) Schema() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.schema
}

// SetAfterConnectExec implements riverdriver.Listener, where River's tests use it.
func (l *listener) SetAfterConnectExec(string) {}

func (l *listener) exec(ctx context.Context, statement string) error {
	return l.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !l.connectedBy(conn) {
			return errLost
		}
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// connectedBy is whether the listener connected by this connection.
func (l *listener) connectedBy(conn *pgx.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return conn != nil && conn == l.conn
}

// topic is the topic of a channel.
func (l *listener) topic(channel string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimPrefix(channel, l.prefix)
}

// WaitForNotification implements riverdriver.Listener. It lets go of the connection
// whenever another wants it.
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		got, err := l.waitOnce(ctx)
		switch {
		case err == nil:
			return &riverdriver.Notification{Topic: l.topic(got.Channel), Payload: got.Payload}, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.Canceled):
			return nil, err
		}
	}
}

// waitOnce fails with context.Canceled when it was interrupted.
func (l *listener) waitOnce(ctx context.Context) (*pgconn.Notification, error) {
	c := l.direct
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	defer c.give()
	for {
		if !l.connectedBy(c.conn) || c.conn.IsClosed() {
			return nil, errLost
		}
		if len(c.kept) > 0 {
			first := c.kept[0]
			c.kept = c.kept[1:]
			return first, nil
		}
		if err := c.wait(ctx); err != nil {
			return nil, err
		}
	}
}
