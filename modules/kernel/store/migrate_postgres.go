package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
)

// postgres does everything on one connection, which holds the lock.
func (db migration) postgres(ctx context.Context) (changed bool, err error) {
	pool, err := db.pg.Rebuilder(ctx)
	if err != nil {
		return false, err
	}
	defer pool.Close()
	if err := db.await(ctx, func() (bool, error) { return postgres.TrySchemaLock(ctx, pool) },
		func() string { return postgres.SchemaHolder(ctx, pool) }); err != nil {
		return false, err
	}
	if err := db.newer(ctx); err != nil {
		return false, err
	}
	conn := stdlib.OpenDBFromPool(pool)
	defer conn.Close() //nolint:errcheck // it holds nothing of its own
	applied, err := up(ctx, Postgres, goose.DialectPostgres, conn)
	if err != nil {
		return false, err
	}
	queue, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return false, fmt.Errorf("queue: %w", err)
	}
	queued, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil)
	if err != nil {
		return false, fmt.Errorf("queue: %w", err)
	}
	return applied+len(queued.Versions) > 0, nil
}
