package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema compiles CycloneDX's own schema, which is part of its module.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.6.schema.json", "spdx.schema.json", "jsf-0.82.schemax.json"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "schema", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		address := "http://cyclonedx.org/schema/" + strings.Replace(name, "schemax", "schema", 1)
		if err := compiler.AddResource(address, document); err != nil {
			t.Fatal(name, err)
		}
	}
	compiled, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestListOfABinary lists the modules of this command. The binary of a test does not
// know its modules, so the command is built.
func TestListOfABinary(t *testing.T) {
	t.Parallel()
	self := filepath.Join(t.TempDir(), "bom")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", self, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var first, second bytes.Buffer
	if err := run(self, &first); err != nil {
		t.Fatal(err)
	}
	if err := run(self, &second); err != nil {
		t.Fatal(err)
	}
	t.Run("the same binary gives the same bytes", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff(first.String(), second.String()); diff != "" {
			t.Errorf("two lists of one binary differ:\n%s", diff)
		}
	})
	t.Run("the list keeps CycloneDX's schema", func(t *testing.T) {
		t.Parallel()
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema(t).Validate(document); err != nil {
			t.Error(err)
		}
	})
	t.Run("every linked module is listed with its version", func(t *testing.T) {
		t.Parallel()
		var list struct {
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(first.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, part := range list.Components {
			got[part.Name] = part.Version
		}
		build, err := buildinfo.ReadFile(self)
		if err != nil || len(build.Deps) == 0 {
			t.Fatalf("the command links %d modules, want some (%v)", len(build.Deps), err)
		}
		want := map[string]string{"std": strings.TrimPrefix(build.GoVersion, "go")}
		for _, dependency := range build.Deps {
			want[dependency.Path] = dependency.Version
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("modules of the list (-want +got):\n%s", diff)
		}
	})
}

func TestNoListOfAnythingElse(t *testing.T) {
	t.Parallel()
	if err := run("main.go", new(bytes.Buffer)); err == nil {
		t.Error("a text file has a list of modules, want an error")
	}
	if _, err := describe(&debug.BuildInfo{GoVersion: "go1.26"}); err == nil {
		t.Error("a build without a module has a list, want an error")
	}
}

func TestHashIsTheOneOfGoSum(t *testing.T) {
	t.Parallel()
	part, err := component(debug.Module{Path: "example.com/x", Version: "v2.0.0+incompatible", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}, "library")
	if err != nil {
		t.Fatal(err)
	}
	want := "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	if got := (*part.Hashes)[0].Value; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if want := "pkg:golang/example.com/x@v2.0.0%2Bincompatible?type=module"; part.PackageURL != want {
		t.Errorf("package URL %s, want %s", part.PackageURL, want)
	}
}
