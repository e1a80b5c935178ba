package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

const postgresURL = "SCROLLERY_TEST_POSTGRES_URL"

// withSQLite hands over an empty database in memory.
func withSQLite(do func(dialect.Driver) error) error {
	db, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(do(entsql.OpenDB(dialect.SQLite, db)), db.Close())
}

// withPostgres hands over an empty database on the scratch server.
func withPostgres(ctx context.Context, do func(dialect.Driver) error) (err error) {
	address := os.Getenv(postgresURL)
	if address == "" {
		return fmt.Errorf("postgres: set %s to a scratch server", postgresURL)
	}
	target, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%s is not an address", postgresURL)
	}
	server, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	name := fmt.Sprintf("scrollery_diff_%d", time.Now().UnixNano())
	if _, err := server.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer func() {
		_, dropErr := server.ExecContext(ctx, "DROP DATABASE "+name)
		err = errors.Join(err, dropErr)
	}()
	target.Path = "/" + name
	db, err := sql.Open("pgx", target.String())
	if err != nil {
		return err
	}
	return errors.Join(do(entsql.OpenDB(dialect.Postgres, db)), db.Close())
}
