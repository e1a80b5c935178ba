package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// PostgresConfig returns where a migrated, empty PostgreSQL database lies, which is
// dropped after the test. It skips the test if there is no server.
func PostgresConfig(t testing.TB) store.Config {
	t.Helper()
	server := postgresServer(t)
	template, err := postgresTemplate(server)
	if err != nil {
		t.Fatalf("make PostgreSQL template: %v", err)
	}
	return postgresCopy(t, server, template)
}

// EmptyPostgresConfig is PostgresConfig for a database without any schema.
func EmptyPostgresConfig(t testing.TB) store.Config {
	t.Helper()
	return postgresCopy(t, postgresServer(t), "template0")
}

func postgresServer(t testing.TB) string {
	t.Helper()
	if server := os.Getenv("SCROLLERY_TEST_POSTGRES_URL"); server != "" {
		return server
	}
	server, err := localServer()
	if err != nil {
		t.Skipf("no PostgreSQL: %v", err)
	}
	return server
}

func postgresCopy(t testing.TB, server, template string) store.Config {
	t.Helper()
	name := fmt.Sprintf("scrollery_test_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), serial.Add(1))
	if err := onServer(server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := onServer(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return store.Config{DatabaseURL: database(server, name), DataDir: t.TempDir(), MaxConns: 12}
}

var serial atomic.Int64

var templates sync.Map // server → func() (string, error)

// postgresTemplate makes sure once a process that the migrated template is there.
func postgresTemplate(server string) (string, error) {
	once, _ := templates.LoadOrStore(server, sync.OnceValues(func() (string, error) { return makeTemplate(server) }))
	return once.(func() (string, error))()
}

func makeTemplate(server string) (string, error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	// One process makes it while the others wait; it gets its name when it is whole.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(7300145)"); err != nil {
		return "", err
	}
	var found bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&found); err != nil || found {
		return name, err
	}
	draft := name + "_draft"
	for _, step := range []func() error{
		func() error { return onServer(server, "DROP DATABASE IF EXISTS "+draft) },
		func() error { return onServer(server, "CREATE DATABASE "+draft) },
		func() error { return migrated(store.Config{DatabaseURL: database(server, draft)}) },
		func() error { return onServer(server, "ALTER DATABASE "+draft+" RENAME TO "+name) },
	} {
		if err := step(); err != nil {
			return "", err
		}
	}
	return name, nil
}

// templateName changes with the migrations and with the version of the queue.
func templateName() (string, error) {
	files, err := ent.Migrations(store.Postgres)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	err = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		hash.Write(text)
		return err
	})
	if err != nil {
		return "", err
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/riverqueue/river" {
				hash.Write([]byte(module.Version))
			}
		}
	}
	return fmt.Sprintf("scrollery_template_%x", hash.Sum(nil)[:6]), nil
}

func onServer(server, statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// database returns the server's address with another database.
func database(server, name string) string {
	address, err := url.Parse(server)
	if err != nil {
		return server
	}
	address.Path = "/" + name
	return address.String()
}
