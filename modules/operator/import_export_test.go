package operator

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// exportOf writes an export of some files, with the sums of all but those in unsummed, and
// returns its path.
func exportOf(t *testing.T, files map[string]string, unsummed ...string) string {
	t.Helper()
	type listed struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}
	var all []listed
	path := filepath.Join(t.TempDir(), "export.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := zip.NewWriter(file)
	write := func(name, text string) {
		to, err := out.Create(name)
		if err == nil {
			_, err = to.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		write(name, text)
		all = append(all, listed{name, hex.EncodeToString(sum[:])})
	}
	for _, name := range unsummed {
		all = append(all, listed{Name: name})
	}
	manifest, err := json.Marshal(map[string]any{"format": exportFormat, "version": exportVersion, "files": all})
	if err != nil {
		t.Fatal(err)
	}
	write(exportManifest, string(manifest))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestForgedExports(t *testing.T) {
	t.Parallel()
	const videos, readings = "videos/first.ndjson", "observations/first.ndjson"
	video := func(more string) string {
		return `{"id":"vid_1","platform":"tiktok","externalId":"1","video":{` + more + `}}` + "\n"
	}
	for _, c := range []struct {
		name     string
		files    map[string]string
		unsummed []string
		want     []string // the records, or else
		refusal  string
	}{
		{"a video has its readings", map[string]string{videos: video(""), readings: `{"videoId":"vid_1","views":5}` + "\n" + `{"videoId":"vid_1","views":6}` + "\n"}, nil, []string{"1 5", "1 6"}, ""},
		{"a video without readings stays", map[string]string{videos: video("")}, nil, []string{"1 none"}, ""},
		{"readings of others are left out", map[string]string{videos: video(""), readings: `{"videoId":"vid_2","views":5}` + "\n"}, nil, []string{"1 none"}, ""},
		{"annotations are an object", map[string]string{videos: video(`"agentMetadata":[1]`)}, nil, nil, `agentMetadata of the tiktok video "1" is not an object`},
		{"a listed file has a sum", map[string]string{videos: video("")}, []string{"videos/vid_1.ndjson"}, nil, "lists videos/vid_1.ndjson without its SHA-256"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			x, err := openExport(exportOf(t, c.files, c.unsummed...))
			if err == nil {
				defer x.close()
				_, err = x.records(t.Context(), func(r stage.Record) error {
					views := "none"
					if r.Metrics.Views != nil {
						views = strconv.FormatInt(*r.Metrics.Views, 10)
					}
					got = append(got, r.Ref.ExternalID+" "+views)
					return nil
				})
			}
			if c.refusal == "" && err != nil || c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)) {
				t.Errorf("got %v, want a refusal with %q", err, c.refusal)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records, -want +got:\n%s", diff)
			}
		})
	}
}

// TestABombIsNoExport: a small file that unpacks to any size ends after its bound, and one
// of many files is not looked at.
func TestABombIsNoExport(t *testing.T) {
	t.Parallel()
	line := `{"videoId":"vid_1"` + strings.Repeat(" ", 1<<20) + "}\n"
	path := exportOf(t, map[string]string{"videos/first.ndjson": "", "hooks/first.ndjson": strings.Repeat(line, 70)})
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Fatalf("the bomb: got %v, %v; want less than a megabyte", info.Size(), err)
	}
	x, err := openExport(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	if _, err := x.records(t.Context(), func(stage.Record) error { return nil }); !errors.Is(err, errBomb) {
		t.Errorf("70 MB of a bomb: got %v, want %v", err, errBomb)
	}
	many := map[string]string{}
	for i := range mostEntries {
		many[strconv.Itoa(i)] = ""
	}
	if _, err := openExport(exportOf(t, many)); err == nil || !strings.Contains(err.Error(), "files") {
		t.Errorf("%d files and a manifest: got %v, want a refusal", len(many), err)
	}
}
