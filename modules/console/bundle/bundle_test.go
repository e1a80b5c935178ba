package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestSameInputsSameBytes bundles twice what `make build` installed.
func TestSameInputsSameBytes(t *testing.T) {
	if _, err := os.Stat("../node_modules/.installed"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("run make build first: %v", err)
		}
		t.Skip("the packages of the console are not installed")
	}
	t.Chdir("../../..")
	first, err := bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s has %d bytes, then %d others", name, len(content), len(second[name]))
		}
	}
	if len(first["console.js"]) == 0 {
		t.Error("console.js is empty")
	}
	for name, content := range first {
		if strings.HasSuffix(name, ".js") && bytes.Contains(content, []byte("eval(")) {
			t.Errorf("%s must not evaluate text", name)
		}
		if german := name == "messages.de.json"; strings.Contains(string(content), "Anmelden") != german && !strings.HasPrefix(name, "app-") && name != "operator.js" {
			t.Errorf("%s: got German %v, want it in a file of its own", name, !german)
		}
	}
	for _, name := range []string{"preact 11", "uplot 1", "@connectrpc/connect-web 2", "Copyright 2008 Google Inc.", "Apache License"} {
		if !strings.Contains(string(first["licenses.txt"]), name) {
			t.Errorf("licenses.txt does not mention %q", name)
		}
	}
}

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"node_modules/preact/dist/preact.js":           "preact",
		"node_modules/@preact/signals/dist/signals.js": "@preact/signals",
		"src/main.tsx":                                        "",
		"gen/scrollery/v1/keys_service_pb.ts":                 "",
		"node_modules/@bufbuild/protobuf/dist/esm/wire/x.js":  "@bufbuild/protobuf",
		"../../modules/console/node_modules/uplot/dist/a.css": "uplot",
	} {
		t.Run(input, func(t *testing.T) {
			if got, _ := packageOf(input); got != want {
				t.Errorf("packageOf(%q) = %q, want %q", input, got, want)
			}
		})
	}
}
