package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

// nodeClass is the first half of the advisory locks that hold node numbers.
const nodeClass = 0x5c0118

// nodeTable holds the marks. It is no numbered migration, as a number is leased
// before the schema is migrated.
const nodeTable = `CREATE TABLE IF NOT EXISTS node_numbers (number INTEGER PRIMARY KEY, used_until BIGINT NOT NULL)`

// postgresNodes holds a number by an advisory lock of the connection outside of the pool.
type postgresNodes struct {
	direct *direct.Conn
	mu     sync.Mutex
	conn   *pgx.Conn // that holds the lock
	node   int
	until  int64 // 0 while the table of marks is not made
}

func (p *postgresNodes) lease(ctx context.Context, now int64) (grant publicid.Grant, err error) {
	err = p.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if p.node, err = p.lock(ctx, conn, now); err != nil {
			return err
		}
		if grant, err = p.first(ctx, conn, now); err != nil {
			return errors.Join(err, p.unlock(ctx, conn))
		}
		p.conn = conn
		return nil
	})
	return grant, err
}

// lock takes the first free number.
func (p *postgresNodes) lock(ctx context.Context, conn *pgx.Conn, now int64) (int, error) {
	var marked bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('node_numbers') IS NOT NULL").Scan(&marked); err != nil {
		return 0, err
	}
	order, args := "n DESC", []any{nodeClass, publicid.MaxNode}
	if marked {
		order = "coalesce((SELECT used_until FROM node_numbers WHERE number = n), 0) > $3, n DESC"
		args = append(args, now)
	}
	rows, err := conn.Query(ctx, `SELECT n FROM generate_series(0, $2::int) AS n WHERE NOT EXISTS (
		SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objid::bigint = n AND objsubid = 2
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) ORDER BY `+order, args...)
	if err != nil {
		return 0, err
	}
	free, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return 0, err
	}
	for _, node := range free {
		var held bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, $2)", nodeClass, node).Scan(&held); err != nil || held {
			return node, err
		}
	}
	return 0, errAllHeld
}

func (p *postgresNodes) unlock(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT pg_advisory_unlock($1, $2)", nodeClass, p.node)
	return err
}

// first marks the number that was locked. Without the table there is nothing yet
// that an id could be written to, and no bound.
func (p *postgresNodes) first(ctx context.Context, conn *pgx.Conn, now int64) (publicid.Grant, error) {
	grant := publicid.Grant{Node: p.node}
	err := conn.QueryRow(ctx, "SELECT used_until FROM node_numbers WHERE number = $1", p.node).Scan(&grant.After)
	var fault *pgconn.PgError
	if errors.As(err, &fault) && fault.Code == "42P01" { // undefined_table
		return grant, nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return grant, err
	}
	grant.Until = max(grant.After, now) + nodeStep.Milliseconds()
	_, err = conn.Exec(ctx, "INSERT INTO node_numbers VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET used_until = EXCLUDED.used_until", p.node, grant.Until)
	p.until = grant.Until
	return grant, err
}

func (p *postgresNodes) renew(ctx context.Context, at int64) (publicid.Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, renewed := at+nodeStep.Milliseconds(), false
	err := p.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if conn != p.conn {
			return nil // the lock is lost with its connection
		}
		tag, err := conn.Exec(ctx, "UPDATE node_numbers SET used_until = $2 WHERE number = $1 AND used_until = $3", p.node, until, p.until)
		if err != nil {
			return err
		}
		if renewed = tag.RowsAffected() == 1; !renewed {
			return p.unlock(ctx, conn) // another process leases the number
		}
		p.until = until
		return nil
	})
	if renewed {
		return publicid.Grant{Node: p.node, Until: until}, nil
	}
	if ctx.Err() != nil {
		return publicid.Grant{}, errors.Join(err, ctx.Err())
	}
	return p.lease(ctx, at) // where the statement failed, too: its connection may be lost
}

func (p *postgresNodes) close(last int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), nodeWait)
	defer cancel()
	// Where it fails the mark stays higher than it need be.
	_ = p.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if conn != p.conn {
			return nil
		}
		if p.until > 0 && last > 0 {
			if _, err := conn.Exec(ctx, "UPDATE node_numbers SET used_until = $2 WHERE number = $1 AND used_until = $3", p.node, last, p.until); err != nil {
				return err
			}
		}
		return p.unlock(ctx, conn)
	})
	p.conn = nil
	return nil
}

// startNode marks the number of a process that was opened before the table of marks
// was made.
func (db *DB) startNode(ctx context.Context) error {
	p := db.nodes.(*postgresNodes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until > 0 {
		return nil
	}
	return db.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if p.conn != conn {
			return errors.New("mark the node number: the connection that held it is lost")
		}
		grant, err := p.first(ctx, conn, max(db.now().UnixMilli(), db.ids.Last()))
		if err != nil {
			return fmt.Errorf("mark the node number: %w", err)
		}
		db.ids.Take(grant)
		return nil
	})
}
