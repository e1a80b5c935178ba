package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"

	modernc "modernc.org/sqlite"
)

// connector makes SQLite's connections, by their address.
type connector struct {
	address string
	see     func(query string)
	// most is how many bytes of pages a connection may have in its cache when its work is
	// done; with more it is closed. 0: any number.
	most int
	// same fails if the file at the address is not the one that the process has opened. A
	// connection to another file would stay in the pool, and use the log of the first one.
	same func() error
}

func (c connector) Driver() driver.Driver { return sqliteDriver() }

// sqliteDriver is SQLite with one function more: contains(text, part). It takes half the
// time of instr, which compares letter by letter.
var sqliteDriver = sync.OnceValue(func() *modernc.Driver {
	d := &modernc.Driver{}
	d.MustRegisterFunction("contains", &modernc.FunctionImpl{
		NArgs: 2, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *modernc.FunctionContext, args []driver.Value) (driver.Value, error) {
			text, ok := args[0].(string)
			part, fits := args[1].(string)
			if !ok || !fits {
				return nil, errors.New("contains: wants two texts")
			}
			return strings.Contains(text, part), nil
		},
	})
	return d
})

func (c connector) Connect(context.Context) (driver.Conn, error) {
	if err := c.same(); err != nil {
		return nil, err
	}
	raw, err := c.Driver().Open(c.address)
	if err != nil {
		return nil, err
	}
	if err := c.same(); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	conn, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqlite's connection, a %T, lacks a method", raw), raw.Close())
	}
	return &keepingConn{sqliteConn: conn, see: c.see, most: c.most, idle: map[string]*keptStmt{}}, nil
}

// sqliteConn is what database/sql looks for in a connection of the driver, but for Exec and
// Query: without them it prepares every statement.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	modernc.DBStatus
}

// sqliteStmt is a statement of the driver.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

const (
	// maxKept bounds the statements that a connection keeps prepared.
	maxKept = 256
	// maxKeptText leaves out texts with long lists of values, which seldom recur.
	maxKeptText = 4 << 10
)

// keepingConn is a connection that keeps its statements prepared, as pgx does: SQLite's
// parser takes two fifths of the time of a query by Ent.
type keepingConn struct {
	sqliteConn
	see  func(query string)
	most int
	// idle are the statements that are not in use, by their texts.
	idle map[string]*keptStmt
}

func (c *keepingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.see(query)
	if stmt := c.idle[query]; stmt != nil {
		delete(c.idle, query)
		return stmt, nil
	}
	stmt, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &keptStmt{stmt.(sqliteStmt), c, query}, nil
}

// IsValid reports whether the connection stays open after its work.
func (c *keepingConn) IsValid() bool {
	if c.most > 0 {
		if pages, _, err := c.Status(modernc.DBStatusCacheUsed, false); err != nil || pages > c.most {
			return false
		}
	}
	return c.sqliteConn.IsValid()
}

// Close finalizes the statements, without which the file would stay open.
func (c *keepingConn) Close() error {
	var err error
	for _, stmt := range c.idle {
		err = errors.Join(err, stmt.sqliteStmt.Close())
	}
	clear(c.idle)
	return errors.Join(err, c.sqliteConn.Close())
}

// keptStmt is a statement that its connection keeps after its use.
type keptStmt struct {
	sqliteStmt
	conn  *keepingConn
	query string
}

// Close ends a use of the statement.
func (s *keptStmt) Close() error {
	idle := s.conn.idle
	if len(s.query) > maxKeptText || idle[s.query] != nil {
		return s.sqliteStmt.Close()
	}
	var err error
	if len(idle) >= maxKept {
		for text, other := range idle { // any one: what is needed again soon comes back
			delete(idle, text)
			err = other.sqliteStmt.Close()
			break
		}
	}
	idle[s.query] = s
	return err
}
