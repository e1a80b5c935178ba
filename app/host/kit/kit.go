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

	"github.com/scrollery/scrollery/plugins/stage"
)

//go:embed all:templates
var templates embed.FS

// Plan says what to write.
type Plan struct {
	// Name is the plugin's id and, in Go, its module's path.
	Name string
	// Kind is plan, source, screen, evidence or brief.
	Kind stage.Kind
	// Lang is a language of [Langs]; empty for Go.
	Lang string
	// Dir is made where it is missing, and must be empty.
	Dir string
	// Version of this module that a plugin in Go requires, such as `v1.2.3`. It may be
	// empty if Replace is not.
	Version string
	// Needs are the versions of other modules in this program, by path.
	Needs map[string]string
	// Replace is a checkout of this module for a plugin in Go to build against instead;
	// empty is none.
	Replace string
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`) })

// Kinds that there are templates for.
func Kinds() []stage.Kind {
	return []stage.Kind{stage.PlanKind, stage.SourceKind, stage.ScreenKind, stage.EvidenceKind, stage.BriefKind}
}

// Langs are the languages that there are templates in.
func Langs() []string { return []string{golang, python, typescript} }

const (
	golang     = "go"
	python     = "python"
	typescript = "ts"
)

// New writes a whole plugin and returns the names of its files. It touches nothing that
// is there already.
func New(plan Plan) ([]string, error) {
	if plan.Lang == "" {
		plan.Lang = golang
	}
	switch {
	case !nameForm().MatchString(plan.Name):
		return nil, fmt.Errorf("name %q: want %s", plan.Name, nameForm())
	case !slices.Contains(Kinds(), plan.Kind):
		return nil, fmt.Errorf("kind %q: want one of %v", plan.Kind, Kinds())
	case !slices.Contains(Langs(), plan.Lang):
		return nil, fmt.Errorf("lang %q: want one of %v", plan.Lang, Langs())
	}
	v := values{Name: plan.Name, Kind: string(plan.Kind), Module: Module}
	var more map[string][]byte
	var err error
	if plan.Lang == golang {
		more, err = v.module(plan)
	} else {
		more, err = packageFiles(plan.Lang)
	}
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
	for _, folder := range []string{"common", plan.Lang + "/common", plan.Lang + "/" + string(plan.Kind)} {
		names, err := writeAll(plan.Dir, "templates/"+folder, v)
		if err != nil {
			return nil, err
		}
		written = append(written, names...)
	}
	for name, text := range more {
		if err := write(filepath.Join(plan.Dir, filepath.FromSlash(name)), text); err != nil {
			return nil, err
		}
		written = append(written, name)
	}
	slices.Sort(written)
	return written, nil
}

// values are what the templates know.
type values struct {
	Name, Kind, Module, Version, Replace string
	Requires                             []require
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
		written = append(written, name)
		return write(filepath.Join(dir, filepath.FromSlash(name)), text.Bytes())
	})
	return written, err
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
