package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// databasePaths are the calls that may take a path of SQLite's files, with the reason why
// no descriptor of a live database comes of it.
var databasePaths = map[string]string{
	"filepath.Join": "makes a path",
	"fmt.Errorf":    "makes a message",
	"os.Stat":       "looks by the path and opens nothing",
	"os.Chmod":      "changes the mode by the path and opens nothing",
	"DSN":           "is the address that SQLite opens",
	"makePrivate":   "opens with O_EXCL, and so only a file that it creates",
	"append":        "makes a list of names",
	"db.Backup":     "has SQLite write a new file",
}

// databaseFile is what names a file of SQLite in a source.
var databaseFile = regexp.MustCompile(`scrollery\.db|-shm$|-wal$|-journal$`)

// TestOnlySQLiteOpensItsFiles reads every file that is no test. To close any descriptor of a
// live database takes all locks of this process from it, also those of SQLite: other
// processes then change it beside this one.
func TestOnlySQLiteOpensItsFiles(t *testing.T) {
	t.Parallel()
	files, calls := 0, map[string]bool{}
	for _, top := range []string{"../modules", "../app", "../cmd", "../plugins", "../ent"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || entry.Name() == "storetest.go" {
				return err // storetest copies a database that is closed
			}
			files++
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found, err := databasePathCalls(path, text)
			for at, name := range found {
				if _, known := databasePaths[name]; !known {
					t.Errorf("%s: %s gets the path of a file of SQLite; want SQLite alone to open it, or a reason in databasePaths", at, name)
				}
				calls[name] = true
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
	for name := range databasePaths {
		if !calls[name] {
			t.Errorf("%s gets no path of a file of SQLite, want it out of databasePaths", name)
		}
	}
}

func TestCallsWithPathsOfTheDatabaseAreFound(t *testing.T) {
	t.Parallel()
	got, err := databasePathCalls("a.go", []byte(`package a

func (db *DB) look(dir string) {
	file, _ := os.Open(f.Path() + "-shm")
	path := filepath.Join(dir, "scrollery.db")
	other := path + "-wal"
	unix.Open(other, 0, 0)
	os.Open(dir)
	db.deep.read(func() { os.ReadFile(path) })
}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.go:4:13": "os.Open", "a.go:5:10": "filepath.Join", "a.go:7:2": "unix.Open", "a.go:9:24": "os.ReadFile"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls, want - got +:\n%s", diff)
	}
}

// databasePathCalls returns the calls of a file that get the path of one of SQLite's files:
// by its name, by Path, or by a variable that was made of these in the same function.
func databasePathCalls(path string, text []byte) (found map[string]string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found = map[string]string{}
	for _, declared := range file.Decls {
		paths := map[string]bool{}
		ast.Inspect(declared, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.AssignStmt:
				for i, value := range node.Rhs {
					if name, is := node.Lhs[i].(*ast.Ident); is && isDatabasePath(value, paths) {
						paths[name.Name] = true
					}
				}
			case *ast.CallExpr:
				for _, arg := range node.Args {
					if isDatabasePath(arg, paths) {
						found[set.Position(node.Pos()).String()] = calledName(node.Fun)
					}
				}
			case *ast.CompositeLit:
				for _, element := range node.Elts {
					if pair, is := element.(*ast.KeyValueExpr); is {
						element = pair.Value
					}
					if isDatabasePath(element, paths) {
						found[set.Position(node.Pos()).String()] = calledName(node.Type)
					}
				}
			}
			return true
		})
	}
	return found, nil
}

// isDatabasePath reports whether an expression is such a path. What a call returns is one if
// it makes paths.
func isDatabasePath(e ast.Expr, paths map[string]bool) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING && databaseFile.MatchString(strings.Trim(e.Value, "\"`")) && !strings.Contains(e.Value, " ")
	case *ast.Ident:
		return paths[e.Name]
	case *ast.BinaryExpr:
		return isDatabasePath(e.X, paths) || isDatabasePath(e.Y, paths)
	case *ast.CallExpr:
		switch name := calledName(e.Fun); name {
		case "f.Path", "lite.Path":
			return true
		case "filepath.Join", "filepath.Clean", "fmt.Sprintf":
			for _, arg := range e.Args {
				if isDatabasePath(arg, paths) {
					return true
				}
			}
		}
	}
	return false
}

// calledName is the last two words of what is called.
func calledName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		switch x := e.X.(type) {
		case *ast.Ident:
			return x.Name + "." + e.Sel.Name
		case *ast.SelectorExpr:
			return x.Sel.Name + "." + e.Sel.Name
		}
		return e.Sel.Name
	}
	return ""
}
