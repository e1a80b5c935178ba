package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/archive"
)

// file is one file of an export, and rows what the manifest says of it.
type file struct {
	name, text string
	rows       int64
}

// parts are an export: each begins where the server can begin.
var parts = []struct {
	from  string
	files []file
}{
	{"workspace", []file{{"workspace.ndjson", "{}\n", 1}, {"workspace.csv", "id\n1\n", 1}}},
	{"rules", []file{{"rules.ndjson", "", 0}, {"rules.csv", "id\n", 0}}},
	{"videos/first", []file{
		{"videos/first.ndjson", "{\"a\":\"\\n\"}\n{}\n", 2},
		{"videos/first.csv", "id,caption\n1,\"two\nlines \"\"quoted\"\"\"\n2,x\n", 2},
		{"hooks/first.ndjson", "{}\n", 1},
		{"hooks/first.csv", "id\n1\n", 1},
	}},
	{"videos/vid_2", []file{{"videos/vid_2.ndjson", "{}\n", 1}, {"videos/vid_2.csv", "id\n3\n", 1}}},
	{"files", []file{{"files/a.csv", "x,y\n1,2\n", 0}, {"files/deep/b.txt", strings.Repeat("text ", 50), 0}}},
}

// export is the stream of a server, beginning with a part.
func export(t *testing.T, from string) (stream []byte, manifest map[string]any) {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	listed, counts := []any{}, map[string]any{}
	begun := from == ""
	for _, part := range parts {
		if begun = begun || part.from == from; !begun {
			continue
		}
		for _, f := range part.files {
			to, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(to, f.text)
			sum := sha256.Sum256([]byte(f.text))
			listed = append(listed, map[string]any{"name": f.name, "rows": float64(f.rows), "bytes": float64(len(f.text)), "sha256": hex.EncodeToString(sum[:])})
			kind, _, _ := strings.Cut(strings.TrimSuffix(f.name, ".ndjson"), "/")
			before, _ := counts[kind].(float64)
			if kind == "files" {
				counts[kind] = before + 1
			} else if strings.HasSuffix(f.name, ".ndjson") {
				counts[kind] = before + float64(f.rows)
			}
		}
	}
	if !begun {
		t.Fatalf("no part %q, want begun", from)
	}
	manifest = map[string]any{"format": "scrollery-export", "version": 1.0, "accountId": "acct_1", "createdAt": 1.0, "from": from, "counts": counts, "files": listed}
	to, err := w.Create("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(to).Encode(manifest); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), manifest
}

// contents are the files of a zip, the manifest apart.
func contents(t *testing.T, text []byte) (names []string, texts map[string]string, manifest map[string]any) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		names, texts[f.Name] = append(names, f.Name), string(body)
	}
	if err := json.Unmarshal([]byte(texts["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	delete(texts, "manifest.json")
	return names, texts, manifest
}

// TestCutAnywhere cuts an export after each seventh byte, cuts its continuation again, and
// compares what comes of the pieces with the export that was not cut.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	whole, wantManifest := export(t, "")
	wantNames, wantTexts, _ := contents(t, whole)
	streams := map[string][]byte{"": whole} // writing a zip takes longest
	begun := map[string]int{}
	piece, err := os.Create(filepath.Join(t.TempDir(), "part"))
	if err != nil {
		t.Fatal(err)
	}
	defer piece.Close()
	for at := 0; at < len(whole); at += 7 {
		if err := piece.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := piece.WriteAt(whole[:at], 0); err != nil {
			t.Fatal(err)
		}
		for again := range 2 {
			from, err := archive.Resume(piece)
			if err != nil {
				t.Fatal(err)
			}
			begun[from]++
			if streams[from] == nil {
				streams[from], _ = export(t, from)
			}
			next := streams[from]
			if again == 0 {
				next = next[:len(next)*at/len(whole)]
			}
			if _, err := piece.Write(next); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := archive.Finish(piece, &out); err != nil {
			t.Fatalf("cut at %d: %v", at, err)
		}
		names, texts, manifest := contents(t, out.Bytes())
		if diff := cmp.Diff([]any{wantNames, wantTexts, wantManifest}, []any{names, texts, manifest}); diff != "" {
			t.Fatalf("cut at %d: the pieces differ from the whole (-want +got):\n%s", at, diff)
		}
	}
	for _, part := range parts[1:] {
		if begun[part.from] == 0 {
			t.Errorf("no cut continued with %s, want begun[part.from] not 0: %v", part.from, begun)
		}
	}
}

func TestPiecesThatAreRefused(t *testing.T) {
	t.Parallel()
	whole, _ := export(t, "")
	open := func(t *testing.T, text []byte) *os.File {
		piece, err := os.Create(filepath.Join(t.TempDir(), "part"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = piece.Close() })
		if _, err := piece.Write(text); err != nil {
			t.Fatal(err)
		}
		return piece
	}
	t.Run("an export without its end", func(t *testing.T) {
		t.Parallel()
		cut := whole[:len(whole)/2]
		if err := archive.Finish(open(t, cut), io.Discard); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf(`got %v, want an error and text with "cut off"`, err)
		}
	})
	t.Run("a file that is missing", func(t *testing.T) {
		t.Parallel()
		at := bytes.Index(whole[1:], []byte("PK\x03\x04")) + 1
		if err := archive.Finish(open(t, whole[at:]), io.Discard); err == nil || !strings.Contains(err.Error(), "lacks files") {
			t.Errorf(`got %v, want an error and text with "lacks files"`, err)
		}
	})
	t.Run("a bit that differs", func(t *testing.T) {
		t.Parallel()
		kept := 0
		for at := 0; at < len(whole); at += 17 {
			changed := bytes.Clone(whole)
			changed[at] ^= 1
			var out bytes.Buffer
			if archive.Finish(open(t, changed), &out) != nil {
				continue
			}
			kept++ // in the parts of the zip that are written anew
			_, texts, _ := contents(t, out.Bytes())
			for _, part := range parts {
				for _, f := range part.files {
					if texts[f.name] != f.text {
						t.Fatalf("byte %d: %s is %q, want %v", at, f.name, texts[f.name], f.text)
					}
				}
			}
		}
		if kept > len(whole)/17*3/4 {
			t.Errorf("got %d of %d changes unseen, want at most three quarters", kept, len(whole)/17)
		}
	})
	t.Run("no zip", func(t *testing.T) {
		t.Parallel()
		piece := open(t, []byte(fmt.Sprintf("%099d", 0)))
		if from, err := archive.Resume(piece); from != "" || err != nil {
			t.Errorf("got %q, %v, want from empty and no error", from, err)
		}
		if info, err := piece.Stat(); err != nil || info.Size() != 0 {
			t.Errorf("got %d bytes kept, error %v; want 0", info.Size(), err)
		}
	})
}
