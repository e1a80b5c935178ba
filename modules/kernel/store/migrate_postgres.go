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
func (db migration) postgres(ctx context.Context) error {
	pool, err := db.pg.Rebuilder(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := db.await(ctx, func() (bool, error) { return postgres.TrySchemaLock(ctx, pool) },
		func() string { return postgres.SchemaHolder(ctx, pool) }); err != nil {
		return err
	}
	if err := db.newer(ctx); err != nil {
		return err
	}
	conn := stdlib.OpenDBFromPool(pool)
	defer conn.Close() //nolint:errcheck // it holds nothing of its own
	if _, err := up(ctx, Postgres, goose.DialectPostgres, conn); err != nil {
		return err
	}
	queue, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if _, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if _, err := pool.Exec(ctx, postgres.NodeTable); err != nil {
		return fmt.Errorf("make the table of node numbers: %w", err)
	}
	return nil
}
