package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/scrollery/scrollery/"

// ground is the floor that every room stands on.
var ground = []string{
	"modules/door", "modules/fault", "modules/viewer", "modules/store", "modules/ident",
	"modules/record", "modules/address", "modules/secret", "modules/mail", "modules/audit", "modules/folder", "modules/webpage",
}

// A rule says what the packages below a folder may import of this module.
type rule struct {
	below string
	may   []string
	why   string
}

// The first rule whose folder fits decides.
var rules = []rule{
	{"cmd/", []string{"app", "plugins/", "modules/"}, "cmd starts what app puts together"},
	{"app/pluginhost/egress", []string{"modules/address"}, "the way out knows which addresses are public, and nothing of stages"},
	{"app/pluginhost", []string{"app/pluginhost", "modules/record", "plugins/stage", "proto/gen/"}, "the host knows the protocol, no room"},
	{"app/demo", nil, "the demonstration is a client: it speaks HTTP only"},
	{"app", []string{"app", "modules/", "plugins/", "ent", "proto/gen"}, "app alone knows every room"},
	{"modules/viewer", nil, "who is asking stands below everything, the schema's tenant rule too"},
	{"modules/ident", nil, "ids stand below everything"},
	{"modules/fault", nil, "errors stand below everything"},
	{"modules/folder", nil, "an account's files are kept alike by the service and by a program's process"},
	{"modules/address", nil, "addresses are judged without knowing anybody"},
	{"modules/webpage", []string{"modules/address", "modules/record"}, "a page is read without knowing for whom"},
	{"modules/record", nil, "what travels between stages stands below rooms and plugins"},
	{"modules/store", []string{"modules/store", "modules/ident", "modules/viewer", "ent"}, "storage knows no room"},
	{"modules/door", []string{"modules/door", "modules/fault", "modules/viewer", "modules/record", "proto/gen"}, "the kernel knows operations, not rooms"},
	{"modules/", append([]string{"ent", "proto/gen"}, ground...), "rooms stand side by side: a need is an interface that app answers"},
	{"plugins/stage", []string{"plugins/stage", "modules/record", "proto/gen/"}, "authors outside import it: it brings nothing along"},
	{"plugins/sandbox", []string{"modules/folder", "proto/gen/"}, "a program's process knows the account's folder and nothing else"},
	{"plugins/endpoint", nil, "an address is reached by whoever has one"},
	{"plugins/agent", []string{"plugins/endpoint", "proto/gen/"}, "the planner's process knows an endpoint and nothing of the service"},
	{"plugins/model", []string{"plugins/endpoint", "plugins/stage"}, "whoever asks an endpoint asks it in the same way"},
	{"plugins/ytdlp", []string{"plugins/stage", "plugins/feed/formats"}, "what yt-dlp writes is read as from its files"},
	{"plugins/youtube", []string{"plugins/stage", "plugins/feed/formats"}, "the interface's answers are read as those in files are"},
	{"plugins/instagram", []string{"plugins/stage", "plugins/feed/formats"}, "hashtags are read out of captions as the feed does it"},
	{"plugins/film", []string{"plugins/stage"}, "whoever looks at media hands them to ffmpeg in the same way"},
	{"plugins/", []string{"plugins/stage", "plugins/endpoint", "plugins/model", "plugins/film", "modules/record", "modules/address"}, "a stage knows its kit and nothing of the service"},
	{"ent/schema", []string{"ent", "modules/viewer"}, "the tenant rule asks who is asking"},
	{"ent", []string{"ent", "modules/viewer"}, "generated"},
	{"docs", []string{"plugins/stage", "modules/", "app", "proto/gen"}, "examples of the docs are compiled"},
	{"proto/", []string{"proto/"}, "generated"},
}

// The doors: the only files of a room that may import a library.
var doors = map[string][]string{
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
			t.Errorf("%s: no rule covers this folder", path)
			return
		}
		for _, imported := range imports {
			inside, ours := strings.CutPrefix(imported, module)
			if !ours || room(inside) == room(folder) {
				continue
			}
			if !allowed(law.may, inside) {
				t.Errorf("%s imports %s: %s", path, inside, law.why)
			}
		}
	})
	if seen < 50 {
		t.Fatalf("only %d files were read", seen)
	}
}

func TestRoomsHaveOneDoorALibrary(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, imports []string) {
		folder := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasPrefix(folder, "modules/") || strings.HasSuffix(path, "_test.go") || isGround(folder) {
			return
		}
		for _, imported := range imports {
			for library, files := range doors {
				if imported != library && !strings.HasPrefix(imported, library+"/") {
					continue
				}
				if !startsWithAny(filepath.Base(path), files) {
					t.Errorf("%s imports %s, which belongs in %s*.go", path, imported, strings.Join(files, "*.go, "))
				}
			}
		}
	})
}

func ruleFor(folder string) *rule {
	for i := range rules {
		if strings.HasPrefix(folder+"/", strings.TrimSuffix(rules[i].below, "/")+"/") {
			return &rules[i]
		}
	}
	return nil
}

// room is the folder that a package belongs to: modules/keys, plugins/feed, app.
func room(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	if len(parts) > 1 && (parts[0] == "modules" || parts[0] == "plugins") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func allowed(may []string, inside string) bool {
	for _, prefix := range may {
		if inside == prefix || strings.HasPrefix(inside, strings.TrimSuffix(prefix, "/")+"/") {
			return true
		}
	}
	return false
}

func isGround(folder string) bool { return allowed(ground, folder) }

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
}
