package store

import (
	"context"
	"database/sql"
	"errors"
	"syscall"

	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// CommitHook adds rows to a write, in its transaction, after everything else. ended is called
// once the transaction has ended; it may be nil.
type CommitHook func(ctx context.Context, tx *Tx) (ended func(committed bool), err error)

type hookKey struct{}

// WithCommitHook has every [DB.Write] under the context run hook, unless
// [Tx.Unchanged] was called. When the connection is lost in a commit that has a hook,
// the server is asked what came of it, so that the write's error can be trusted:
// apierr.ErrUnknown, or nothing was committed.
func WithCommitHook(ctx context.Context, hook CommitHook) context.Context {
	return context.WithValue(ctx, hookKey{}, hook)
}

// Unchanged says that the transaction has changed nothing.
func (tx *Tx) Unchanged() { tx.unchanged = true }

// runHook runs the hook of the context.
func (tx *Tx) runHook(ctx context.Context) (ended func(committed bool), err error) {
	hook, ok := ctx.Value(hookKey{}).(CommitHook)
	if !ok || hook == nil || tx.unchanged {
		return nil, nil
	}
	if ended, err = hook(ctx, tx); err != nil || tx.pgx == nil {
		return ended, err
	}
	err = Scan(tx.conn.QueryContext(ctx, "SELECT CAST(pg_current_xact_id() AS text)"))(func(rows *sql.Rows) error { return rows.Scan(&tx.number) })
	return ended, err
}

// Lost reports whether err means that a database server was lost or cannot be reached,
// and not that it refused.
func Lost(err error) bool { return postgres.Lost(err) }

// Unable reports whether err means that the database or a disk cannot work now: it was lost,
// has no room, or fails. What was asked of it is worth another try, however often.
func Unable(err error) bool {
	for _, fault := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return Lost(err) || postgres.Unable(err) || sqlite.Unable(err)
}
