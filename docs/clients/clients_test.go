// Package clients_test generates the clients of docs/clients.md and compiles them.
package clients_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/proto/gen/openapi"
)

// within bounds one program: the packages come over the network.
const within = 3 * time.Minute

// run runs a program in a folder and returns what it prints.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestClientsOfTypeScript generates the REST clients from the description of this tree
// and compiles the programs of this folder with them, as strictly as the compiler can:
// a caption is a text, a claim narrows to its key, an unknown property is an error.
func TestClientsOfTypeScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("npm is not installed")
		}
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := filepath.Glob("*.[tj]s*")
	if err != nil || len(files) < 5 {
		t.Fatalf("the files of this folder: %v, %v", files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	write(t, filepath.Join(dir, "openapi.json"), openapi.Document)
	run(t, dir, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
	tool := func(name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
	run(t, dir, tool("openapi-typescript"), "openapi.json", "-o", "gen/rest.ts")
	if version, _ := strconv.Atoi(strings.TrimSpace(run(t, dir, "node", "-p", "process.versions.node.split('.')[0]"))); version < 20 {
		t.Logf("@hey-api/openapi-ts does not run on node %d: its client is not compiled", version)
		if err := os.Remove(filepath.Join(dir, "hey.ts")); err != nil {
			t.Fatal(err)
		}
	} else {
		run(t, dir, tool("openapi-ts"), "-i", "openapi.json", "-o", "gen/hey", "-c", "@hey-api/client-fetch")
	}
	run(t, dir, tool("tsc"), "-p", ".")

	t.Run("a wrong type does not compile", func(t *testing.T) {
		wrong := `import type { components } from "./gen/rest.js";
export const caption = (video: components["schemas"]["Video"]): number => video.metadata.caption;
`
		write(t, filepath.Join(dir, "wrong.ts"), wrong)
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		command := exec.CommandContext(ctx, tool("tsc"), "-p", ".")
		command.Dir = dir
		if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "wrong.ts(2,") {
			t.Errorf("got %v, want an error in wrong.ts:\n%s", err, out)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
