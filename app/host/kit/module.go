package kit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Module is what a plugin in Go imports.
const Module = "github.com/scrollery/scrollery"

// light are the modules that the SDK imports. A go.mod that names them all spares the
// tools of Go those of the server, and keeps the sums to two lines for each.
func light() []string {
	return []string{
		"github.com/go-json-experiment/json", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text",
		"google.golang.org/genproto/googleapis/rpc", "google.golang.org/grpc", "google.golang.org/protobuf",
	}
}

// require is a line of go.mod.
type require struct{ Path, Version string }

// module fills in what the templates know of Go, and returns further files.
func (v *values) module(plan Plan) (map[string][]byte, error) {
	v.Version = "v0.0.0"
	if plan.Replace != "" {
		return v.replaced(plan.Replace)
	}
	if !semver.IsValid(plan.Version) || semver.Build(plan.Version) != "" {
		return nil, errors.New("this build has no released version that a plugin could require: name a checkout with --replace")
	}
	v.Version = plan.Version
	for _, path := range light() {
		if version := plan.Needs[path]; version != "" {
			v.Requires = append(v.Requires, require{path, version})
		}
	}
	return nil, nil
}

// replaced reads the versions, and their sums, of a checkout.
func (v *values) replaced(checkout string) (map[string][]byte, error) {
	path, err := filepath.Abs(checkout)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(path, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	file, err := modfile.ParseLax("go.mod", raw, nil)
	if err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	if file.Module == nil || file.Module.Mod.Path != Module {
		return nil, fmt.Errorf("replace: %s does not hold the module %s", path, Module)
	}
	sums, err := os.ReadFile(filepath.Join(path, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	versions := map[string]string{}
	for _, one := range file.Require {
		versions[one.Mod.Path] = one.Mod.Version
	}
	var kept []byte
	for _, path := range light() {
		if versions[path] == "" {
			return nil, fmt.Errorf("replace: go.mod does not require %s", path)
		}
		v.Requires = append(v.Requires, require{path, versions[path]})
		for line := range bytes.Lines(sums) {
			if bytes.HasPrefix(line, []byte(path+" "+versions[path])) {
				kept = append(kept, line...)
			}
		}
	}
	v.Replace = modfile.AutoQuote(path)
	return map[string][]byte{"go.sum": kept}, nil
}
