package feed

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// asJSON is a record as the tests compare it.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFolders(t *testing.T) {
	t.Parallel()
	line := &fstest.MapFile{Data: []byte("{}")}
	numbered := fstest.MapFS{"1/a.jsonl": line, "2/a.jsonl": line, "2/sub/b.json.gz": line, "2/.hidden.jsonl": line, "2/notes.txt": line, "2/a.csv.map.json": line, "10/c.csv": line, "03/x.jsonl": line, "z.jsonl": line}
	for name, c := range map[string]struct {
		files fstest.MapFS
		run   int
		want  []string
	}{
		"run 1 reads folder 1":                           {numbered, 1, []string{"1/a.jsonl"}},
		"run 2 reads folder 2 and the folders within":    {numbered, 2, []string{"2/a.jsonl", "2/sub/b.json.gz"}},
		"a run without a folder reads the highest below": {numbered, 9, []string{"2/a.jsonl", "2/sub/b.json.gz"}},
		"numbers are compared as numbers":                {numbered, 11, []string{"10/c.csv"}},
		"without numbered folders a run reads all":       {fstest.MapFS{"b.jsonl": line, "a/x.csv": line}, 5, []string{"a/x.csv", "b.jsonl"}},
		"before the lowest folder a run reads that":      {fstest.MapFS{"4/b.jsonl": line}, 1, []string{"4/b.jsonl"}},
		"an empty feed has no files":                     {fstest.MapFS{}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := folder(c.files, c.run)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCollectFromFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(`{"platform":"tiktok","externalId":"3","source":{"handle":"@Rival"}}` + "\n" + `{"platform":"tiktok","externalId":"1","metrics":{"views":9,"observedAt":1767323045000}}`)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.jsonl":    `{"platform":"tiktok","externalId":"1","metrics":{"views":5}}` + "\nbroken\n" + `{"platform":"youtube","externalId":"2","source":{"handle":"Us","kind":"own"}}` + "\n" + `{"platform":"tiktok","externalId":"4","source":{"handle":"rival","kind":"niche"}}`,
		"b.jsonl.gz": packed.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := stage.Call{Run: stage.Run{Number: 1, Now: now, Brief: stage.Brief{Competitors: []string{"https://www.tiktok.com/@rival", "other"}}}, Settings: map[string]string{"dir": dir}}
	recs, outcomes, err := stagetest.Collect(t, Spec(), call, []stage.Seed{{Kind: "competitor", Platform: "tiktok", Handle: "@gone"}})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, rec := range recs {
		kind := "nil"
		if rec.Source != nil {
			kind = rec.Source.Kind
		}
		got += fmt.Sprintf("%s:%s:%s ", rec.ExternalID, kind, rec.Seed)
	}
	if got != "2:own:Us 4:niche:rival 3:competitor:rival 1:nil: " {
		t.Errorf(`records %s, want "2:own:Us 4:niche:rival 3:competitor:rival 1:nil: "`, got)
	}
	got = ""
	for _, o := range outcomes {
		got += fmt.Sprintf("%s/%s %s %d/%d; ", o.Platform, o.Seed, o.Status, o.Returned, o.Asked)
	}
	if want := "tiktok/@gone empty 0/1; tiktok/feed partial 1/2; tiktok/rival ok 2/2; youtube/Us ok 1/1; "; got != want {
		t.Errorf("got the outcomes %s, want %s", got, want)
	}

	recs, outcomes, err = stagetest.Refresh(t, Spec(), call, []stage.Ref{{Platform: "tiktok", ExternalID: "1"}, {Platform: "tiktok", ExternalID: "99"}, {Platform: "youtube", ExternalID: "77"}})
	if err != nil || len(recs) != 1 || *recs[0].Metrics.Views != 9 {
		t.Errorf("refreshed: got %s, error %v; want 1 record with 9 views", asJSON(t, recs), err)
	}
	got = asJSON(t, outcomes)
	if want := `[{"seed":"feed","platform":"tiktok","status":"partial","asked":2,"returned":1},{"seed":"feed","platform":"youtube","status":"empty","asked":1,"returned":0}]`; got != want {
		t.Errorf("got the outcomes %s, want %s", got, want)
	}
}

func TestSampleFitsTheHost(t *testing.T) {
	t.Parallel()
	recs, _, err := stagetest.Collect(t, Spec(), stage.Call{Run: stage.Run{Number: 3, Now: now}, Settings: map[string]string{"dir": Sample}}, nil)
	if err != nil || len(recs) != 130 {
		t.Errorf("got %d records, error %v; want 130", len(recs), err)
	}
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	_, _, err := stagetest.Collect(t, Spec(), stage.Call{Settings: map[string]string{"dir": filepath.Join(t.TempDir(), "gone")}}, nil)
	var fault *stage.Error
	if err == nil || !asFault(err, &fault) || fault.Fault != stage.FaultMisconfigured {
		t.Errorf("got %v, want the fault %v", err, stage.FaultMisconfigured)
	}
}

func asFault(err error, to **stage.Error) bool {
	fault, ok := err.(*stage.Error)
	*to = fault
	return ok
}

func BenchmarkJSONLines(b *testing.B) {
	packed, err := sampleLibrary.Open("sample/3/videos.jsonl.gz")
	if err != nil {
		b.Fatal(err)
	}
	unzip, err := gzip.NewReader(packed)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(unzip)
	if err != nil {
		b.Fatal(err)
	}
	files := fstest.MapFS{"videos.jsonl": {Data: text}}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := formats.Read(context.Background(), files, []string{"videos.jsonl"}, formats.Options{Now: now}, func(stage.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
