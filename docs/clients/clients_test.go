// Package clients_test generates the clients of docs/clients.md by the commands of that page
// and makes the whole journey with each, on a server of this tree.
package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
)

// within bounds one program: the packages come over the network, and those of Go are compiled.
const within = 5 * time.Minute

func TestMain(m *testing.M) { apptest.Main(m) }

// tour is the input of a journey.
type tour struct {
	BaseURL     string   `json:"baseUrl"`
	Email       string   `json:"email"`
	Description string   `json:"description"`
	Competitors []string `json:"competitors"`
	Rules       string   `json:"rules"`
	Scrolls     int      `json:"scrolls"`
}

// seen is what a client saw: the same for every client.
type seen struct {
	NewVideos        []int    `json:"newVideos"`
	Dropped          []int    `json:"dropped"`
	Hooks            []string `json:"hooks"`
	Outliers         []string `json:"outliers"`
	Trends           []string `json:"trends"`
	ArchivedIsListed bool     `json:"archivedIsListed"`
	Subscription     string   `json:"subscription"`
}

// TestJourneys compares what generated clients see with what the client of this module sees.
func TestJourneys(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.SetStage("FEED_DIR", feed.Sample) })
	brief := feed.SampleBrief()
	at := tour{BaseURL: running.BaseURL, Description: brief.Description, Competitors: brief.Competitors, Rules: brief.Rules, Scrolls: 3}
	at.Email = "go@example.com"
	want, err := journey(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Hooks) == 0 || len(want.Outliers) == 0 || len(want.Trends) == 0 || want.Dropped[0] == 0 || want.ArchivedIsListed || want.Subscription != "active" {
		t.Fatalf("Go sees next to nothing: %+v", want)
	}
	same := func(t *testing.T, program string, args ...string) {
		t.Helper()
		at := at
		at.Email = fmt.Sprintf("client%d@example.com", time.Now().UnixNano())
		input, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		var got seen
		if out := run(t, ".", nil, program, append(args, string(input))...); json.Unmarshal([]byte(out), &got) != nil {
			t.Fatalf("%s printed %s", args, out)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the client sees otherwise (-Go +this):\n%s", diff)
		}
	}
	needed := func(t *testing.T, programs ...string) {
		t.Helper()
		for _, program := range programs {
			if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") == "" {
				t.Skip(program + " is not installed")
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("oapi-codegen", func(t *testing.T) {
		dir := t.TempDir()
		copied(t, dir, "oapi.go", "oapi.go")
		run(t, dir, nil, "go", "mod", "init", "example.com/journey")
		generate(t, dir, running.BaseURL, "oapi-codegen")
		run(t, dir, nil, "go", "build", "-o", "journey", "oapi.go")
		same(t, filepath.Join(dir, "journey"))
	})

	needed(t, "npm")
	dir := install(t)

	t.Run("openapi-fetch", func(t *testing.T) {
		generate(t, dir, running.BaseURL, "openapi-typescript")
		same(t, "node", bundle(t, dir, "rest"))
	})
	t.Run("hey-api", func(t *testing.T) {
		if version, _ := strconv.Atoi(strings.TrimSpace(run(t, dir, nil, "node", "-p", "process.versions.node.split('.')[0]"))); version < 20 {
			if err := os.Remove(filepath.Join(dir, "hey.ts")); err != nil {
				t.Fatal(err)
			}
			t.Skipf("@hey-api/openapi-ts does not run on node %d", version)
		}
		generate(t, dir, running.BaseURL, "@hey-api/openapi-ts")
		same(t, "node", bundle(t, dir, "hey"))
	})
	t.Run("connect-web", func(t *testing.T) {
		needed(t, "protoc")
		generate(t, dir, running.BaseURL, "protoc-gen-es")
		same(t, "node", bundle(t, dir, "connect"))
	})
	t.Run("the programs compile strictly", func(t *testing.T) {
		run(t, dir, nil, filepath.Join(dir, "node_modules", ".bin", "tsc"), "-p", ".")
	})
	t.Run("a wrong type does not compile", func(t *testing.T) {
		write(t, filepath.Join(dir, "wrong.ts"), `import type { components } from "./gen/rest.js";
export const caption = (video: components["schemas"]["Video"]): number => video.metadata.caption;
`)
		out, err := try(t, dir, nil, filepath.Join(dir, "node_modules", ".bin", "tsc"), "-p", ".")
		if err == nil || !strings.Contains(out, "wrong.ts(2,") {
			t.Errorf("got %v, want an error in wrong.ts:\n%s", err, out)
		}
	})
	t.Run("Python", func(t *testing.T) {
		needed(t, "protoc", "grpc_python_plugin", "/usr/bin/python3")
		if out, err := try(t, dir, nil, "/usr/bin/python3", "-c", "import grpc, google.protobuf"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(out)
			}
			t.Skip("python3-grpcio is not installed")
		}
		generate(t, dir, running.BaseURL, "grpc_python_plugin")
		copied(t, dir, "journey.py", filepath.Join("gen", "journey.py"))
		same(t, "/usr/bin/python3", filepath.Join(dir, "gen", "journey.py"))
	})
}

// install copies the programs into a folder and gets the packages of the lock file.
func install(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("*.[tj]s*")
	if err != nil || len(files) < 7 {
		t.Fatalf("the files of this folder: got %v, error %v; want at least 7", files, err)
	}
	for _, name := range files {
		copied(t, dir, name, name)
	}
	for _, name := range []string{"api.binpb", "api.files"} {
		copied(t, dir, filepath.Join("../../proto/gen", name), name)
	}
	copied(t, dir, "../../proto/gen/openapi/openapi.json", "openapi.json")
	run(t, dir, nil, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
	return dir
}

// generate runs the one command of the page that names a generator.
func generate(t *testing.T, dir, base, generator string) {
	t.Helper()
	var found []string
	for line := range strings.Lines(page(t)) {
		command, indented := strings.CutPrefix(line, "    ")
		if indented && strings.Contains(command, generator) && !strings.HasPrefix(command, "npm install") {
			found = append(found, strings.TrimSpace(command))
		}
	}
	if len(found) != 1 {
		t.Fatalf("the page has %d commands with %s, want 1: %q", len(found), generator, found)
	}
	run(t, dir, []string{"BASE=" + base, "npm_config_offline=true"}, "sh", "-ec", found[0])
}

// bundle makes one script of a program, its client and main, for node.
func bundle(t *testing.T, dir, program string) string {
	t.Helper()
	script := filepath.Join(dir, program+".mjs")
	result := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents:   fmt.Sprintf("import { journey } from './%s'; import { main } from './tour'; await main(journey);", program),
			ResolveDir: dir,
		},
		Outfile: script, Bundle: true, Write: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022,
	})
	if len(result.Errors) > 0 {
		t.Fatalf("bundle %s, want none: %+v", program, result.Errors)
	}
	return script
}

// TestSnippetsAreOfTheJourneys looks for each snippet of the page in a program that
// TestJourneys runs. There are no tools of Swift to run one with.
func TestSnippetsAreOfTheJourneys(t *testing.T) {
	t.Parallel()
	programs := map[string][]string{"ts": {"rest.ts", "hey.ts", "connect.ts", "webhook.ts"}, "go": {"oapi.go", "journey_test.go"}, "python": {"journey.py"}}
	counts := map[string]int{}
	for part := range strings.SplitSeq(page(t), "\n```") {
		language, snippet, _ := strings.Cut(part, "\n")
		files, ok := programs[language]
		if !ok {
			continue // prose, or Swift
		}
		counts[language]++
		if !slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(flat(string(text)), flat(snippet))
		}) {
			t.Errorf("no program has these lines together:\n%s", snippet)
		}
	}
	if diff := cmp.Diff(map[string]int{"ts": 3, "go": 2, "python": 1}, counts); diff != "" {
		t.Errorf("snippets by language (-want +page):\n%s", diff)
	}
}

// flat is a text without the indents of its lines.
func flat(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../clients.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs a program in a folder and returns what it prints to stdout.
func run(t *testing.T, dir string, environment []string, program string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, environment, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// try returns stdout, or everything that a program printed before it failed.
func try(t *testing.T, dir string, environment []string, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var stdout, all bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Env = dir, append(os.Environ(), environment...)
	command.Stdout, command.Stderr = &stdout, &all
	if err := command.Run(); err != nil {
		return stdout.String() + all.String(), err
	}
	return stdout.String(), nil
}

func copied(t *testing.T, dir, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, to), string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
