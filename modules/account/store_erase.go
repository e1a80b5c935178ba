package account

import (
	"context"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	entaccount "github.com/scrollery/scrollery/ent/account"
	"github.com/scrollery/scrollery/ent/auditentry"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// newest returns the newest step of the deletion of the viewer's account.
func newest(ctx context.Context, client *ent.Client) (step, error) {
	row, err := client.AuditEntry.Query().Where(auditentry.ActionIn(asked, mailed, confirmed, calledOff)).
		Order(auditentry.ByID(sql.OrderDesc())).First(ctx)
	if ent.IsNotFound(err) {
		return step{}, nil
	}
	if err != nil {
		return step{}, fmt.Errorf("load the state of a deletion: %w", err)
	}
	return step{action: row.Action, subject: row.Subject, at: time.UnixMilli(row.CreatedAt)}, nil
}

// The tables that are not deleted by their index of the account, or not in any order.
const (
	keysTable, videosTable, docsTable, eventsTable, auditTable = "keys", "videos", "video_docs", "usage_events", "audit_entries"
	scrollsTable, feedsTable                                   = "scrolls", "feeds"
)

// byHand are the tables that the migrations make without Ent, with the column by which
// they are deleted. The words of videos go with their documents.
var byHand = [][2]string{{"changes", "seq"}, {"unindexed_libraries", "platform"}}

// eraseRows deletes the rows of the viewer's account, the keys first, so that no call can
// add any, then the scrolls, so that no worker can. The entries of the audit stay.
func (e *Eraser) eraseRows(ctx context.Context, account int64) (deleted int64, err error) {
	tables := append([][2]string{{keysTable, "id"}, {scrollsTable, "id"}}, byHand...)
	for _, table := range ent.OwnedTables() {
		if !slices.Contains([]string{keysTable, scrollsTable, feedsTable, videosTable, docsTable, eventsTable, auditTable}, table) {
			tables = append(tables, [2]string{table, "id"})
		}
	}
	for _, table := range tables {
		statement := e.deleteSome(table[0], table[1])
		n, err := e.batches(ctx, func(ctx context.Context, tx *store.Tx) (int64, error) {
			tx.Notify(account) // its keys are kept in memory
			return statement.ExecIn(ctx, tx)
		})
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete from %s: %w", table[0], err)
		}
	}
	for _, erase := range []func(context.Context, int64) (int64, error){e.eraseFeed, e.eraseVideos, e.eraseByDays} {
		n, err := erase(ctx, account)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// deleteSome deletes some rows of the tenant from a table.
func (e *Eraser) deleteSome(table, column string) *store.Hot {
	return e.db.Hot(fmt.Sprintf("DELETE FROM %[1]s WHERE {tenant} AND %[2]s IN (SELECT %[2]s FROM %[1]s WHERE {tenant} LIMIT %[3]d)", table, column, e.batch))
}

// batches deletes in transactions, until one has nothing to delete.
func (e *Eraser) batches(ctx context.Context, do func(ctx context.Context, tx *store.Tx) (int64, error)) (deleted int64, err error) {
	for {
		var n int64
		err := e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			n, err = do(ctx, tx)
			return err
		})
		if deleted += n; err != nil || n == 0 {
			return deleted, err
		}
	}
}

// eraseFeed deletes what was written to the feed since its changes were deleted, with the row of its
// numbers: a writer would begin again at 1, and meet the changes that are left.
func (e *Eraser) eraseFeed(ctx context.Context, _ int64) (deleted int64, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		deleted = 0
		for _, text := range []string{`DELETE FROM feeds WHERE {tenant}`, `DELETE FROM changes WHERE {tenant}`} {
			n, err := e.db.Hot(text).ExecIn(ctx, tx)
			if deleted += n; err != nil {
				return fmt.Errorf("delete the feed: %w", err)
			}
		}
		return nil
	})
	return deleted, err
}

// eraseVideos deletes videos with their documents, which have no index by account; those
// without a video are left to eraseByDays.
func (e *Eraser) eraseVideos(ctx context.Context, _ int64) (int64, error) {
	deleted, err := e.batches(ctx, func(ctx context.Context, tx *store.Tx) (int64, error) {
		ids, err := tx.Ent().Video.Query().Limit(e.batch).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return 0, err
		}
		for _, table := range []string{docsTable, videosTable} {
			if _, err := e.db.Hot("DELETE FROM "+table+" WHERE +{tenant} AND id IN ({list:1})").ExecIn(ctx, tx, ids); err != nil {
				return 0, err
			}
		}
		return int64(len(ids)), nil
	})
	if err != nil {
		return deleted, fmt.Errorf("delete videos: %w", err)
	}
	return deleted, nil
}

// eraseByDays deletes the rows that have no index by account, a day of ids at a time: ids
// follow time, and no row of an account is older than it.
func (e *Eraser) eraseByDays(ctx context.Context, account int64) (deleted int64, err error) {
	const day = 24 * time.Hour
	for _, table := range []string{eventsTable, docsTable} {
		statement := e.db.Hot("DELETE FROM " + table + " WHERE {tenant} AND id >= $1 AND id < $2")
		for at := publicid.Time(account).Add(-day); at.Before(e.now().Add(day)); at = at.Add(day) {
			from, to := publicid.First(at), publicid.First(at.Add(day))
			var n int64
			err := e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				n, err = statement.ExecIn(ctx, tx, from, to)
				return err
			})
			if deleted += n; err != nil {
				return deleted, fmt.Errorf("delete from %s: %w", table, err)
			}
		}
	}
	return deleted, nil
}

// eraseLast deletes the audit and the account itself: all but the newest entries in
// batches, then these with the account, so that until then it is known what is to be done.
func (e *Eraser) eraseLast(ctx context.Context, account int64) error {
	if err := e.eraseAudit(ctx); err != nil {
		return err
	}
	return e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.Ent().AuditEntry.Delete().Exec(ctx); err != nil {
			return fmt.Errorf("delete the audit: %w", err)
		}
		if _, err := tx.Ent().Account.Delete().Where(entaccount.ID(account)).Exec(ctx); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: restKind, Args: order{Account: account}, RunAt: e.now().Add(restAfter)})
	})
}

// exists reports whether there is an account.
func exists(ctx context.Context, client *ent.Client, account int64) (bool, error) {
	return client.Account.Query().Where(entaccount.ID(account)).Exist(ctx)
}

// eraseAudit deletes the entries of the audit but the confirmation of the deletion.
func (e *Eraser) eraseAudit(ctx context.Context) error {
	_, err := e.batches(ctx, func(ctx context.Context, tx *store.Tx) (int64, error) {
		ids, err := tx.Ent().AuditEntry.Query().Where(auditentry.ActionNEQ(confirmed)).Limit(e.batch).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return 0, err
		}
		n, err := tx.Ent().AuditEntry.Delete().Where(auditentry.IDIn(ids...)).Exec(ctx)
		return int64(n), err
	})
	if err != nil {
		return fmt.Errorf("delete the audit: %w", err)
	}
	return nil
}
