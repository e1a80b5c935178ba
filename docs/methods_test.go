package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// maxMethods is the most methods of a type: one with more has a second subject.
const maxMethods = 40

// TestTypesHaveFewMethods counts the methods of the types that are written by hand.
func TestTypesHaveFewMethods(t *testing.T) {
	t.Parallel()
	methods, files := map[string]int{}, token.NewFileSet()
	for _, folder := range sourceFolders(t) {
		sources, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, source, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(file) {
				continue
			}
			for _, declared := range file.Decls {
				if method, ok := declared.(*ast.FuncDecl); ok && method.Recv != nil {
					methods[folder+"."+receiver(method.Recv.List[0].Type)]++
				}
			}
		}
	}
	if len(methods) < 500 {
		t.Fatalf("only %d types with methods were found", len(methods))
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, want at most %d: find its second subject and give it a type", name, n, maxMethods)
		}
	}
}

// receiver is the name of the type of a receiver.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return "?"
}
