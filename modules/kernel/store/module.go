package store

import (
	"context"
	"log/slog"

	"go.uber.org/fx"
)

// Module provides the open database, whose schema is checked at start and which is
// closed at the end.
var Module = fx.Module("store", fx.Provide(provideDB))

// Opened is Module with a database that is open, and migrated.
func Opened(db *DB) fx.Option {
	return fx.Module("store", fx.Provide(func(lifecycle fx.Lifecycle) *DB {
		lifecycle.Append(fx.StopHook(db.Close))
		return db
	}))
}

func provideDB(lifecycle fx.Lifecycle, cfg Config, log *slog.Logger) (*DB, error) {
	db, err := Open(context.Background(), cfg, log)
	if err != nil {
		return nil, err
	}
	lifecycle.Append(fx.StartStopHook(db.RequireSchema, db.Close))
	return db, nil
}
