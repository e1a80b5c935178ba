package app_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// TestExportComesBack exports an account, imports it into an empty one and compares both.
func TestExportComesBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner := travel(t, running)
		videos := idsIn(t, owner, everything(t, owner))["vid_"]
		for _, call := range []string{
			fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"note":"=mine"}}`, videos[0]),
			fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":true}`, videos[1]),
			fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"scope":"hook","archived":true}`, videos[2]),
			`PUT /v1/sandbox/files {"path":"notes/a.js","data":"print(1)"}`,
		} {
			owner.Get(t, call, &struct{}{})
		}
		var hook struct{ Secret string }
		owner.Get(t, `POST /v1/webhooks/create {"url":"https://hooks.scrollery.dev/mine","types":["key.revoked"]}`, &hook)
		var feed struct{ Changes []struct{ ID string } }
		owner.Get(t, "GET /v1/changes?limit=1", &feed)
		answer := owner.Do(t, "GET /v1/account/export", "")
		if answer.Status != http.StatusOK || answer.Header.Get("Content-Type") != "application/zip" {
			t.Fatalf("export: got %d, %s; want 200, application/zip", answer.Status, answer.Header.Get("Content-Type"))
		}
		files := unzipped(t, answer.Body)
		if got := files["files/notes/a.js"]; got != "print(1)" {
			t.Errorf("sandbox file: got %q, want print(1)", got)
		}
		for name, content := range files {
			if strings.Contains(content, owner.Key) || strings.Contains(content, "\"hash\"") || strings.Contains(content, hook.Secret) || strings.Contains(content, "\"secret\"") {
				t.Errorf("%s: got a secret in it, want neither the key, a hash nor the webhook's secret", name)
			}
		}
		for _, name := range []string{"workspace", "rules", "scrolls", "verdicts", "trends", "keys", "subscription", "usage", "events", "changes", "webhooks", "scores/first", "hooks/first"} {
			if files[name+".ndjson"] == "" {
				t.Errorf("%s: got an empty file, want an item", name)
			}
		}
		if first := feed.Changes[0].ID; hook.Secret == "" || !strings.HasPrefix(files["changes.ndjson"], `{"id":"`+first+`",`) {
			t.Errorf("changes: got %.200s, want the change %s first; secret of the webhook: got %d bytes, want some", files["changes.ndjson"], first, len(hook.Secret))
		}
		compareStream(t, running, owner, files)

		path := filepath.Join(t.TempDir(), "export.zip")
		if err := os.WriteFile(path, answer.Body, 0o600); err != nil {
			t.Fatal(err)
		}
		heir := running.Account(t, "pro")
		order := operator.ImportOrder{Email: heir.Email, InputFiles: operator.InputFiles{Paths: []string{path}}}
		report, err := running.Operator().Import(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		if report.Total.New < 50 || report.Total.Read == 0 || len(report.Total.Skipped) > 0 {
			t.Errorf("import: got %+v, want at least 50 new, and none skipped", report.Total)
		}
		for _, view := range []string{"workspace", "rules"} {
			if !strings.Contains(heir.Read(t, "GET /v1/"+view), "\"createdAt\"") {
				t.Errorf("got no %s after the import, want that of the owner", view)
			}
		}
		for _, what := range []struct {
			name string
			of   func(*testing.T, *apptest.Caller) map[string]string
		}{{"outliers", scoresOf}, {"videos", videosOf}, {"readings", readingsOf}, {"hooks", hooksOf}} {
			t.Run(what.name+" come back", func(t *testing.T) {
				want, got := what.of(t, owner), what.of(t, heir)
				if len(want) < 3 {
					t.Errorf("got %d %s of the owner, want at least 3 to compare", len(want), what.name)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s after the import (-want +got):\n%s", what.name, diff)
				}
			})
		}
		again, err := running.Operator().Import(t.Context(), order)
		if err != nil || again.Total.New+again.Total.SeenAgain > 0 {
			t.Errorf("the same import again: got %+v, error %v; want nothing new", again.Total, err)
		}
	}, sampleFeed)
}

// TestForeignExportsKeepTheBounds: what no call may store, no import of an export stores.
func TestForeignExportsKeepTheBounds(t *testing.T) {
	t.Parallel()
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	annotations := map[string]string{}
	for i := range 300 {
		annotations[fmt.Sprint("key", i)] = "x"
	}
	marked, _ := json.Marshal(annotations)
	video := func(marks string) string {
		return `{"id":"vid_1","platform":"tiktok","externalId":"1","video":{"sourceUrl":"javascript:alert(1)","agentMetadata":` + marks + "}}\n"
	}
	const workspace, rules, videos = "workspace.ndjson", "rules.ndjson", "videos/first.ndjson"
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		for name, c := range map[string]struct {
			files map[string]string
			want  string // a part of the error
		}{
			"a description of 5 MB":   {map[string]string{workspace: `{"description":"` + strings.Repeat("x", 5<<20) + `"}` + "\n"}, "description must be at most 20000 characters"},
			"100,000 competitors":     {map[string]string{workspace: `{"description":"x","competitors":[` + many(100_000, `"@a"`) + `]}` + "\n"}, "competitors must have at most 20 items"},
			"a long competitor":       {map[string]string{workspace: `{"description":"x","competitors":["` + strings.Repeat("a", 301) + `"]}` + "\n"}, "competitors[0] must be at most 300 characters"},
			"NUL":                     {map[string]string{workspace: `{"description":"a\u0000b"}` + "\n"}, "description must be text without NUL"},
			"a script for a website":  {map[string]string{workspace: `{"description":"x","website":"javascript:alert(1)"}` + "\n"}, "website"},
			"rules of 10 MB":          {map[string]string{workspace: `{"description":"x"}` + "\n", rules: `{"text":"` + strings.Repeat("no giveaways ", 800_000) + `"}` + "\n"}, "text must be at most 20000 characters"},
			"300 keys of annotations": {map[string]string{workspace: `{"description":"x"}` + "\n", videos: video(string(marked))}, "agentMetadata must have at most 50 keys"},
			"an annotation with NUL":  {map[string]string{workspace: `{"description":"x"}` + "\n", videos: video(`{"a":"b\u0000"}`)}, "agentMetadata.a must be text without NUL"},
			"deep annotations":        {map[string]string{workspace: `{"description":"x"}` + "\n", videos: video(`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)}, "agentMetadata.a"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				victim := running.Account(t, "pro")
				order := operator.ImportOrder{Email: victim.Email, InputFiles: operator.InputFiles{Paths: []string{forgedExport(t, c.files)}}}
				if _, err := running.Operator().Import(t.Context(), order); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %.300v, want an error with %q", err, c.want)
				}
				for _, path := range []string{"/v1/workspace", "/v1/rules", "/v1/library"} {
					if got := victim.Read(t, "GET "+path); len(got) > 2000 || strings.Contains(got, "key299") || strings.Contains(got, "javascript:") {
						t.Errorf("%s after the import: got %.300s, want nothing beyond the bounds", path, got)
					}
				}
			})
		}
	})
}

// forgedExport writes an export with the sums of its files, and returns its path.
func forgedExport(t *testing.T, files map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	out := zip.NewWriter(&packed)
	add := func(name, text string) {
		to, err := out.Create(name)
		if err == nil {
			_, err = to.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var listed []map[string]string
	for name, text := range files {
		add(name, text)
		listed = append(listed, map[string]string{"name": name, "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))})
	}
	manifest, err := json.Marshal(map[string]any{"format": "scrollery-export", "version": 1, "files": listed})
	if err != nil {
		t.Fatal(err)
	}
	add("manifest.json", string(manifest))
	path := filepath.Join(t.TempDir(), "export.zip")
	if err := errors.Join(out.Close(), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func unzipped(t *testing.T, text []byte) map[string]string {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range reader.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
		files[file.Name] = string(content)
	}
	return files
}

// compareStream fetches the videos over every other protocol.
func compareStream(t *testing.T, running *apptest.Running, owner *apptest.Caller, want map[string]string) {
	t.Helper()
	for _, protocol := range apptest.Protocols() {
		client := scrolleryv1connect.NewAccountServiceClient(protocol.Client(), running.BaseURL, owner.Options(protocol)...)
		stream, err := client.ExportAccount(t.Context(), &pb.ExportAccountRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for stream.Receive() {
			text.Write(stream.Msg().GetChunk())
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		_ = stream.Close()
		got := unzipped(t, text.Bytes())
		if got["videos/first.ndjson"] == "" {
			t.Errorf("%s: got no videos/first.ndjson, want the videos", protocol.Name)
		}
		for _, moves := range []string{"manifest.json", "events.ndjson", "usage.ndjson"} { // with each call
			delete(got, moves)
		}
		for name, content := range got {
			if diff := cmp.Diff(want[name], content); diff != "" {
				t.Errorf("%s: %s (-want REST +got):\n%s", protocol.Name, name, diff)
			}
		}
	}
}

// scoresOf are the outliers of an account, by the platform's id.
func scoresOf(t *testing.T, account *apptest.Caller) map[string]string {
	t.Helper()
	var list struct {
		Outliers []struct {
			Video                                         struct{ Platform, ExternalID string }
			Score, BaselineViews, SampleCount, ObservedAt float64
		}
	}
	account.Get(t, "GET /v1/outliers?limit=25&includeArchived=true", &list)
	all := map[string]string{}
	for place, o := range list.Outliers {
		all[o.Video.Platform+"/"+o.Video.ExternalID] = fmt.Sprint(place, o.Score, o.BaselineViews, o.SampleCount, o.ObservedAt)
	}
	return all
}

// videosOf are the videos of an account without what is its own: ids and times.
func videosOf(t *testing.T, account *apptest.Caller) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, archived := range []bool{false, true} {
		for cursor := ""; ; {
			var page struct {
				Videos     []map[string]json.RawMessage
				NextCursor *string
			}
			account.Get(t, fmt.Sprintf("GET /v1/library?limit=25&includeArchived=%v%s", archived, cursor), &page)
			for _, video := range page.Videos {
				name := string(video["platform"]) + string(video["externalId"])
				for _, own := range []string{"id", "firstSeenAt", "lastSeenAt"} {
					delete(video, own)
				}
				text, err := json.Marshal(video)
				if err != nil {
					t.Fatal(err)
				}
				all[fmt.Sprint(name, archived)] = string(text)
			}
			if page.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *page.NextCursor
		}
	}
	return all
}

// readingsOf are the observations of an account, from its export.
func readingsOf(t *testing.T, account *apptest.Caller) map[string]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(unzipped(t, account.Do(t, "GET /v1/account/export", "").Body)["observations/first.ndjson"]) {
		var o struct {
			Platform, ExternalID                              string
			ObservedAt, Views, Likes, Comments, Shares, Saves *int64
			Semantics                                         string
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(o)
		all[o.Platform+"/"+o.ExternalID] = append(all[o.Platform+"/"+o.ExternalID], string(text))
	}
	flat := map[string]string{}
	for name, readings := range all {
		slices.Sort(readings)
		flat[name] = strings.Join(slices.Compact(readings), "\n")
	}
	return flat
}

// hooksOf are the evidence of an account, without versions, from its export.
func hooksOf(t *testing.T, account *apptest.Caller) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(unzipped(t, account.Do(t, "GET /v1/account/export", "").Body)["hooks/first.ndjson"]) {
		var o struct {
			Platform, ExternalID string
			Archived             bool
			Hook                 map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		delete(o.Hook, "version")
		text, _ := json.Marshal(o)
		all[o.Platform+"/"+o.ExternalID] = string(text)
	}
	return all
}
