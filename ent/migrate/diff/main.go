// Command diff writes the migrations that lead to the Ent schema. Run it from the
// top of the tree:
//
//	go run ./ent/migrate/diff          # write 0001_initial.sql of both dialects anew
//	go run ./ent/migrate/diff --check  # fail where the files do not lead to the schema
//
// Until the first release there is one migration a dialect. PostgreSQL's half needs
// a server that may be scribbled on, named by SCROLLERY_TEST_POSTGRES_URL: a
// database is made there and dropped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"github.com/scrollery/scrollery/ent/migrate"
)

const root = "ent/migrate"

func main() {
	check := flag.Bool("check", false, "write nothing; fail where a diff is left")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "diff:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check bool) error {
	work := write
	if check {
		work = verify
	}
	return errors.Join(
		withSQLite(func(drv dialect.Driver) error { return work(ctx, drv, filepath.Join(root, "sqlite")) }),
		withPostgres(ctx, func(drv dialect.Driver) error { return work(ctx, drv, filepath.Join(root, "postgres")) }),
	)
}

// write replaces the folder by the one migration that makes the schema.
func write(ctx context.Context, drv dialect.Driver, folder string) error {
	scratch, err := os.MkdirTemp("", "migrate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := plan(ctx, drv, scratch, "initial"); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return copyFiles(scratch, folder)
}

// verify replays the folder and fails when the schema asks for more.
func verify(ctx context.Context, drv dialect.Driver, folder string) error {
	scratch, err := os.MkdirTemp("", "migrate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := copyFiles(folder, scratch); err != nil {
		return err
	}
	err = plan(ctx, drv, scratch, "missing")
	if errors.Is(err, atlas.ErrNoPlan) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	missing, err := os.ReadFile(filepath.Join(scratch, "0001_missing.sql"))
	return errors.Join(fmt.Errorf("%s does not lead to ent/schema; missing:\n%s", folder, missing), err)
}

// plan writes what the files in the folder lack into 0001_<name>.sql there.
func plan(ctx context.Context, drv dialect.Driver, folder, name string) error {
	dir, err := sqltool.NewGooseDir(folder)
	if err != nil {
		return err
	}
	sum, err := dir.Checksum()
	if err != nil {
		return err
	}
	if err := atlas.WriteSumFile(dir, sum); err != nil {
		return err
	}
	format, err := gooseFormat()
	if err != nil {
		return err
	}
	m, err := schema.NewMigrate(drv, schema.WithDir(dir), schema.WithFormatter(format),
		schema.WithMigrationMode(schema.ModeReplay), schema.WithErrNoPlan(true),
		schema.WithDropColumn(true), schema.WithDropIndex(true))
	if err != nil {
		return err
	}
	return m.NamedDiff(ctx, name, migrate.Tables...)
}

// gooseFormat names files by number instead of by time.
func gooseFormat() (atlas.Formatter, error) {
	file, err := template.New("file").Parse("0001_{{ .Name }}.sql")
	if err != nil {
		return nil, err
	}
	body, err := template.New("body").Parse("-- +goose Up\n" +
		"{{ range .Changes }}{{ with .Comment }}-- {{ println . }}{{ end }}{{ printf \"%s;\\n\" .Cmd }}{{ end }}")
	if err != nil {
		return nil, err
	}
	return atlas.NewTemplateFormatter(file, body)
}

// copyFiles copies the migrations, and nothing else, of a folder.
func copyFiles(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(from, "*.sql"))
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
