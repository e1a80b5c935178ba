package readerhost

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/programs/reader"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestMain(m *testing.M) {
	host.Dispatch(os.Args, nil, host.Main{ID: reader.ID, Serve: reader.Main})
	os.Exit(m.Run())
}

func readers(t *testing.T) *Host {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	plugins, err := host.New(host.Config{Start: time.Minute}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plugins.Close() })
	return New(plugins.Processes, log)
}

// read has a file read, and returns the records and what was understood.
func read(t *testing.T, h *Host, name string, write func(io.Writer) error) (records []stage.Record, understood imports.Understood, err error) {
	t.Helper()
	file := imports.File{Name: name, ObservedAt: 1_760_000_000_000, Write: write}
	understood, err = h.Read(viewer.As(t.Context(), 1), file, func(some []stage.Record) error {
		records = append(records, some...)
		return nil
	})
	return records, understood, err
}

// times writes a text so often.
func times(text string, n int) func(io.Writer) error {
	return func(out io.Writer) error {
		const atOnce = 1000
		many := strings.Repeat(text, atOnce)
		for ; n >= atOnce; n -= atOnce {
			if _, err := io.WriteString(out, many); err != nil {
				return err
			}
		}
		_, err := io.WriteString(out, strings.Repeat(text, n))
		return err
	}
}

// all writes one after the other.
func all(parts ...func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		for _, part := range parts {
			if err := part(out); err != nil {
				return err
			}
		}
		return nil
	}
}

func packed(write func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		w, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
		if err != nil {
			return err
		}
		return errors.Join(write(w), w.Close())
	}
}

func zipOf(entries map[string]func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		w := zip.NewWriter(out)
		for name, write := range entries {
			part, err := w.Create(name)
			if err == nil {
				err = write(part)
			}
			if err != nil {
				return err
			}
		}
		return w.Close()
	}
}

// TestHostileFiles reads files that are made to hurt in the process with its bound of
// memory. Each ends with a reason in words, and the next file is read.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	h := readers(t)
	const gigabyte = 1 << 30
	names := func(out io.Writer) error {
		for i := range 1_000_000 {
			if _, err := fmt.Fprintf(out, "column%d,", i); err != nil {
				return err
			}
		}
		_, err := io.WriteString(out, "last\n1,2\n")
		return err
	}
	entries := map[string]func(io.Writer) error{}
	for i := range 12_000 {
		entries[fmt.Sprintf("%d.csv", i)] = times("", 0)
	}
	const id = "7290000000000000001"
	for _, c := range []struct {
		name, file string
		write      func(io.Writer) error
		// reason of a skip; empty for a file that breaks its process.
		reason string
		videos int
	}{
		{"a table with a line of 1 GiB", "a.csv.gz", packed(all(times("platform,id,views\n", 1), times("0123456789abcdef", gigabyte/16), times("\ntiktok,"+id+",5\n", 1))), "too_long", 1},
		{"JSON Lines with a line of 1 GiB", "a.jsonl.gz", packed(all(times("0123456789abcdef", gigabyte/16), times("\n"+`{"platform":"tiktok","externalId":"`+id+`"}`+"\n", 1))), "too_long", 1},
		{"JSON with a text of 256 MiB", "a.json.gz", packed(all(times(`[{"id":"`, 1), times("0123456789abcdef", gigabyte/64), times(`"}]`, 1))), "too_long", 0},
		{"a million columns", "a.csv", names, "unreadable", 0},
		{"a quote that never closes", "a.csv.gz", packed(all(times("platform,id,views\n\"", 1), times("a,b\n", 1_000_000))), "too_long", 0},
		{"lists in lists", "a.json", times("[", 2_000_000), "", 0},
		{"objects in objects", "a.json", times(`{"a":`, 2_000_000), "", 0},
		{"a zip bomb", "a.zip", zipOf(map[string]func(io.Writer) error{"a.csv": times("0123456789abcdef", gigabyte/16)}), "too_long", 0},
		{"a zip in a zip in a zip", "a.zip", zipOf(map[string]func(io.Writer) error{"b.zip": zipOf(map[string]func(io.Writer) error{"c.zip": zipOf(map[string]func(io.Writer) error{"a.csv": times("id,views\n"+id+",5\n", 1)})})}), "unreadable", 0},
		{"a zip bomb in a zip", "a.zip", zipOf(map[string]func(io.Writer) error{"b.zip": zipOf(map[string]func(io.Writer) error{"a.csv": times("0123456789abcdef", gigabyte/16)})}), "too_long", 0},
		{"a zip of 12,000 files", "a.zip", zipOf(entries), "unreadable", 0},
		{"formulas", "a.csv", times("id,views,handle\n"+id+",5,\"=HYPERLINK(\"\"http://x.example\"\")\"\n=cmd|' /C calc'!A0,6,a\n7290000000000000002,6,a\n", 1), "no_id", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, understood, err := read(t, h, c.file, c.write)
			var fault *imports.FileError
			switch {
			case err != nil && !errors.As(err, &fault):
				t.Fatal(err)
			case c.reason == "":
				if len(understood.Skips) == 0 && (fault == nil || fault.Message == "") {
					t.Errorf("got %+v, %v; want a reason in words", understood, err)
				}
			case fault != nil:
				t.Errorf("the process was lost: %v; want %s", fault, c.reason)
			case !slices.ContainsFunc(understood.Skips, func(s imports.Skip) bool { return s.Reason == c.reason && s.Detail != "" }):
				t.Errorf("got the skips %+v, want %s in words", understood.Skips, c.reason)
			}
			if len(records) != c.videos {
				t.Errorf("got %d videos, want %d", len(records), c.videos)
			}
		})
	}
	records, _, err := read(t, h, "a.csv", times("id,views\n"+id+",5\n", 1))
	if err != nil || len(records) != 1 {
		t.Errorf("afterwards: got %d videos, %v; want one", len(records), err)
	}
}

// TestLargeLinesAreRead has a line near the bound: the bound of memory leaves space for it.
func TestLargeLinesAreRead(t *testing.T) {
	t.Parallel()
	line := `{"platform":"tiktok","externalId":"7290000000000000001","metrics":{"views":5},"rest":"` + strings.Repeat("x", 30<<20) + `"}` + "\n"
	records, understood, err := read(t, readers(t), "a.jsonl", func(out io.Writer) error {
		_, err := io.Copy(out, bytes.NewBufferString(line+line))
		return err
	})
	if err != nil || len(records) != 2 {
		t.Errorf("got %d videos, %+v, %v; want two", len(records), understood, err)
	}
}
