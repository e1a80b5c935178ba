package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/scrollery/scrollery/modules/kernel/store/wal"
)

// connector makes SQLite's connections, by their address.
type connector struct {
	address string
	watch   *watch
	// settles: what a connection commits by [hotConn.end] is not on the disk yet.
	settles bool
	// most is how many bytes of pages a connection may have in its cache when its work is
	// done; with more it is closed. 0: any number.
	most int
}

func (c connector) Driver() driver.Driver { return sqliteDriver() }

// sqliteDriver is SQLite with one function more: contains(text, part). It takes half the
// time of instr, which compares letter by letter.
var sqliteDriver = sync.OnceValue(func() *sqlite.Driver {
	d := &sqlite.Driver{}
	d.MustRegisterFunction("contains", &sqlite.FunctionImpl{
		NArgs: 2, Deterministic: true, VolatileArgs: true,
		Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
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
	raw, err := c.Driver().Open(c.address)
	if err != nil {
		return nil, err
	}
	conn, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqlite's connection, a %T, lacks a method", raw), raw.Close())
	}
	return &hotConn{sqliteConn: conn, watch: c.watch, settles: c.settles, most: c.most, hot: map[string]hotStmt{}}, nil
}

// sqliteConn is what database/sql looks for in a connection of the driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	sqlite.DBStatus
}

// hotStmt is a statement of the driver.
type hotStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// hotConn is a connection that keeps the hot statements prepared, below
// database/sql, which would lock, copy and watch at every step.
type hotConn struct {
	sqliteConn
	watch   *watch
	settles bool
	most    int
	hot     map[string]hotStmt
	args    []driver.NamedValue
	row     Row

	within  bool  // a transaction that begin has begun
	normal  bool  // its synchronous is NORMAL, not FULL
	changes int64 // SQLite's total_changes at the end of the last transaction
}

// Prepare, PrepareContext, BeginTx, ExecContext and QueryContext are the connection's own,
// watched. What commits by itself is on the disk when they return.
func (c *hotConn) Prepare(query string) (driver.Stmt, error) {
	if err := c.synchronous(false); err != nil {
		return nil, err
	}
	c.watch.see(query)
	return c.sqliteConn.Prepare(query)
}

func (c *hotConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.synchronous(false); err != nil {
		return nil, err
	}
	c.watch.see(query)
	return c.sqliteConn.PrepareContext(ctx, query)
}

func (c *hotConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.synchronous(false); err != nil {
		return nil, err
	}
	return c.sqliteConn.BeginTx(ctx, opts)
}

func (c *hotConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.synchronous(false); err != nil {
		return nil, err
	}
	c.watch.see(query)
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *hotConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.synchronous(false); err != nil {
		return nil, err
	}
	c.watch.see(query)
	return c.sqliteConn.QueryContext(ctx, query, args)
}

// synchronous sets that commits of a connection that settles are on the disk only later
// (normal), or at once. Within a transaction of begin it changes nothing.
func (c *hotConn) synchronous(normal bool) error {
	if !c.settles || c.within || c.normal == normal {
		return nil
	}
	text := "PRAGMA synchronous = FULL"
	if normal {
		text = "PRAGMA synchronous = NORMAL"
	}
	if _, err := c.sqliteConn.ExecContext(context.Background(), text, nil); err != nil {
		return err
	}
	c.normal = normal
	return nil
}

// IsValid reports whether the connection stays open after its work.
func (c *hotConn) IsValid() bool {
	if c.most > 0 {
		if pages, _, err := c.Status(sqlite.DBStatusCacheUsed, false); err != nil || pages > c.most {
			return false
		}
	}
	return c.sqliteConn.IsValid()
}

// Close finalizes the statements, without which the file would stay open.
func (c *hotConn) Close() error {
	var err error
	for _, stmt := range c.hot {
		err = errors.Join(err, stmt.Close())
	}
	clear(c.hot)
	return errors.Join(err, c.sqliteConn.Close())
}

// bind returns a statement, prepared, and its arguments.
func (c *hotConn) bind(query string, values []any) (_ hotStmt, _ []driver.NamedValue, err error) {
	stmt := c.hot[query]
	if stmt == nil {
		raw, err := c.Prepare(query)
		if err != nil {
			return nil, nil, err
		}
		stmt = raw.(hotStmt)
		c.hot[query] = stmt
	}
	c.args = c.args[:0]
	for i, value := range values {
		if value, err = plain(value); err != nil {
			return nil, nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return stmt, c.args, nil
}

// plain is a value as a driver takes it. The usual types need no reflection.
func plain(value any) (driver.Value, error) {
	switch v := value.(type) {
	case nil, int64, string, float64, []byte:
		return v, nil
	case int:
		return int64(v), nil
	case *int64:
		if v == nil {
			return nil, nil
		}
		return *v, nil
	case *string:
		if v == nil {
			return nil, nil
		}
		return *v, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(value)
}

// changeRows runs an INSERT or UPDATE once a row, prepared once: SQLite's parser takes
// longer over a statement of many rows than their writing does.
func (c *hotConn) changeRows(t *template, account int64, args []any, rows [][]any) (changed int64, err error) {
	query, err := t.rowQuery(account, args, rows[0])
	if err != nil {
		return 0, err
	}
	var values []any
	for _, row := range rows {
		values = t.bindRow(values[:0], account, args, row)
		n, err := c.change(query, values)
		if changed += n; err != nil {
			return 0, err
		}
	}
	return changed, nil
}

// rowQuery is the SQL of a run for one row.
func (t *template) rowQuery(account int64, args []any, row []any) (string, error) {
	if t.single == nil {
		first := slices.Clone(args)
		first[t.byRow] = [][]any{row}
		query, _, err := t.render(account, first)
		return query, err
	}
	w := writer{}
	for _, p := range t.single {
		w.sql.WriteString(p.sql)
		switch p.kind {
		case "account", "value":
			w.value(nil)
		case "cell":
			w.cell(p.types[0])
		}
	}
	return w.sql.String(), nil
}

// bindRow appends what one row of the argument byRow binds.
func (t *template) bindRow(values []any, account int64, args []any, row []any) []any {
	parts := t.parts
	if t.single != nil {
		parts = t.single
	}
	for _, p := range parts {
		switch p.kind {
		case "account":
			values = append(values, account)
		case "value":
			values = append(values, args[p.arg])
		case "rows":
			values = append(append(values, account), row...)
		case "values":
			values = append(values, row...)
		case "cell":
			values = append(values, row[p.arg])
		}
	}
	return values
}

// begin begins a transaction without database/sql, which would roll it back by itself when
// the caller's context ends, and let what runs below it run outside of any transaction.
func (c *hotConn) begin() error {
	if err := c.synchronous(true); err != nil {
		return err
	}
	c.within = true // before the statement is prepared
	_, err := c.exec("BEGIN IMMEDIATE")
	c.within = err == nil
	return err
}

// end commits the transaction, or rolls it back. A commit that fails is rolled back too.
// unsettled means that it has changed something that a power cut could undo.
func (c *hotConn) end(commit bool) (unsettled bool, err error) {
	defer func() { c.within = false }()
	if !commit {
		_, err := c.exec("ROLLBACK")
		return false, err
	}
	before := c.changes
	if err := c.each("SELECT total_changes()", nil, true, func(row Row) (bool, error) {
		c.changes, _ = row[0].(int64)
		return false, nil
	}); err != nil {
		_, _ = c.exec("ROLLBACK")
		return false, err
	}
	if _, err = c.exec("COMMIT"); err != nil {
		_, _ = c.exec("ROLLBACK") // fails where SQLite has rolled back by itself
		return false, err
	}
	return c.normal && c.changes != before, nil
}

// transact begins, does and commits.
func (c *hotConn) transact(do func(Run) error) (unsettled bool, err error) {
	if err := c.begin(); err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	ended := false
	defer func() {
		if !ended { // also after a panic
			_, _ = c.end(false)
		}
	}()
	if err := do(c.run); err != nil {
		return false, err
	}
	ended = true
	if unsettled, err = c.end(true); err != nil {
		return false, fmt.Errorf("commit: %w", err)
	}
	return unsettled, nil
}

func (c *hotConn) run(s *Hot, values ...any) (changed int64, err error) {
	query, values, err := s.Expand(context.Background(), values...)
	if err != nil {
		return 0, err
	}
	return c.change(query, values)
}

// change is exec that returns how many rows were changed.
func (c *hotConn) change(query string, values []any) (changed int64, err error) {
	result, err := c.exec(query, values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// exec takes no context: one that can end costs a goroutine a step, and these
// steps only wait for another process that writes, at most busy_timeout.
func (c *hotConn) exec(query string, values ...any) (driver.Result, error) {
	stmt, args, err := c.bind(query, values)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args)
}

// each hands out the rows of a query until more is false. The query stays prepared where
// keep is true.
func (c *hotConn) each(query string, values []any, keep bool, do func(row Row) (more bool, err error)) (err error) {
	stmt, args, err := c.bind(query, values)
	if err != nil {
		return err
	}
	if !keep {
		delete(c.hot, query)
		defer func() { err = errors.Join(err, stmt.Close()) }()
	}
	rows, err := stmt.QueryContext(context.Background(), args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	width := len(rows.Columns())
	if cap(c.row) < width {
		c.row = make(Row, width, 2*width)
	}
	row := c.row[:width]
	for {
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if more, err := do(row); err != nil || !more {
			return err
		}
	}
}

// version asks for the version of the SQLite file: the index of the log, or else always the
// same connection, as the numbers of two cannot be compared.
type version struct {
	mu     sync.RWMutex
	conn   *hotConn // which also keeps the index where it is
	index  *wal.Index
	opened int64 // how many connections there were
	closed bool
}

// Version returns a number that is another one after each commit to the SQLite file, by
// whichever process. What was read after it was asked for holds while it stays the same:
// asking costs a fraction of reading. ok is false on PostgreSQL, which has no such number.
func (db *DB) Version(ctx context.Context) (number int64, ok bool, err error) {
	if db.pool != nil {
		return 0, false, nil
	}
	v := &db.version
	if number, ok := v.byIndex(); ok {
		return number, true, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return 0, false, errors.New("version of the database: it is closed")
	}
	if v.conn == nil {
		conn, err := connector{address: sqliteDSN(db.sqlitePath(), spareCache, "_pragma=query_only(1)"), watch: &db.watch}.Connect(ctx)
		if err != nil {
			return 0, false, fmt.Errorf("version of the database: %w", err)
		}
		v.conn = conn.(*hotConn)
		v.opened++
	}
	err = v.conn.each("PRAGMA data_version", nil, true, func(row Row) (bool, error) {
		number, ok = row[0].(int64)
		number |= v.opened << 32
		return false, nil
	})
	if err != nil {
		return 0, false, errors.Join(fmt.Errorf("version of the database: %w", err), v.end())
	}
	if v.index == nil {
		v.index, _ = wal.OpenIndex(db.sqlitePath()) // without one, the connection goes on to tell
	}
	if v.index != nil { // so that the next call gets the same number
		if state, whole := v.index.State(); whole {
			return int64(state), true, nil
		}
	}
	return number, ok, nil
}

// byIndex asks the index, if it is open.
func (v *version) byIndex() (number int64, ok bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.index == nil {
		return 0, false
	}
	state, ok := v.index.State()
	return int64(state), ok
}

// end closes the index and the connection. It has the lock.
func (v *version) end() error {
	var err error
	if v.index != nil {
		err = v.index.Close()
		v.index = nil
	}
	if v.conn != nil {
		err = errors.Join(err, v.conn.Close())
		v.conn = nil
	}
	return err
}

func (v *version) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	return v.end()
}
