package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/ent/workspace"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const benchQuery = "SELECT id, competitors FROM workspaces WHERE account_id = $1"

// BenchmarkRead compares a hot statement and Ent with a bare prepared statement on a
// connection of its own: what the pool, the tenant and the mapping cost.
func BenchmarkRead(b *testing.B) {
	cfg := storetest.SQLiteConfig(b)
	db := storetest.Open(b, cfg)
	ctx := viewer.As(b.Context(), 7)
	for account := range int64(1000) {
		as := viewer.As(ctx, account+1)
		if err := db.Ent().Workspace.Create().SetID(db.NewID()).SetAccountID(account + 1).SetCompetitors("[]").SetCreatedAt(1).SetUpdatedAt(1).Exec(as); err != nil {
			b.Fatal(err)
		}
	}
	consume := func(rows *sql.Rows, err error) {
		if err != nil {
			b.Fatal(err)
		}
		var id int64
		var text sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&id, &text); err != nil {
				b.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil || id == 0 {
			b.Fatalf("no row %v, want no error and id not 0", err)
		}
	}
	b.Run("floor", func(b *testing.B) {
		raw, err := sql.Open("sqlite", "file:"+filepath.Join(cfg.DataDir, "scrollery.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer raw.Close()
		raw.SetMaxOpenConns(1)
		stmt, err := raw.Prepare(benchQuery)
		if err != nil {
			b.Fatal(err)
		}
		defer stmt.Close()
		b.ReportAllocs()
		for b.Loop() {
			consume(stmt.QueryContext(ctx, int64(7)))
		}
	})
	b.Run("hot statement", func(b *testing.B) {
		stmt := db.Hot("SELECT id, competitors FROM workspaces WHERE {tenant}")
		b.ReportAllocs()
		for b.Loop() {
			consume(stmt.Query(ctx))
		}
	})
	b.Run("ent", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := db.Ent().Workspace.Query().Where(workspace.AccountID(7)).Only(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWrite measures durable transactions of one row from many callers: each
// on its own through one connection or a shared pool, and a hundred rows at a time.
func BenchmarkWrite(b *testing.B) {
	const insert = "INSERT INTO usage_events (id, op, status, cost_cents, ts) VALUES ($1, 'getHooks', 'ok', 0, 1)"
	b.Run("one by one", func(b *testing.B) {
		db := storetest.SQLite(b)
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				err := db.Write(b.Context(), func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.Exec(ctx, insert, db.NewID())
					return err
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
		perSecond(b, 1)
	})
	b.Run("shared pool", func(b *testing.B) {
		cfg := storetest.SQLiteConfig(b)
		db := storetest.Open(b, cfg)
		raw, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)",
			filepath.Join(cfg.DataDir, "scrollery.db")))
		if err != nil {
			b.Fatal(err)
		}
		defer raw.Close()
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				tx, err := raw.Begin()
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := tx.Exec(insert, db.NewID()); err != nil {
					b.Error(err)
				}
				if err := tx.Commit(); err != nil {
					b.Error(err)
				}
			}
		})
		perSecond(b, 1)
	})
	b.Run("a hundred at a time", func(b *testing.B) {
		db := storetest.SQLite(b)
		for b.Loop() {
			err := db.Write(b.Context(), func(ctx context.Context, tx *store.Tx) error {
				for range 100 {
					if _, err := tx.Exec(ctx, insert, db.NewID()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b, 100)
	})
}

func perSecond(b *testing.B, rows int) {
	b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkOpen measures what a start costs on a database that is up to date.
func BenchmarkOpen(b *testing.B) {
	cfg := storetest.SQLiteConfig(b)
	for b.Loop() {
		db, err := store.Open(b.Context(), cfg, storetest.Log(b))
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Migrate(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
