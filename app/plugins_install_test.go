package app_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/app/host/archive"
	"github.com/scrollery/scrollery/modules/scrolls"
)

// packaged is a plugin whose author packages it.
const packaged = `package main

import (
	"context"
	"errors"
	"io"

	"github.com/scrollery/scrollery/plugins/stage"
)

func main() {
	stage.Main(stage.Spec{
		ID: "acme", Version: "1.2.0", Kind: stage.EvidenceKind, Summary: "Finds nothing",
		Hosts: []string{"api.example.com:443"}, Secrets: []string{"token"},
		Evidence: func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), _ func(stage.Finding) error) error {
			for {
				if _, err := next(); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
			}
		},
	})
}
`

// built writes the plugin and its manifest into a folder.
func built(t *testing.T, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, "main.go"), packaged)
	put(t, filepath.Join(dir, "plugin.yaml"), "id: acme\nsecrets: []\n")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", filepath.Join(dir, "acme"), filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestInstallPlugin follows a plugin from its author's folder into that of a server, through what
// an operator is shown and asked, and out of it.
func TestInstallPlugin(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	built(t, work)
	from := filepath.Join(work, "acme.tar.gz")
	var said bytes.Buffer
	if err := app.PackagePlugin(t.Context(), archive.Order{Manifest: work, Out: from}, &said); err != nil || !strings.Contains(said.String(), "acme 1.2.0 for ") {
		t.Fatalf("got %v and %q, want a packaged acme 1.2.0", err, said.String())
	}
	cfg := app.Config{Plugins: host.Config{Dir: filepath.Join(work, "plugins")}}
	// installed installs, and returns what was printed and asked.
	installed := func(t *testing.T, from string, yes bool) (shown, asked string, err error) {
		t.Helper()
		var out bytes.Buffer
		err = app.InstallPlugin(t.Context(), cfg, app.InstallOrder{From: from, Agree: func(question string) (bool, error) {
			asked = question
			if strings.Contains(out.String(), "starts and shakes hands") {
				t.Error("the plugin was started before the operator agreed, want it after")
			}
			return yes, nil
		}}, &out)
		return out.String(), asked, err
	}
	wantNothing := func(t *testing.T) {
		t.Helper()
		if left, err := os.ReadDir(cfg.Plugins.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v, %v in the plugin folder, want none made", left, err)
		}
	}

	shown, asked, err := installed(t, from, false)
	if err == nil || err.Error() != "nothing was installed" || asked != "Install it into "+cfg.Plugins.Dir+"/acme?" {
		t.Errorf("after a no: %v, asked %q", err, asked)
	}
	for _, want := range []string{
		"acme 1.2.0 (evidence): Finds nothing\n", "there is no --key", "reaches: api.example.com:443\n", "wants the secrets: token\n", "its manifest does not grant the secret token\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the operator sees %q, want %q in it", shown, want)
		}
	}
	wantNothing(t)

	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return hex.EncodeToString(hash[:])
	}
	for name, c := range map[string]struct {
		change func(x *archive.Index, manifest *string)
		want   string
	}{
		"shows less than it wants": {func(x *archive.Index, _ *string) { x.Hosts = []string{} }, "does not describe itself as its archive does"},
		"has another version":      {func(x *archive.Index, _ *string) { x.Version = "9.9.9" }, "does not describe itself as its archive does"},
		"has the id of a built-in": {func(x *archive.Index, manifest *string) {
			*manifest = strings.Replace(*manifest, "id: acme", "id: rules", 1)
			x.ID, x.Files[0].Bytes, x.Files[0].SHA256 = "rules", int64(len(*manifest)), sum(*manifest)
		}, `the id "rules" is that of a stage that comes with the server`},
	} {
		_, _, err := installed(t, reindexed(t, from, c.change), true)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("an archive that %s: got %v, want an error with %q", name, err, c.want)
		}
		wantNothing(t)
	}

	shown, _, err = installed(t, from, true)
	if err != nil || !strings.Contains(shown, "ok   lets go of a cancelled call\n") || !strings.Contains(shown, "kill -HUP") || !strings.Contains(shown, "No template names it") {
		t.Fatalf("after a yes: %v, and %q, want every check and what is next", err, shown)
	}
	for version, want := range map[string]string{
		"1.2.0":  "Install the same acme 1.2.0 again",
		"1.1.9":  "by the OLDER version 1.1.9?",
		"1.10.0": "Replace acme 1.2.0 in " + cfg.Plugins.Dir + "/acme by 1.10.0?",
		"newest": "Which of them is newer cannot be told.",
	} {
		if _, asked, err := installed(t, reindexed(t, from, func(x *archive.Index, _ *string) { x.Version = version }), false); err == nil || !strings.Contains(asked, want) {
			t.Errorf("version %s: asked %q, %v, want %q", version, asked, err, want)
		}
	}
	shown, _, _ = installed(t, reindexed(t, from, func(x *archive.Index, _ *string) { x.Hosts = append(x.Hosts, "evil.example.com:443") }), false)
	if !strings.Contains(shown, "reaches: api.example.com:443, evil.example.com:443   (new, or changed)\n") || strings.Contains(shown, "token   (new") {
		t.Errorf("the operator sees %q, want the new host marked, and the secret not", shown)
	}

	named := cfg
	named.Scrolls.Templates = map[string]scrolls.Template{"default": {Evidence: []string{"acme"}}}
	named.Plugins.Secrets = map[string]map[string]string{"acme": {"token": "x"}}
	yes := func(string) (bool, error) { return true, nil }
	if err := app.RemovePlugin(named, "acme", yes, io.Discard); err == nil || !strings.Contains(err.Error(), "names acme in template default, plugins.secrets") {
		t.Errorf("got %v, want the places that name the plugin", err)
	}
	if err := app.RemovePlugin(cfg, "acme", func(string) (bool, error) { return false, nil }, io.Discard); err == nil {
		t.Error("got no error after a no, want that nothing was removed")
	}
	if err := app.RemovePlugin(cfg, "acme", yes, io.Discard); err != nil {
		t.Error(err)
	}
	if err := app.RemovePlugin(cfg, "acme", yes, io.Discard); err == nil || !strings.Contains(err.Error(), "there is no plugin") {
		t.Errorf("removed again: got %v, want that there is none", err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reindexed is an archive whose index says something else.
func reindexed(t *testing.T, from string, change func(*archive.Index, *string)) string {
	t.Helper()
	file, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "other.tar.gz")
	made, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewWriterLevel(made, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	old, next := tar.NewReader(compressed), tar.NewWriter(packed)
	var texts []string
	var heads []*tar.Header
	for {
		head, err := old.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(old)
		if err != nil {
			t.Fatal(err)
		}
		heads, texts = append(heads, head), append(texts, string(text))
	}
	var x archive.Index
	if err := json.Unmarshal([]byte(texts[0]), &x); err != nil {
		t.Fatal(err)
	}
	change(&x, &texts[1])
	raw, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	texts[0] = string(raw)
	for n, head := range heads {
		head.Size = int64(len(texts[n]))
		if err := next.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(next, texts[n]); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []io.Closer{next, packed, made} {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
