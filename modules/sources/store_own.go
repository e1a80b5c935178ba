package sources

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/accountsource"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	// maxOwn bounds the sources of an account: a server has fewer.
	maxOwn = 200
	// resealedAtOnce is how many rows are read at once; each is a transaction.
	resealedAtOnce = 100
)

// ownRows stores what accounts set.
type ownRows struct{ db *store.DB }

func ownOf(row *ent.AccountSource) (Own, error) {
	own := Own{Source: row.Source, UpdatedAt: row.UpdatedAt, account: row.AccountID, sealed: row.Secrets}
	if err := json.Unmarshal([]byte(row.Hints), &own.Hints); err != nil {
		return own, fmt.Errorf("hints: %w", err)
	}
	if err := json.Unmarshal([]byte(row.Settings), &own.Settings); err != nil {
		return own, fmt.Errorf("settings: %w", err)
	}
	return own, nil
}

// list returns what the tenant set, by id of the source.
func (o ownRows) list(ctx context.Context) (all []Own, err error) {
	rows, err := o.db.Ent().AccountSource.Query().Order(accountsource.BySource()).Limit(maxOwn).All(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		own, err := ownOf(row)
		if err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	return all, nil
}

// change has do change what the tenant set for a source, alone, and writes it if do says so, with
// an entry of the audit unless action is empty. do gets an empty one if there is none.
func (o ownRows) change(ctx context.Context, source, action string, do func(own *Own) (write bool, err error)) error {
	account, _, _ := viewer.Tenant(ctx)
	return o.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "sources", account); err != nil {
			return err
		}
		row, err := tx.Ent().AccountSource.Query().Where(accountsource.Source(source)).Only(ctx)
		own := Own{Source: source, account: account, Hints: map[string]string{}, Settings: map[string]string{}}
		switch {
		case ent.IsNotFound(err):
		case err != nil:
			return err
		default:
			if own, err = ownOf(row); err != nil {
				return err
			}
		}
		write, err := do(&own)
		if err != nil || !write {
			return err
		}
		hints, err := json.Marshal(own.Hints)
		if err != nil {
			return err
		}
		settings, err := json.Marshal(own.Settings)
		if err != nil {
			return err
		}
		if action != "" {
			if err := audit.Write(ctx, tx, o.db.NewID(), audit.Entry{AccountID: account, Action: action, Subject: source}); err != nil {
				return err
			}
		}
		if row == nil {
			return tx.Ent().AccountSource.Create().SetID(o.db.NewID()).SetAccountID(account).SetSource(source).SetSecrets(own.sealed).
				SetHints(string(hints)).SetSettings(string(settings)).SetCreatedAt(own.UpdatedAt).SetUpdatedAt(own.UpdatedAt).Exec(ctx)
		}
		return tx.Ent().AccountSource.Update().Where(accountsource.Source(source)).SetSecrets(own.sealed).
			SetHints(string(hints)).SetSettings(string(settings)).SetUpdatedAt(own.UpdatedAt).Exec(ctx)
	})
}

// remove deletes what the tenant set for a source.
func (o ownRows) remove(ctx context.Context, source string) (found bool, err error) {
	err = o.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().AccountSource.Delete().Where(accountsource.Source(source)).Exec(ctx)
		if found = n > 0; err != nil || !found {
			return err
		}
		account, _, _ := viewer.Tenant(ctx)
		return audit.Write(ctx, tx, o.db.NewID(), audit.Entry{AccountID: account, Action: "source.remove", Subject: source})
	})
	return found, err
}

// Reseal seals with the server's newest key the secrets that older ones sealed, of all tenants,
// and returns how many sources of accounts that were. It can be stopped at any time. Secrets that
// are set meanwhile stay as they are.
func (a *Accounts) Reseal(ctx context.Context) (resealed int, err error) {
	ctx = viewer.System(ctx)
	sealer, err := a.sealer()
	if err != nil {
		return 0, err
	}
	for after := int64(0); ; {
		rows, err := a.rows.db.Ent().AccountSource.Query().Where(accountsource.IDGT(after)).Order(ent.Asc(accountsource.FieldID)).Limit(resealedAtOnce).All(ctx)
		if err != nil {
			return resealed, fmt.Errorf("read own sources: %w", err)
		}
		if len(rows) == 0 {
			return resealed, nil
		}
		for _, row := range rows {
			after = row.ID
			if !sealer.IsOld(row.Secrets) {
				continue
			}
			again, err := sealer.Reseal(row.Secrets, place(row.AccountID, row.Source))
			if err == nil {
				err = a.rows.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return tx.Ent().AccountSource.Update().Where(accountsource.ID(row.ID), accountsource.Secrets(row.Secrets)).SetSecrets(again).Exec(ctx)
				})
			}
			if err != nil {
				return resealed, fmt.Errorf("seal the secrets of %s of an account again: %w", row.Source, err)
			}
			resealed++
		}
	}
}
