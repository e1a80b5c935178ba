package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/plugins/stage"
)

// operatorQuotas implements the host's need of quotas for what the operator asks of sites: checks and
// tries. In the ledger it counts as that of one account more. Without a ledger it grants all, but for
// money: up to the allowance of a day.
type operatorQuotas struct {
	// open returns the ledger, nil where there is none; it is called once, when a plugin first asks.
	open    func(context.Context) host.Quotas
	opening sync.Once
	ledger  host.Quotas

	mu    sync.Mutex
	spent int64 // of money
}

func (q *operatorQuotas) Spend(ctx context.Context, plugin string, a stage.Allowance, units int64, item string) (granted bool, retryAt time.Time, err error) {
	q.opening.Do(func() { q.ledger = q.open(ctx) })
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ledger != nil {
		granted, retryAt, err = q.ledger.Spend(viewer.System(ctx), plugin, a, units, item)
	} else {
		granted = !a.Money || q.spent+units <= a.Limit
	}
	if granted && a.Money {
		q.spent += units
	}
	return granted, retryAt, err
}

func (q *operatorQuotas) GiveBack(ctx context.Context, plugin string, a stage.Allowance, units int64, since time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spent -= units
	if q.ledger == nil {
		return nil
	}
	return q.ledger.GiveBack(viewer.System(ctx), plugin, a, units, since)
}

// commandQuotas are those of a command that asks sites beside the server, until done. A database that is
// not there yet, or cannot be used, keeps no command from asking: then its requests are not counted, and
// the log says so.
func commandQuotas(cfg Config, log *slog.Logger) (q *operatorQuotas, done func() error) {
	var db *store.DB
	open := func(ctx context.Context) (_ host.Quotas, err error) {
		if !cfg.hasDatabase() {
			return nil, nil
		}
		if db, err = openBeside(ctx, cfg); err != nil {
			return nil, err
		}
		ledger, err := quota.New(db)
		return siteQuotas{ledger}, err
	}
	q = &operatorQuotas{open: func(ctx context.Context) host.Quotas {
		ledger, err := open(ctx)
		if err != nil {
			log.WarnContext(ctx, "what this asks of sites is not counted: the database cannot be used", "error", err)
			return nil
		}
		return ledger
	}}
	return q, func() error {
		if db == nil {
			return nil
		}
		return db.Close()
	}
}

// openBeside opens a database whose tables are of this version.
func openBeside(ctx context.Context, cfg Config) (*store.DB, error) {
	opening, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTimeout)
	defer cancel()
	db, err := store.Open(opening, cfg.store(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	schema, err := db.SchemaVersion(opening)
	if err = errors.Join(err, schema.Err()); err == nil && schema.Current == 0 {
		err = errors.New("it has no tables yet")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// hasDatabase reports whether a server has made the database of SQLite; another one is made by people.
func (c *Config) hasDatabase() bool {
	if c.DatabaseURL != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(c.DataDir, "scrollery.db"))
	return !errors.Is(err, fs.ErrNotExist)
}
