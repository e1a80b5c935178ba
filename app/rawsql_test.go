package app_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rawSQL lists the files outside the store that run SQL by themselves, with the reason.
// They are tests, which the store's tenant rule does not protect.
var rawSQL = map[string]string{
	"../app/apptest/apptest.go": "tests of the whole app prepare rows that no operation writes",
}

// TestOnlyTheStoreRunsSQL reads every file that is no test. A module runs statements
// through Ent or store.Hot, which add the tenant: it does not open a database, and does
// not call Exec, Query or Prepare of a connection or a transaction.
func TestOnlyTheStoreRunsSQL(t *testing.T) {
	t.Parallel()
	files, excused := 0, map[string]bool{}
	for _, top := range []string{"../modules", "../app", "../cmd", "../plugins", "../docs"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			path = filepath.ToSlash(path)
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../modules/kernel/store/") {
				return err
			}
			files++
			found, err := rawStatements(path)
			for _, call := range found {
				if _, ok := rawSQL[path]; ok {
					excused[path] = true
					continue
				}
				t.Errorf("%s runs SQL, want Ent or store.Hot, which add the tenant", call)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("read %d files, want the whole tree", files)
	}
	for path := range rawSQL {
		if !excused[path] {
			t.Errorf("%s runs no SQL, want it out of rawSQL", path)
		}
	}
}

func TestRawStatementsAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "raw.go")
	text := `package raw

import (
	"context"
	stdsql "database/sql"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

type rows struct{ own *stdsql.DB }

func (r rows) all(ctx context.Context, tx *store.Tx, one *store.Hot) {
	tx.Exec(ctx, "DELETE FROM videos")
	r.own.QueryContext(ctx, "SELECT 1")
	one.Query(ctx, 1)
	tx.Ent().Video.Delete().Exec(ctx)
	var conn *stdsql.Conn
	conn.PrepareContext(ctx, "SELECT 1")
	other, _ := stdsql.Open("sqlite", "a.db")
	other.Exec("DELETE FROM videos")
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	calls, err := rawStatements(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, call := range calls {
		got = append(got, strings.TrimPrefix(call, path))
	}
	want := []string{":13:2 calls Exec of tx", ":14:2 calls QueryContext of own", ":18:2 calls PrepareContext of conn", ":19:14 calls Open of database/sql"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("raw statements, want - got +:\n%s", diff)
	}
}

// rawStatements returns the calls of a file that run SQL past the store: methods of what
// the file declares as *store.Tx or as a type of database/sql, and what opens a database.
func rawStatements(path string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	standard := ""
	for _, spec := range file.Imports {
		if spec.Path.Value == `"database/sql"` {
			if standard = "sql"; spec.Name != nil {
				standard = spec.Name.Name
			}
		}
	}
	raw := map[string]bool{}
	isRaw := func(kind ast.Expr) bool {
		pointer, ok := kind.(*ast.StarExpr)
		if !ok {
			return false
		}
		named, ok := pointer.X.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		from, _ := named.X.(*ast.Ident)
		if from == nil {
			return false
		}
		return from.Name == "store" && named.Sel.Name == "Tx" || standard != "" && from.Name == standard && named.Sel.Name != "Rows"
	}
	ast.Inspect(file, func(node ast.Node) bool {
		var names []*ast.Ident
		switch node := node.(type) {
		case *ast.Field:
			if isRaw(node.Type) {
				names = node.Names
			}
		case *ast.ValueSpec:
			if node.Type != nil && isRaw(node.Type) {
				names = node.Names
			}
		}
		for _, name := range names {
			raw[name.Name] = true
		}
		return true
	})
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		receiver := ""
		switch of := method.X.(type) {
		case *ast.Ident:
			receiver = of.Name
		case *ast.SelectorExpr:
			receiver = of.Sel.Name
		}
		at := files.Position(call.Pos())
		switch name := method.Sel.Name; {
		case standard != "" && receiver == standard && (name == "Open" || name == "OpenDB"):
			found = append(found, fmt.Sprintf("%s calls %s of database/sql", at, name))
		case raw[receiver] && (strings.HasPrefix(name, "Exec") || strings.HasPrefix(name, "Query") || strings.HasPrefix(name, "Prepare")):
			found = append(found, fmt.Sprintf("%s calls %s of %s", at, name, receiver))
		}
		return true
	})
	return found, nil
}
