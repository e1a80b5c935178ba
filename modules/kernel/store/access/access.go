// Package access tells a process on PostgreSQL that rows have changed by which calls are
// admitted: keys, subscriptions, workspaces. The database itself says so, by triggers on
// these tables, so that no writer can forget it, not even a person with psql.
//
// The process that changes them is told by messages of its own statements, and passes
// that on before the statement that ended the transaction returns. All processes are told
// by a notification after the commit.
package access

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// Channel is the channel of the notifications, whose payload is the account, and the text
// of the messages, whose detail is the account.
const Channel = "scrollery_access"

// idle is the state of a connection outside of transactions.
const idle = 'I'

// Changes passes changes on to listeners. The zero value has none. It is safe for
// concurrent use.
type Changes struct {
	mu        sync.RWMutex
	listeners []func(account int64)

	// open are the accounts that a connection's transaction has changed: *pgconn.PgConn
	// to []int64, counted by opened.
	open   sync.Map
	opened atomic.Int64
}

// Listen has listener called at each change; more often than there are changes, too. It
// must return at once.
func (c *Changes) Listen(listener func(account int64)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, listener)
}

// Notice takes a message of the server to a connection of this process.
func (c *Changes) Notice(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.Message != Channel {
		return
	}
	account, err := strconv.ParseInt(notice.Detail, 10, 64)
	if err != nil {
		return
	}
	known, ok := c.open.Load(conn)
	if !ok {
		c.opened.Add(1)
	}
	accounts, _ := known.([]int64)
	c.open.Store(conn, append(accounts, account)) // one statement at a time uses the connection
}

// Ended is called after each statement of a connection. Where it ended the transaction,
// or lost the connection, the listeners are told what it has changed.
func (c *Changes) Ended(conn *pgconn.PgConn) {
	if c.opened.Load() == 0 || conn.TxStatus() != idle && !conn.IsClosed() {
		return
	}
	changed, ok := c.open.LoadAndDelete(conn)
	if !ok {
		return
	}
	c.opened.Add(-1)
	for _, account := range changed.([]int64) {
		c.tell(account)
	}
}

// Notified takes the payload of a notification.
func (c *Changes) Notified(payload string) {
	if account, err := strconv.ParseInt(payload, 10, 64); err == nil {
		c.tell(account)
	}
}

func (c *Changes) tell(account int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, listener := range c.listeners {
		listener(account)
	}
}
