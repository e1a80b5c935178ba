// Command bom prints the modules that a Go binary was linked from, as CycloneDX JSON.
//
//	go run ./docs/deploy/bom bin/scrollery > bom.json
//
// It reads the build information of the binary itself, so the list holds what was
// linked for that platform, and not everything that go.mod allows. Licences and the
// graph of requirements are not part of that information and are left out. The same
// binary always gives the same bytes: there is no time and no serial number.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bom BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bom:", err)
		os.Exit(1)
	}
}

func run(binary string, out io.Writer) error {
	build, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	list, err := describe(build)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(list, cdx.SpecVersion1_6)
}

// describe returns the list for a build. It fails for a binary that was built from
// files instead of a module: that has no version to state.
func describe(build *debug.BuildInfo) (*cdx.BOM, error) {
	if build.Main.Path == "" {
		return nil, errors.New("was not built from a module")
	}
	subject, err := component(build.Main, cdx.ComponentTypeApplication)
	if err != nil {
		return nil, err
	}
	subject.Properties = properties(build.Settings)
	standard, err := component(debug.Module{Path: "std", Version: strings.TrimPrefix(build.GoVersion, "go")}, cdx.ComponentTypeLibrary)
	if err != nil {
		return nil, err
	}
	parts := []cdx.Component{standard}
	for _, dependency := range build.Deps {
		linked := *dependency
		if linked.Replace != nil {
			linked = *linked.Replace
		}
		part, err := component(linked, cdx.ComponentTypeLibrary)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	list := cdx.NewBOM()
	list.Metadata = &cdx.Metadata{Component: &subject}
	list.Components = &parts
	return list, nil
}

// component names a module as package URLs do. Its hash is the one of go.sum, which
// covers the names and contents of all files of the module.
func component(module debug.Module, kind cdx.ComponentType) (cdx.Component, error) {
	address := "pkg:golang/" + module.Path + "@" + url.QueryEscape(module.Version) + "?type=module"
	part := cdx.Component{Type: kind, BOMRef: address, Name: module.Path, Version: module.Version, PackageURL: address}
	if module.Sum == "" {
		return part, nil
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
	if err != nil {
		return cdx.Component{}, fmt.Errorf("sum of %s: %w", module.Path, err)
	}
	part.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	return part, nil
}

// properties keeps the platform and the commit.
func properties(settings []debug.BuildSetting) *[]cdx.Property {
	var kept []cdx.Property
	for _, setting := range settings {
		if setting.Key == "GOOS" || setting.Key == "GOARCH" || strings.HasPrefix(setting.Key, "vcs.") {
			kept = append(kept, cdx.Property{Name: "go:" + setting.Key, Value: setting.Value})
		}
	}
	return &kept
}
