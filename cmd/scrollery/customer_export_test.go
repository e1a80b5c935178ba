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
	From   string
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

// exports downloads over a proxy that cuts the stream twice in one run, then in each
// stream of a run that gives up, and compares with an export that was not cut.
func exports(t *testing.T, caller *apptest.Caller) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.zip")
	direct := newTerminal(t, map[string]string{"SCROLLERY_SERVER": caller.Address(), "SCROLLERY_KEY": caller.Key})
	direct.must(t, customers.ExitDone, "export", whole)
	want := readExport(t, whole)

	// The server sends 64 KiB at once: a shorter stream brings nothing.
	cuts := []int{70_000, 20_000}
	var streams atomic.Int32
	var interrupt atomic.Pointer[context.CancelFunc] // set: one stream is cut, and the next one interrupts
	server := between(t, caller.Address(), func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
		if strings.HasSuffix(r.URL.Path, "/ExportAccount") {
			n := int(streams.Add(1))
			if stop := interrupt.Load(); stop != nil && n == 2 {
				interrupt.Store(nil)
				(*stop)()
				return w, false
			} else if stop != nil {
				return &cutting{ResponseWriter: w, left: cuts[0]}, true
			}
			if n <= len(cuts) {
				return &cutting{ResponseWriter: w, left: cuts[n-1]}, true
			}
		}
		return w, true
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": server, "SCROLLERY_KEY": caller.Key})
	pieces := filepath.Join(dir, "pieces.zip")
	result := c.must(t, customers.ExitDone, "export", pieces)
	if got := strings.Count(result.stderr, "continuing with "); got != len(cuts) || streams.Load() != int32(len(cuts)+1) {
		t.Errorf("%d streams, %d of them continued, want %d and %d:\n%s", streams.Load(), got, len(cuts)+1, len(cuts), result.stderr)
	}
	got := readExport(t, pieces)
	// Each export counts the calls before it.
	moving := []string{"events", "usage", "audit"}
	for i := range want.Files {
		name := strings.TrimSuffix(strings.TrimSuffix(want.Files[i].Name, ".csv"), ".ndjson")
		if slices.Contains(moving, name) && i < len(got.Files) {
			want.Files[i].Rows, want.Files[i].Bytes, want.Files[i].SHA256 = got.Files[i].Rows, got.Files[i].Bytes, got.Files[i].SHA256
		}
	}
	for _, name := range moving {
		want.Counts[name] = got.Counts[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the manifest of the pieces differs from that of the whole (-want +got):\n%s", diff)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*part*")); len(left) > 0 {
		t.Errorf("%v is left, want none", left)
	}
	c.must(t, customers.ExitFailed, "export", pieces) // never over a file

	t.Run("a later run continues", func(t *testing.T) {
		ctx, stop := contextOf(t)
		streams.Store(0)
		interrupt.Store(&stop)
		later := filepath.Join(dir, "later.zip")
		if got := c.run(ctx, "", "export", later); got.code != customers.ExitFailed || !strings.Contains(got.stderr, "the same command continues") {
			t.Fatalf(`exit %d, want code %v and stderr with "the same command continues": %s`, got.code, customers.ExitFailed, got.stderr)
		}
		if parts, _ := filepath.Glob(later + ".part-*"); len(parts) != 1 {
			t.Fatalf("the parts: %v, want 1", parts)
		}
		streams.Store(100)
		if got := c.must(t, customers.ExitDone, "export", later); !strings.Contains(got.stderr, "continuing with ") {
			t.Errorf(`it began again: %s, want with "continuing with "`, got.stderr)
		}
		if got := readExport(t, later); len(got.Files) != len(want.Files) {
			t.Errorf("got %d files, want %d", len(got.Files), len(want.Files))
		}
	})
	t.Run("the zip of pieces can be imported", func(t *testing.T) {
		data := t.TempDir()
		for _, args := range [][]string{
			{"migrate"},
			{"admin", "keys", "create", "--email", "b@example.com", "--plan", "pro"},
			{"admin", "import", "--email", "b@example.com", pieces},
		} {
			got := runProgram(t, data, args...)
			if got.code != exitDone || len(args) > 1 && args[1] == "import" && !strings.Contains(got.stdout, "120 new") {
				t.Fatalf("%v: got exit %d, want %d, and 120 new videos from the import\n%s%s", args, got.code, exitDone, got.stdout, got.stderr)
			}
		}
	})
}
