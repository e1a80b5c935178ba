package kit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/host/kit"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "note"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := kit.Plan{Name: "acme", Kind: stage.SourceKind, Version: "v1.2.3"}
	for want, change := range map[string]func(*kit.Plan){
		`name "../acme"`:      func(p *kit.Plan) { p.Name = "../acme" },
		`name "Acme"`:         func(p *kit.Plan) { p.Name = "Acme" },
		`name ""`:             func(p *kit.Plan) { p.Name = "" },
		`kind "../source"`:    func(p *kit.Plan) { p.Kind = "../source" },
		`kind "drop"`:         func(p *kit.Plan) { p.Kind = "drop" },
		`lang "perl"`:         func(p *kit.Plan) { p.Lang = "perl" },
		"is not empty":        func(p *kit.Plan) { p.Dir = full },
		"no released version": func(p *kit.Plan) { p.Version = "(devel)" },
		"with --replace":      func(p *kit.Plan) { p.Version = "v0.0.0-20260101000000-abcdefabcdef+dirty" },
		"replace: ":           func(p *kit.Plan) { p.Replace = full },
	} {
		t.Run(want, func(t *testing.T) {
			plan := good
			plan.Dir = filepath.Join(t.TempDir(), "new")
			change(&plan)
			if _, err := kit.New(plan); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want it to say %q", err, want)
			}
			if _, err := os.Stat(plan.Dir); plan.Dir != full && err == nil {
				t.Errorf("%s: the folder is made nevertheless", want)
			}
		})
	}
	if left, _ := os.ReadDir(full); len(left) != 1 {
		t.Errorf("the folder of somebody else holds %v, want 1", left)
	}
}

func TestNewRequiresAReleasedVersion(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "acme")
	files, err := kit.New(kit.Plan{Name: "acme", Kind: stage.SourceKind, Version: "v1.2.3", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gitignore", "Makefile", "README.md", "go.mod", "main.go", "main_test.go", "plugin.yaml", "testdata/videos.json"} {
		if !slices.Contains(files, name) {
			t.Errorf("got the files %v, want %s among them", files, name)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(text), "require github.com/scrollery/scrollery v1.2.3\n") || strings.Contains(string(text), "replace") {
		t.Errorf(`%s %v, want no error, text with %q and text without "replace"`, text, err, "require github.com/scrollery/scrollery v1.2.3\n")
	}
}
