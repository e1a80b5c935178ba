package postgres

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

// Nodes leases a number by the row of its mark: a process that raises the mark from the
// value that it knows holds the number up to the new one. A process whose mark has passed
// may lose its number to another one, and sees that by the mark when it makes the next id.
type Nodes struct {
	// direct, since ids are made within transactions, which may have the whole pool.
	direct *direct.Conn
	mu     sync.Mutex
	node   int
	until  int64 // 0 without a mark
}

// NewNodes returns the numbers of a server.
func NewNodes(conn *direct.Conn) *Nodes { return &Nodes{direct: conn} }

// Lease takes any number whose mark has passed, or the one whose mark passes first. Without
// the table of marks its grant is over at once: there is nothing yet that an id could be
// written to, and the first id asks for another one.
func (p *Nodes) Lease(ctx context.Context, now int64) (publicid.Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lease(ctx, now)
}

func (p *Nodes) lease(ctx context.Context, now int64) (grant publicid.Grant, err error) {
	for held := false; !held; {
		err = p.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			err = conn.QueryRow(ctx, `SELECT n, coalesce(used_until, 0) FROM generate_series(0, $1::int) AS n LEFT JOIN node_numbers ON number = n
				ORDER BY greatest(coalesce(used_until, 0) - $2::bigint, 0), random() LIMIT 1`, publicid.MaxNode, now).Scan(&grant.Node, &grant.After)
			if err != nil {
				return err
			}
			grant.Until = max(grant.After, now) + publicid.MarkStep.Milliseconds()
			tag, err := conn.Exec(ctx, `INSERT INTO node_numbers VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET used_until = EXCLUDED.used_until
				WHERE node_numbers.used_until = $3`, grant.Node, grant.Until, grant.After)
			held = tag.RowsAffected() == 1 // else another process was faster
			return err
		})
		var fault *pgconn.PgError
		if errors.As(err, &fault) && fault.Code == "42P01" { // undefined_table
			return publicid.Grant{Until: 1}, nil
		}
		if err != nil {
			return grant, err
		}
	}
	p.node, p.until = grant.Node, grant.Until
	return grant, nil
}

// Renew raises the mark beyond the millisecond at, or leases another number if this one is
// lost.
func (p *Nodes) Renew(ctx context.Context, at int64) (publicid.Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := at + publicid.MarkStep.Milliseconds()
	renewed, err := p.raise(ctx, until)
	if err != nil {
		return publicid.Grant{}, err
	}
	if renewed {
		p.until = until
		return publicid.Grant{Node: p.node, Until: until}, nil
	}
	grant, err := p.lease(ctx, at)
	if err == nil && p.until == 0 {
		err = errors.New("the table of the marks of node numbers is missing: run `scrollery migrate`")
	}
	return grant, err
}

// raise sets the mark, if it is the one that this process has set last.
func (p *Nodes) raise(ctx context.Context, until int64) (raised bool, err error) {
	if p.until == 0 {
		return false, nil
	}
	err = p.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, "UPDATE node_numbers SET used_until = $2 WHERE number = $1 AND used_until = $3", p.node, until, p.until)
		raised = tag.RowsAffected() == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("raise the mark of a node number: %w", err)
	}
	return raised, nil
}

// Close lowers the mark to the last millisecond used and so frees the number.
func (p *Nodes) Close(last int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), unlockWait)
	defer cancel()
	if last > 0 {
		_, _ = p.raise(ctx, last) // if it fails, the mark stays higher than it need be
	}
	p.until = 0
	return nil
}
