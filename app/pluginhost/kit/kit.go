// Package kit writes what the author of a stage begins with, and the manifest that
// pins what comes of it.
package kit

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/scrollery/scrollery/plugins/stage"
)

//go:embed all:templates
var templates embed.FS

// Module is what a plugin in Go imports.
const Module = "github.com/scrollery/scrollery"

// Plan says what to write.
type Plan struct {
	// Name is the plugin's id and its module's path.
	Name string
	// Kind is source, screen or evidence.
	Kind stage.Kind
	// Dir is made where it is missing, and must be empty.
	Dir string
	// Version of this module that the plugin requires, such as `v1.2.3`. It may be
	// empty where Replace is not.
	Version string
	// Replace is a checkout of this module to build against instead; empty is none.
	Replace string
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`) })

// Kinds that there are templates for.
func Kinds() []stage.Kind {
	return []stage.Kind{stage.SourceKind, stage.ScreenKind, stage.EvidenceKind}
}

// New writes a whole plugin as a module of its own and answers the names of its
// files. It touches nothing that is there already.
func New(plan Plan) ([]string, error) {
	values, err := judge(&plan)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(plan.Dir, 0o755); err != nil {
		return nil, err
	}
	if there, err := os.ReadDir(plan.Dir); err != nil || len(there) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s is not empty", plan.Dir))
	}
	var written []string
	for _, folder := range []string{"common", string(plan.Kind)} {
		names, err := writeAll(plan.Dir, "templates/"+folder, values)
		if err != nil {
			return nil, err
		}
		written = append(written, names...)
	}
	if plan.Replace != "" {
		// The sums of what the checkout needs are those of what the plugin needs.
		sums, err := os.ReadFile(filepath.Join(plan.Replace, "go.sum"))
		if err != nil {
			return nil, fmt.Errorf("replace: %w", err)
		}
		if err := os.WriteFile(filepath.Join(plan.Dir, "go.sum"), sums, 0o644); err != nil {
			return nil, err
		}
		written = append(written, "go.sum")
	}
	slices.Sort(written)
	return written, nil
}

// values are what the templates know.
type values struct {
	Name, Kind, Module, Version, Replace string
}

func judge(plan *Plan) (values, error) {
	if !nameForm().MatchString(plan.Name) {
		return values{}, fmt.Errorf("name %q: want %s", plan.Name, nameForm())
	}
	if !slices.Contains(Kinds(), plan.Kind) {
		return values{}, fmt.Errorf("kind %q: want one of %v", plan.Kind, Kinds())
	}
	v := values{Name: plan.Name, Kind: string(plan.Kind), Module: Module, Version: "v0.0.0"}
	if plan.Replace != "" {
		path, err := filepath.Abs(plan.Replace)
		if err != nil {
			return values{}, err
		}
		raw, err := os.ReadFile(filepath.Join(path, "go.mod"))
		if err != nil {
			return values{}, fmt.Errorf("replace: %w", err)
		}
		if name := modfile.ModulePath(raw); name != Module {
			return values{}, fmt.Errorf("replace: %s holds the module %q, not %s", path, name, Module)
		}
		v.Replace, plan.Replace = modfile.AutoQuote(path), path
		return v, nil
	}
	if !semver.IsValid(plan.Version) || semver.Build(plan.Version) != "" {
		return values{}, errors.New("this build has no released version that a plugin could require: name a checkout with --replace")
	}
	v.Version = plan.Version
	return v, nil
}

// writeAll fills in the templates of one folder. The suffix keeps the tools of Go
// and git from taking them for what they make.
func writeAll(dir, folder string, v values) ([]string, error) {
	var written []string
	err := fs.WalkDir(templates, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := templates.ReadFile(path)
		if err != nil {
			return err
		}
		form, err := template.New(path).Option("missingkey=error").Parse(string(raw))
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := form.Execute(&text, v); err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, folder+"/"), ".tmpl")
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		written = append(written, name)
		return os.WriteFile(target, text.Bytes(), 0o644)
	})
	return written, err
}
