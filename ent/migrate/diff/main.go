// Command diff writes the migrations that lead to the Ent schema. Run it from the
// top of the tree:
//
//	go run ./ent/migrate/diff --name sandbox_files  # append 0002_sandbox_files.sql for both dialects
//	go run ./ent/migrate/diff --check               # fail if the files do not lead to the schema
//
// Migrations are never edited. PostgreSQL's half needs a server where a database can be
// created and dropped, named by SCROLLERY_TEST_POSTGRES_URL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	atlas "ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/sqltool"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
)

const root = "ent/migrate"

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a difference is left")
	name := flag.String("name", "", "the name of the new migration, such as sandbox_files")
	flag.Parse()
	if err := run(context.Background(), *name, *check); err != nil {
		fmt.Fprintln(os.Stderr, "diff:", err)
		os.Exit(1)
	}
}

// plainName is the form of a migration's name.
var plainName = regexp.MustCompile(`^[a-z0-9_]+$`)

func run(ctx context.Context, name string, check bool) error {
	work := func(ctx context.Context, drv dialect.Driver, folder string) error {
		return write(ctx, drv, folder, name)
	}
	switch {
	case check:
		work = verify
	case !plainName.MatchString(name):
		return errors.New("--name: want the name of the new migration, of small letters, digits and _")
	}
	return errors.Join(
		withSQLite(func(drv dialect.Driver) error { return work(ctx, drv, filepath.Join(root, "sqlite")) }),
		withPostgres(ctx, func(drv dialect.Driver) error { return work(ctx, drv, filepath.Join(root, "postgres")) }),
	)
}

// write appends the migration that leads from the files of the folder to the schema. It
// writes nothing if they lead there already.
func write(ctx context.Context, drv dialect.Driver, folder, name string) error {
	missing, number, err := planned(ctx, drv, folder)
	if err != nil || missing == nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d_%s.sql", number, name)), missing, 0o644)
}

// verify fails if the files of the folder do not lead to the schema.
func verify(ctx context.Context, drv dialect.Driver, folder string) error {
	missing, _, err := planned(ctx, drv, folder)
	if err != nil || missing == nil {
		return err
	}
	return fmt.Errorf("%s does not lead to ent/schema; missing:\n%s", folder, missing)
}

// planned replays the files of the folder. It returns the migration that they lack, with
// its number, or nil if they lead to the schema.
func planned(ctx context.Context, drv dialect.Driver, folder string) (missing []byte, number int, err error) {
	scratch, err := os.MkdirTemp("", "migrate")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(scratch)
	last, err := copyFiles(folder, scratch)
	if err != nil {
		return nil, 0, err
	}
	err = plan(ctx, drv, scratch)
	if errors.Is(err, atlas.ErrNoPlan) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", folder, err)
	}
	missing, err = os.ReadFile(filepath.Join(scratch, plannedName))
	return missing, last + 1, err
}

// plannedName is the file that plan writes. It sorts after every migration.
const plannedName = "9999_planned.sql"

// plan writes what the files in the folder lack into the file plannedName there.
func plan(ctx context.Context, drv dialect.Driver, folder string) error {
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
	return m.NamedDiff(ctx, "planned", tablesOf(drv.Dialect())...)
}

// gooseFormat names the file plannedName, and writes it as goose reads it.
func gooseFormat() (atlas.Formatter, error) {
	file, err := template.New("file").Parse(plannedName)
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

// copyFiles copies the migrations, and nothing else, of a folder. It returns the last number, 0 for
// none: numbers may be left out.
func copyFiles(from, to string) (last int, err error) {
	names, err := filepath.Glob(filepath.Join(from, "*.sql"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o644); err != nil {
			return 0, err
		}
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		if last, err = strconv.Atoi(number); err != nil {
			return 0, fmt.Errorf("%s: the name of a migration begins with its number: %w", name, err)
		}
	}
	return last, nil
}
