package store

import (
	"context"
	"log/slog"

	"go.uber.org/fx"
)

// Module provides the open database, whose schema is checked at start and which is
// closed at the end, and the queue of the workers and periodics that the modules provide as groups. Whether
// this process works is for the app to say: it starts the queue, and stops it
// before the database is closed.
var Module = fx.Module("store", fx.Provide(provideDB, provideQueue))

// Opened is Module with a database that is open, and migrated.
func Opened(db *DB) fx.Option {
	return fx.Module("store", fx.Provide(func(lifecycle fx.Lifecycle) *DB {
		lifecycle.Append(fx.StopHook(db.Close))
		return db
	}, provideQueue))
}

func provideDB(lifecycle fx.Lifecycle, cfg Config, log *slog.Logger) (*DB, error) {
	db, err := Open(context.Background(), cfg, log)
	if err != nil {
		return nil, err
	}
	lifecycle.Append(fx.StartStopHook(db.RequireSchema, db.Close))
	return db, nil
}

type queueParams struct {
	fx.In
	DB        *DB
	Workers   []Worker   `group:"workers"`
	Periodics []Periodic `group:"periodics"`
	Log       *slog.Logger
}

func provideQueue(p queueParams) (*Queue, error) {
	return NewQueue(p.DB, p.Workers, p.Periodics, p.Log)
}
