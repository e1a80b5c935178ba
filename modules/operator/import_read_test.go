package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/formats"
)

// feedFile writes a file of so many videos and of lines that are none, and returns its path.
func feedFile(t *testing.T, name string, videos, broken int) string {
	t.Helper()
	var text strings.Builder
	for i := range videos {
		fmt.Fprintf(&text, `{"platform":"tiktok","externalId":"%s%d","metrics":{"views":%d,"observedAt":1750000000000}}`+"\n", name, i, i)
	}
	text.WriteString(strings.Repeat("{\n", broken))
	path := filepath.Join(t.TempDir(), name+".jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readingOfFiles(t *testing.T, ctx context.Context, input io.Reader, paths ...string) *fileReading {
	t.Helper()
	files, err := findFiles(paths)
	if err != nil {
		t.Fatal(err)
	}
	r := readFiles(ctx, InputFiles{Paths: paths, Input: input}, files)
	t.Cleanup(r.stop)
	return r
}

func TestReadingBesideTheCallerKeepsTheOrder(t *testing.T) {
	t.Parallel()
	r := readingOfFiles(t, t.Context(), nil, feedFile(t, "a", 2*importBatch+7, 1), feedFile(t, "b", 3*importBatch, 2))
	var got, want []string
	for _, file := range []struct {
		name   string
		videos int
	}{{"a", 2*importBatch + 7}, {"b", 3 * importBatch}} {
		for i := range file.videos {
			want = append(want, fmt.Sprintf("%s%d", file.name, i))
		}
	}
	var sizes []int
	for {
		batch, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(batch))
		for _, reading := range batch {
			got = append(got, reading.Record.ExternalID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("videos (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{importBatch, importBatch, importBatch, importBatch, importBatch, 7}, sizes); diff != "" {
		t.Errorf("sizes of batches (-want +got):\n%s", diff)
	}
	var counts [][2]int
	for _, read := range r.filesRead() {
		counts = append(counts, [2]int{read.report.Videos, read.report.Skipped()})
	}
	if diff := cmp.Diff([][2]int{{2*importBatch + 7, 1}, {3 * importBatch, 2}}, counts); diff != "" {
		t.Errorf("videos and skips of the files (-want +got):\n%s", diff)
	}
}

// TestAPageIsPassedOverInAFolderAlone: in the folder of a download a page without videos is another
// file, and one that was named cannot be read.
func TestAPageIsPassedOverInAFolderAlone(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "start.html")
	if err := os.WriteFile(page, []byte("<!DOCTYPE html><title>Your data</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]formats.Reason{page: formats.Unreadable, filepath.Dir(page): formats.OtherFile} {
		r := readingOfFiles(t, t.Context(), nil, path)
		if _, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if got := r.filesRead()[0].report; len(got.Skips) != 1 || got.Count(want) != 1 {
			t.Errorf("%s: got %+v, want %s alone", path, got.Skips, want)
		}
	}
}

// TestReadingIsAheadBySomeBatches: what is read and not taken is bounded, and a reading
// that is stopped has a report of what it read.
func TestReadingIsAheadBySomeBatches(t *testing.T) {
	t.Parallel()
	r := readingOfFiles(t, t.Context(), nil, feedFile(t, "a", 20*importBatch, 0))
	if _, err := r.next(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); len(r.batches) < readAhead; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got %d batches ahead, want %d", len(r.batches), readAhead)
		}
	}
	r.stop()
	const most = (1 + readAhead + 1) * importBatch // taken, waiting, and the one without a place
	if got := r.filesRead()[0].report.Videos; got < (1+readAhead)*importBatch || got > most {
		t.Errorf("got %d videos read, want %d to %d", got, (1+readAhead)*importBatch, most)
	}
}

// TestErrorOfAFileComesAfterItsBatches: what was read before it is handed out first.
func TestErrorOfAFileComesAfterItsBatches(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "export.zip")
	if err := os.WriteFile(broken, []byte("no export"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := readingOfFiles(t, t.Context(), nil, feedFile(t, "a", 2*importBatch, 0), broken)
	for range 2 {
		if batch, err := r.next(); err != nil || len(batch) != importBatch {
			t.Fatalf("got a batch of %d, %v; want %d", len(batch), err, importBatch)
		}
	}
	if _, err := r.next(); err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("got %v, want an error of %s", err, broken)
	}
}

// panics is an input with a fault of ours.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("at the first byte") }

func TestPanicOfTheReaderIsAnErrorOfTheImport(t *testing.T) {
	t.Parallel()
	r := readingOfFiles(t, t.Context(), panics{}, "-")
	if _, err := r.next(); err == nil || !strings.Contains(err.Error(), "at the first byte") {
		t.Errorf("got %v, want the panic as an error", err)
	}
}

// TestReadingEndsBesideAnIdleInput: nothing waits for an input that gives nothing.
func TestReadingEndsBesideAnIdleInput(t *testing.T) {
	t.Parallel()
	input, feed := io.Pipe()
	t.Cleanup(func() { _ = feed.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	r := readingOfFiles(t, ctx, input, "-")
	taken := make(chan error)
	go func() {
		_, err := r.next()
		taken <- err
	}()
	cancel()
	if err := <-taken; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	r.stop() // returns, although the reader still waits
	if got := r.filesRead()[0].report.Videos; got != 0 {
		t.Errorf("got %d videos, want none", got)
	}
}
