package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/scrollery/scrollery/"

// A rule lists the prefixes of this Go module that the packages below a folder may
// import. A package may always import its own folder: modules/keys, modules/kernel/store, plugins/feed.
type rule struct {
	below string
	may   []string
	why   string
}

// The first rule with a matching folder applies.
var rules = []rule{
	{"cmd/scrollery/customer", []string{"proto/gen"}, "a customer's command is a client, and knows nothing of the server"},
	{"cmd", []string{"app", "modules", "plugins", "proto/gen"}, "cmd starts what app composes, and its tests call it as clients do"},
	{"app/demo", nil, "the demonstration is a client: it speaks HTTP only"},
	{"app/host/box", nil, "confinement knows processes, and nothing of stages"},
	{"app/host/egress", []string{"modules/kernel/weburl"}, "the proxy knows which addresses are public, and nothing of stages"},
	{"app/host/programs", []string{"app/host", "plugins/programs", "plugins/stage", "modules", "proto/gen"}, "the programs answer needs of modules"},
	{"app/host/archive", []string{"app/host", "modules/kernel/weburl", "plugins/stage"}, "archives come from public addresses, and have a plugin and what the host says of it"},
	{"app/host", []string{"app/host", "modules/kernel/nearest", "plugins/stage", "proto/gen"}, "the host knows the protocol and no module"},
	{"app", []string{"app", "modules", "plugins", "ent", "proto/gen", "docs"}, "app alone knows every module"},
	{"modules/kernel/api", []string{"modules/kernel", "proto/gen"}, "the API kernel knows operations, not tables"},
	{"modules/kernel/store", []string{"modules/kernel", "ent"}, "storage knows tables, not operations"},
	{"modules/kernel/webpage", []string{"modules/kernel/weburl", "plugins/stage"}, "a page is returned as a type of the SDK"},
	{"modules/kernel/paging", []string{"modules/kernel/apierr", "modules/kernel/publicid"}, "a token is a public id, and a foreign one an error for callers"},
	{"modules/kernel/audit", []string{"modules/kernel", "ent"}, "an audit entry is a row"},
	{"modules/kernel/removals", []string{"modules/kernel", "ent"}, "what the log lacks waits in a table"},
	{"modules/kernel/feed", []string{"modules/kernel"}, "an entry of a feed is written in the transaction of its change"},
	{"modules/kernel/mail", []string{"modules/kernel/secret"}, "a boundary between parts is random"},
	{"modules/kernel", nil, "these helpers import nothing else of the tree"},
	{"modules/operator", []string{"modules/kernel", "modules/library/score", "plugins/stage", "plugins/formats"}, "an import reads files as the feed does, and a backtest calls pure definitions; everything else is a need"},
	{"modules/library/score", nil, "definitions are pure: they know no database and nothing else of the tree"},
	{"modules", []string{"modules/kernel", "plugins/stage", "ent", "proto/gen"}, "modules never import each other: a need is an interface that app answers"},
	{"plugins/stage", []string{"proto/gen"}, "authors import it from other repositories: it must not bring the server along"},
	{"plugins/programs/reader", []string{"plugins/stage", "plugins/formats", "proto/gen"}, "the reader knows the formats of files and its host, and nothing of the server"},
	{"plugins/programs", []string{"plugins/stage/peer", "plugins/internal", "modules/kernel/files", "proto/gen"}, "a program knows an account's files or an endpoint, its host, and nothing of the server"},
	{"plugins/internal", []string{"plugins/stage", "plugins/internal", "plugins/plugintest"}, "helpers know the SDK alone"},
	{"plugins", []string{"plugins/stage", "plugins/internal", "plugins/plugintest", "plugins/formats", "modules/kernel/weburl", "modules/kernel/nearest"}, "a stage knows the SDK, its helpers and the formats of files, and nothing of the server"},
	{"ent", []string{"ent", "modules/kernel/viewer"}, "the schema's tenant rule reads the caller"},
	{"docs", []string{"plugins/stage", "plugins/feed", "modules", "app", "proto/gen"}, "examples of the docs are compiled, and run on the sample library"},
	{"proto", nil, "generated"},
}

// The prefixes of the only files of a module that may import a library.
var libraryFiles = map[string][]string{
	"go.uber.org/fx":             {"module.go"},
	"entgo.io/ent":               {"store"},
	module + "ent":               {"store"},
	"google.golang.org/protobuf": {"rpc"},
	module + "proto/gen":         {"rpc"},
	"connectrpc.com/connect":     {"rpc"},
	"github.com/stripe":          {"stripe"},
}

func TestImportsRunDownward(t *testing.T) {
	t.Parallel()
	seen := 0
	eachFile(t, func(path string, imports []string) {
		seen++
		folder := filepath.ToSlash(filepath.Dir(path))
		law := ruleFor(folder)
		if law == nil {
			t.Errorf("%s: no rule covers this folder, want law not nil", path)
			return
		}
		for _, imported := range imports {
			inside, ours := strings.CutPrefix(imported, module)
			if !ours || home(inside) == home(folder) {
				continue
			}
			if !allowed(law.may, inside) {
				t.Errorf("%s imports %s, want only %v of this module: %s", path, inside, law.may, law.why)
			}
		}
	})
	if seen < 50 {
		t.Fatalf("only %d files were read, want at least 50", seen)
	}
}

func TestModulesHaveOneFileALibrary(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, imports []string) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasPrefix(folder, "modules/") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(folder, "modules/kernel/") {
			return
		}
		for _, imported := range imports {
			for library, files := range libraryFiles {
				if imported != library && !strings.HasPrefix(imported, library+"/") {
					continue
				}
				if !startsWithAny(filepath.Base(path), files) {
					t.Errorf("%s imports %s, want it only in %s*.go", path, imported, strings.Join(files, "*.go, "))
				}
			}
		}
	})
}

// The libraries of schema changes are a tenth of a binary, and work at every start.
func TestTheProgramHasNoLibraryOfSchemaChanges(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, imports []string) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "ent/migrate/") {
			return
		}
		for _, imported := range imports {
			for _, library := range []string{module + "ent/migrate", "entgo.io/ent/dialect/sql/schema", "ariga.io/atlas"} {
				if imported == library || strings.HasPrefix(imported, library+"/") {
					t.Errorf("%s: got the import %s, which only make migration and tests may have; want ent.OwnedTables or ent.Migrations, which do without %v and %v", path, imported, library, library+"/")
				}
			}
		}
	})
}

// Code that is made for each operation or field is small once and large in all: the linker keeps
// every exported method of a type that reflection may see.
func TestTheProgramHasNoCodeForEachOperation(t *testing.T) {
	t.Parallel()
	const clients = module + "proto/gen/scrollery/v1/scrolleryv1connect"
	eachFile(t, func(path string, imports []string) {
		if !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "app/apptest/") && slices.Contains(imports, clients) {
			t.Errorf("%s: got the import %s, whose clients are 4 MB; want one client for any message, as in cmd/scrollery/customer/client.go", path, clients)
		}
	})
	made, err := filepath.Glob(filepath.Join("..", "ent", "*_create.go"))
	if err != nil || len(made) < 20 {
		t.Fatalf("got %d files of ent and %v, want at least 20", len(made), err)
	}
	for _, path := range made {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "UpsertOne struct") {
			t.Errorf("%s: got methods of upserts for each field, which are 5 MB in all; want OnConflict alone, as ent/schema/template/client.tmpl has it", path)
		}
	}
}

// The launcher of each plugin starts before the program's other packages are initialised,
// in the order of import paths: it waits for those before the last of its own imports.
func TestTheLauncherBeginsEarly(t *testing.T) {
	t.Parallel()
	const launcher = "app/host/box/launch"
	most := map[string][]string{
		launcher: {
			"crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "github.com/landlock-lsm/go-landlock/landlock", "github.com/landlock-lsm/go-landlock/landlock/syscall", "golang.org/x/sys/unix", "io", "math", "os", "path", "runtime", "slices", "strconv", "strings",
			"sync", "syscall", "unsafe",
		},
	}
	seen := 0
	eachFile(t, func(path string, imports []string) {
		may, early := most[filepath.ToSlash(filepath.Dir(path))]
		if !early || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_other.go") { // of systems without a box
			return
		}
		seen++
		for _, imported := range imports {
			if !slices.Contains(may, imported) {
				t.Errorf("%s: got the import %s, want only %v: most others, as path/filepath, are initialised late", path, imported, may)
			}
		}
	})
	if seen < 5 {
		t.Errorf("got %d files of %s, want at least 5", seen, launcher)
	}
}

func ruleFor(folder string) *rule {
	for i := range rules {
		if strings.HasPrefix(folder+"/", strings.TrimSuffix(rules[i].below, "/")+"/") {
			return &rules[i]
		}
	}
	return nil
}

// home is the folder that a package belongs to: modules/keys, modules/kernel/store, plugins/feed, app.
func home(folder string) string {
	parts := strings.Split(folder, "/")
	depth := 1
	if parts[0] == "modules" || parts[0] == "plugins" {
		depth = 2
		if len(parts) > 2 && slices.Contains([]string{"kernel", "internal", "programs"}, parts[1]) {
			depth = 3
		}
	}
	return strings.Join(parts[:min(depth, len(parts))], "/")
}

func allowed(may []string, inside string) bool {
	for _, prefix := range may {
		if inside == prefix || strings.HasPrefix(inside, strings.TrimSuffix(prefix, "/")+"/") {
			return true
		}
	}
	return false
}

func startsWithAny(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, strings.TrimSuffix(prefix, ".go")) {
			return true
		}
	}
	return false
}

// eachFile reads the imports of every Go file of the tree, generated ones left out.
func eachFile(t *testing.T, visit func(path string, imports []string)) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, _ := filepath.Rel(root, path)
		inside = filepath.ToSlash(inside)
		if entry.IsDir() {
			if inside == "proto/gen" || strings.HasPrefix(entry.Name(), ".") && inside != "." || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		generated := strings.HasPrefix(inside, "ent/") && !strings.HasPrefix(inside, "ent/schema/") && !strings.HasPrefix(inside, "ent/migrate/diff")
		if !strings.HasSuffix(inside, ".go") || generated || !strings.Contains(inside, "/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports := make([]string, 0, len(file.Imports))
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, name)
		}
		visit(inside, imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("read %d files, want the whole tree", files)
	}
}
