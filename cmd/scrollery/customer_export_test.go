package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	return ctx, stop
}

// exportManifest is the last file of an export.
type exportManifest struct {
	Counts map[string]int64
	Files  []struct {
		Name        string
		Rows, Bytes int64
		SHA256      string
	}
}

// readExport checks the files of a zip against its manifest.
func readExport(t *testing.T, path string) (m exportManifest) {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	content := func(file *zip.File) []byte {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		return text
	}
	last := archive.File[len(archive.File)-1]
	if err := json.Unmarshal(content(last), &m); err != nil || last.Name != "manifest.json" || len(m.Files) != len(archive.File)-1 {
		t.Fatalf("got %s as the last file, with %d names, %v; want manifest.json with the %d files before it", last.Name, len(m.Files), err, len(archive.File)-1)
	}
	for i, want := range m.Files {
		text := content(archive.File[i])
		sum := sha256.Sum256(text)
		if archive.File[i].Name != want.Name || int64(len(text)) != want.Bytes || hex.EncodeToString(sum[:]) != want.SHA256 {
			t.Errorf("%s is not as the manifest says: %+v", archive.File[i].Name, want)
		}
	}
	return m
}

// exports downloads over a proxy that cuts the stream twice, and compares with an export that was
// not cut; then over one that cuts each stream.
func exports(t *testing.T, caller *apptest.Caller) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.zip")
	direct := newTerminal(t, map[string]string{"SCROLLERY_SERVER": caller.Address(), "SCROLLERY_KEY": caller.Key})
	direct.must(t, customers.ExitDone, "export", whole)
	want := readExport(t, whole)

	var streams, cuts atomic.Int32
	server := between(t, caller.Address(), func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
		if strings.HasSuffix(r.URL.Path, "/ExportAccount") && streams.Add(1) <= cuts.Load() {
			return &cutting{ResponseWriter: w, left: 10_000}, true
		}
		return w, true
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": server, "SCROLLERY_KEY": caller.Key})
	again := filepath.Join(dir, "again.zip")
	cuts.Store(2)
	result := c.must(t, customers.ExitDone, "export", again)
	if got := strings.Count(result.stderr, "begins again"); got != 2 || streams.Load() != 3 {
		t.Errorf("%d streams, %d of them begun again, want 3 and 2:\n%s", streams.Load(), got, result.stderr)
	}
	got := readExport(t, again)
	// Each export counts the calls before it.
	moving := []string{"events", "usage", "audit"}
	for i := range want.Files {
		if slices.Contains(moving, strings.TrimSuffix(want.Files[i].Name, ".ndjson")) && i < len(got.Files) {
			want.Files[i] = got.Files[i]
		}
	}
	for _, name := range moving {
		want.Counts[name] = got.Counts[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the manifest of the second export differs from that of the first (-want +got):\n%s", diff)
	}
	c.must(t, customers.ExitFailed, "export", again) // never over a file
	t.Run("an interruption leaves nothing", func(t *testing.T) {
		ctx, stop := contextOf(t)
		cuts.Store(1000)
		time.AfterFunc(time.Second, stop)
		if got := c.run(ctx, "", "export", filepath.Join(dir, "later.zip")); got.code != customers.ExitFailed {
			t.Errorf("got exit %d, want %d: %s", got.code, customers.ExitFailed, got.stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
			t.Errorf("got the files %v, want the two exports alone", left)
		}
	})
	t.Run("an export can be imported", func(t *testing.T) {
		data := t.TempDir()
		for _, args := range [][]string{
			{"migrate"},
			{"admin", "keys", "create", "--email", "b@example.com", "--plan", "pro"},
			{"admin", "import", "--email", "b@example.com", again},
		} {
			got := runProgram(t, data, args...)
			if got.code != exitDone || len(args) > 1 && args[1] == "import" && !strings.Contains(got.stdout, "125 new") {
				t.Fatalf("%v: got exit %d, want %d, and 125 new videos from the import\n%s%s", args, got.code, exitDone, got.stdout, got.stderr)
			}
		}
	})
}
