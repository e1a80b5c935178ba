package removals

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/account"
	"github.com/scrollery/scrollery/ent/removalfile"
	"github.com/scrollery/scrollery/ent/removalline"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	// atOnce is how many lines one transaction writes or has done.
	atOnce = 500
	// readAtOnce is how many rows a statement reads.
	readAtOnce = 1000

	ofAll = "the log of removals is of all tenants"
)

// Note adds lines to the transaction. The file has them once it is committed and [Log.Flush] was
// called, or housekeeping ran.
func Note(ctx context.Context, tx *store.Tx, lines ...Line) error {
	for len(lines) > 0 {
		part := lines[:min(len(lines), atOnce)]
		lines = lines[len(part):]
		rows := make([]*ent.RemovalLineCreate, len(part))
		for i, line := range part {
			rows[i] = tx.Ent().RemovalLine.Create().SetID(tx.NewID()).SetLine(line.String())
		}
		if err := tx.Ent().RemovalLine.CreateBulk(rows...).Exec(ctx); err != nil {
			return fmt.Errorf("note a removal: %w", err)
		}
	}
	return nil
}

// waiting are the oldest lines that no file has.
func (l *Log) waiting(ctx context.Context) ([]*ent.RemovalLine, error) {
	rows, err := l.db.Ent().RemovalLine.Query().Order(removalline.ByID()).Limit(atOnce).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what the log of removals lacks: %w", err)
	}
	return rows, nil
}

// write has the file all that waits. The caller holds the lock.
func (l *Log) write(ctx context.Context) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	f, err := l.open(ctx, key)
	if err != nil {
		return err
	}
	return l.writeTo(ctx, &f)
}

func (l *Log) writeTo(ctx context.Context, f *file) error {
	for {
		rows, err := l.waiting(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		before, ids, lines := f.size, make([]int64, len(rows)), make([]string, len(rows))
		for i, row := range rows {
			ids[i], lines[i] = row.ID, row.Line
		}
		if err := f.add(lines); err != nil {
			return fmt.Errorf("append to %s: %w", f.path, err)
		}
		err = l.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Ent().RemovalLine.Delete().Where(removalline.IDIn(ids...)).Exec(ctx); err != nil {
				return err
			}
			// A database that does not know what is before them does not know them by the position.
			return tx.Ent().RemovalFile.Update().Where(removalfile.Name(f.name), removalfile.Position(before)).SetPosition(f.size).Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("note what the log of removals has: %w", err)
		}
	}
}

// known is how much of a file the database knows; -1 for none.
func (l *Log) known(ctx context.Context, name string) (int64, error) {
	row, err := l.db.Ent().RemovalFile.Query().Where(removalfile.Name(name)).Only(ctx)
	if ent.IsNotFound(err) {
		return -1, nil
	}
	if err != nil {
		return -1, fmt.Errorf("read what is known of the log of removals: %w", err)
	}
	return row.Position, nil
}

// learn notes that the database knows all of a file, which took the place of another one; empty
// for none.
func (l *Log) learn(ctx context.Context, f file, instead string) error {
	err := l.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.Ent().RemovalFile.Delete().Where(removalfile.NameIn(f.name, instead)).Exec(ctx); err != nil {
			return err
		}
		return tx.Ent().RemovalFile.Create().SetID(l.db.NewID()).SetName(f.name).SetPosition(f.size).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("note what is known of the log of removals: %w", err)
	}
	return nil
}

// any reports whether the database has something that the log is to have.
func (l *Log) any(ctx context.Context) (found bool, err error) {
	for _, text := range []string{`SELECT 1 FROM removal_lines LIMIT 1`, `SELECT 1 FROM tombstones LIMIT 1`, `SELECT 1 FROM suppressions LIMIT 1`} {
		_, found, err := store.One[int64](ctx, l.db.HotTenantless(text, ofAll))
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// seed hands over all that the database knows and can still say.
func (l *Log) seed(ctx context.Context, key *secret.Hasher, add func(Line) error) error {
	tombstones := l.db.HotTenantless(`SELECT t.{owner} AS account, t.hash, t.deletion_id, t.created_at FROM tombstones t
WHERE (t.{owner}, t.hash) > ($1, $2) ORDER BY t.{owner}, t.hash LIMIT 1000`, ofAll)
	account, after, said := int64(0), "", map[int64]bool{}
	for more := true; more; {
		rows, err := store.Query[struct {
			Account               int64
			Hash                  string
			DeletionID, CreatedAt int64
		}](ctx, tombstones, account, after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			account, after = row.Account, row.Hash
			line := Bury(key, account, row.DeletionID, row.Hash, row.CreatedAt)
			if !said[line.id] {
				said[line.id] = true
				if err := l.seedDeletion(viewer.As(ctx, account), line, add); err != nil {
					return err
				}
			}
			if err := add(line); err != nil {
				return err
			}
		}
		more = len(rows) == readAtOnce
	}
	suppressions := l.db.HotTenantless(`SELECT hash, erasure_id, created_at FROM suppressions WHERE hash > $1 ORDER BY hash LIMIT 1000`, ofAll)
	after = ""
	for more := true; more; {
		rows, err := store.Query[struct {
			Hash                 string
			ErasureID, CreatedAt int64
		}](ctx, suppressions, after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.Hash
			if err := add(Suppress(row.ErasureID, row.Hash, row.CreatedAt)); err != nil {
				return err
			}
		}
		more = len(rows) == readAtOnce
	}
	return nil
}

// seedDeletion says of what deletion a tombstone is.
func (l *Log) seedDeletion(ctx context.Context, of Line, add func(Line) error) error {
	row, err := l.db.Ent().Deletion.Get(ctx, of.id)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return add(Line{deletionKind, of.of, row.ID, row.What, row.CreatedAt})
}

// open returns the file that lines are appended to. One that is not there, or is older than what
// the database knows of it, is made of what the database has.
func (l *Log) open(ctx context.Context, key *secret.Hasher) (f file, err error) {
	path := l.path(current)
	f, found, err := look(path, key)
	if err != nil {
		return f, err
	}
	if found {
		known, err := l.known(ctx, f.name)
		if err != nil || known <= f.size {
			return f, err
		}
		if err := l.setAside(path); err != nil {
			return f, err
		}
	}
	old := f.name
	f, err = create(path, key, func(add func(Line) error) error { return l.seed(ctx, key, add) })
	if err != nil {
		return f, fmt.Errorf("make %s: %w", path, err)
	}
	return f, l.learn(ctx, f, old)
}

// accounts are those that there are, by their hashes.
func (l *Log) accounts(ctx context.Context, key *secret.Hasher) (map[string]int64, error) {
	all := map[string]int64{}
	for after := int64(0); ; {
		ids, err := l.db.Ent().Account.Query().Where(account.IDGT(after)).Order(account.ByID()).Limit(readAtOnce).IDs(ctx)
		if err != nil {
			return nil, fmt.Errorf("list accounts: %w", err)
		}
		if len(ids) == 0 {
			return all, nil
		}
		for _, id := range ids {
			all[hashOf(key, id)], after = id, id
		}
	}
}
