package app_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/imports"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// fileImport is an import as the API shows it.
type fileImport struct {
	ID, Status                                 string
	Percent                                    float64
	NewVideos, SeenAgain, AlreadyThere, NoRoom int
	DeletedVideos, DeletedReadings             int
	ScrollIDs                                  []string
	Failure                                    *string
	UndoUntil                                  *float64
	Report                                     *struct {
		Read    int
		Skipped []struct {
			Reason string
			Count  int
		}
		Days []struct {
			Day      string
			Readings int
		}
	}
}

const aDayOfImports = int64(24 * 3600 * 1000)

// feedLines are videos with numbers from from, each with a reading at a time.
func feedLines(from, n int, at int64) string {
	var lines strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"73000000000000%05d","sourceUrl":"https://www.tiktok.com/@maker%d/video/73000000000000%05d",`+
			`"postedAt":%d,"source":{"handle":"maker%d"},"metadata":{"caption":"slow bar %d #moka"},"metrics":{"views":%d,"likes":7,"observedAt":%d}}`+"\n",
			i, i%5, i, 1_750_000_000_000+int64(i)*60_000, i%5, i, 1000+i, at)
	}
	return lines.String()
}

const importTime = int64(1_760_000_000_000)

// sendFile uploads a file, and returns the status and the answer.
func sendFile(t testing.TB, account *apptest.Caller, path, query string, body io.Reader) (int, map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, account.Address()+path+"?"+query, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+account.Key)
	request.Header.Set("Content-Type", "application/octet-stream")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, out
}

// upload sends a file that has to be taken, and returns the import's id and the outcome.
func upload(t testing.TB, account *apptest.Caller, query, text string) (id, outcome string) {
	t.Helper()
	status, answer := sendFile(t, account, "/v1/imports", query, strings.NewReader(text))
	made, _ := answer["import"].(map[string]any)
	if made == nil || status != http.StatusAccepted && status != http.StatusOK {
		t.Fatalf("upload: got %d %v", status, answer)
	}
	return made["id"].(string), answer["outcome"].(string)
}

// awaitImport waits until an import has a status.
func awaitImport(t testing.TB, account *apptest.Caller, id string, status string) fileImport {
	t.Helper()
	var got struct{ Import fileImport }
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		account.Get(t, "GET /v1/imports?id="+url.QueryEscape(id), &got)
		if got.Import.Status == status {
			return got.Import
		}
		if f := got.Import.Failure; f != nil && status != "failed" {
			t.Fatalf("the import failed: %s", *f)
		}
	}
	t.Fatalf("got %+v, want the status %s", got.Import, status)
	return fileImport{}
}

func quickImports(c *app.Config) { c.Imports.PollEvery = 50 * time.Millisecond }

func importing(t testing.TB, running *apptest.Running) *apptest.Caller {
	t.Helper()
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	return account
}

// listed counts the videos of an account.
func listed(t testing.TB, account *apptest.Caller) int {
	t.Helper()
	var page struct{ Videos []struct{ ID string } }
	account.Get(t, "GET /v1/library?limit=25", &page)
	return len(page.Videos)
}

func TestCustomersImport(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		t.Run("without a workspace it is refused", func(t *testing.T) {
			status, answer := sendFile(t, running.Account(t, "pro"), "/v1/imports", "", strings.NewReader("{}"))
			if answer["error"] != string(apierr.WorkspaceRequired) {
				t.Errorf("got %d %v, want %s", status, answer, apierr.WorkspaceRequired)
			}
		})
		t.Run("a file is stored once for each key", func(t *testing.T) {
			account, other := importing(t, running), importing(t, running)
			id, outcome := upload(t, account, "name=a.jsonl&idempotencyKey=one", feedLines(0, 15, importTime))
			if outcome != "queued" {
				t.Errorf("got %s, want queued", outcome)
			}
			again, outcome := upload(t, account, "name=a.jsonl&idempotencyKey=one", feedLines(0, 15, importTime))
			if again != id || outcome != "existing" {
				t.Errorf("got %s %s, want %s existing", again, outcome, id)
			}
			done := awaitImport(t, account, id, "completed")
			if done.NewVideos != 15 || done.Percent != 100 || done.Report.Read != 15 || len(done.ScrollIDs) != 1 || done.UndoUntil == nil {
				t.Errorf("got %+v, want 15 new videos in one scroll", done)
			}
			if n := listed(t, account); n != 15 {
				t.Errorf("got %d videos, want 15", n)
			}
			second, _ := upload(t, account, "name=b.jsonl", feedLines(10, 10, importTime))
			if done := awaitImport(t, account, second, "completed"); done.NewVideos != 5 || done.AlreadyThere != 5 || done.SeenAgain != 0 {
				t.Errorf("got %+v, want 5 new and 5 already there", done)
			}
			var theirs struct{ Found bool }
			other.Get(t, "GET /v1/imports?id="+id, &theirs)
			var list struct{ Imports []fileImport }
			other.Get(t, "GET /v1/imports/list", &list)
			if theirs.Found || len(list.Imports) != 0 || listed(t, other) != 0 {
				t.Errorf("another account sees the import (found %t), %d imports and %d videos; want nothing", theirs.Found, len(list.Imports), listed(t, other))
			}
			var undone struct{ Found bool }
			other.Get(t, fmt.Sprintf(`POST /v1/imports/undo {"id":%q}`, id), &undone)
			if undone.Found {
				t.Error("another account undoes the import, want it not found")
			}
		})
		t.Run("each day is a run", func(t *testing.T) {
			account := importing(t, running)
			// The newest day comes first, and no video recurs.
			text := feedLines(0, 5, importTime) + feedLines(5, 6, importTime-aDayOfImports) + feedLines(11, 7, importTime-2*aDayOfImports)
			id, _ := upload(t, account, "", text)
			done := awaitImport(t, account, id, "completed")
			if done.NewVideos != 18 || len(done.ScrollIDs) != 3 || len(done.Report.Days) != 3 || done.Report.Days[0].Readings != 7 || done.Report.Days[0].Day != "2025-10-07" {
				t.Errorf("got %+v, report %+v; want three runs, the first of 7 readings", done, done.Report)
			}
		})
		t.Run("undone", func(t *testing.T) {
			account := importing(t, running)
			first, _ := upload(t, account, "", feedLines(0, 15, importTime-aDayOfImports))
			awaitImport(t, account, first, "completed")
			second, _ := upload(t, account, "", feedLines(10, 10, importTime))
			awaitImport(t, account, second, "completed")
			account.Get(t, fmt.Sprintf(`POST /v1/imports/undo {"id":%q}`, second), &struct{}{})
			undone := awaitImport(t, account, second, "undone")
			if undone.DeletedVideos != 5 || undone.DeletedReadings != 10 || undone.UndoUntil != nil {
				t.Errorf("got %+v, want 5 videos and 10 readings deleted", undone)
			}
			var page struct {
				Videos []struct{ Metrics struct{ ObservedAt int64 } }
			}
			account.Get(t, "GET /v1/library?limit=25", &page)
			for _, v := range page.Videos {
				if v.Metrics.ObservedAt != importTime-aDayOfImports {
					t.Errorf("got a video observed at %d, want %d", v.Metrics.ObservedAt, importTime-aDayOfImports)
				}
			}
			if len(page.Videos) != 15 {
				t.Errorf("got %d videos, want 15", len(page.Videos))
			}
			third, _ := upload(t, account, "", feedLines(10, 10, importTime)) // it can come back
			if back := awaitImport(t, account, third, "completed"); back.NewVideos != 5 || back.SeenAgain != 5 {
				t.Errorf("imported again: got %+v, want 5 new and 5 seen again", back)
			}
		})
		t.Run("a preview stores nothing", func(t *testing.T) {
			account := importing(t, running)
			status, answer := sendFile(t, account, "/v1/imports/preview", "name=x.jsonl", strings.NewReader(feedLines(0, 12, importTime)+"{broken\n"))
			first, _ := answer["first"].([]any)
			report, _ := answer["report"].(map[string]any)
			if status != http.StatusOK || len(first) != 5 || report["read"] != 12.0 || answer["units"] != 10.0 {
				t.Errorf("got %d %v, want 12 read, 5 shown and 10 units", status, answer)
			}
			if listed(t, account) != 0 {
				t.Errorf("got %d videos, want none", listed(t, account))
			}
		})
		t.Run("the report says what was understood", func(t *testing.T) { reportsOfImports(t, importing(t, running)) })
		t.Run("a file without videos fails in words", func(t *testing.T) {
			account := importing(t, running)
			id, _ := upload(t, account, "", "no video at all\n")
			if failed := awaitImport(t, account, id, "failed"); failed.Failure == nil || !strings.Contains(*failed.Failure, "No video could be read") {
				t.Errorf("got %+v, want the reason", failed)
			}
		})
		t.Run("over Connect and as a text", func(t *testing.T) {
			account := importing(t, running)
			file, key := []byte(feedLines(0, 3, importTime)), "rpc"
			made, err := account.RPC(apptest.Protocols()[0]).Imports.CreateImport(t.Context(), &scrolleryv1.CreateImportRequest{File: file, IdempotencyKey: &key})
			if err != nil || made.GetOutcome() != "queued" {
				t.Fatalf("got %v, %v; want it queued", made, err)
			}
			if done := awaitImport(t, account, made.GetImport().GetId(), "completed"); done.NewVideos != 3 {
				t.Errorf("got %+v, want 3 new", done)
			}
			body, err := json.Marshal(map[string]any{"text": feedLines(3, 2, importTime)})
			if err != nil {
				t.Fatal(err)
			}
			var texted struct{ Import fileImport }
			account.Get(t, "POST /v1/imports/text "+string(body), &texted)
			if done := awaitImport(t, account, texted.Import.ID, "completed"); done.NewVideos != 2 {
				t.Errorf("got %+v, want 2 new", done)
			}
		})
	}, quickImports)
}

// reportsOfImports imports a table and a zip, and previews other counts of the same videos.
func reportsOfImports(t *testing.T, account *apptest.Caller) {
	const table = "video link;Aufrufe;Likes;Mood\n" +
		"https://www.tiktok.com/@maker/video/7300000000000000001;12.345;viele;calm\n" +
		"https://www.tiktok.com/@maker/video/7300000000000000002;12.346;7;loud\n" +
		"https://www.tiktok.com/@maker/video/7300000000000000003;12.347;8;loud\n"
	id, _ := upload(t, account, fmt.Sprintf("name=mine.csv&observedAt=%d", importTime), table)
	awaitImport(t, account, id, "completed")
	var got struct {
		Import struct{ Report importReport }
	}
	account.Get(t, "GET /v1/imports?id="+id, &got)
	at := float64(importTime)
	want := importReport{
		CountsAt: &at, CountsFrom: "request",
		Files: []importedFile{{
			Name: "mine.csv", Videos: 3, Form: []string{`CSV divided by ";"`},
			Columns: []importColumn{
				{"video link", "sourceUrl", "addresses of videos"},
				{"Aufrufe", "views", `named "Aufrufe"`},
				{"Likes", "likes", `named "Likes"`},
				{"Mood", "", "not known"},
			},
			NotUnderstood: []importText{{"Likes", 2, "viele"}},
			Map:           `{"columns":{"likes":"Likes","sourceUrl":"video link","views":"Aufrufe"}}`,
		}},
	}
	fields := map[string]int{}
	for _, field := range got.Import.Report.Files[0].Fields {
		fields[field.Field] = field.Found
	}
	if fields["views"] != 3 || fields["likes"] != 2 || fields["comments"] != 0 {
		t.Errorf("got the fields %v, want 3 views, 2 likes and no comments", fields)
	}
	got.Import.Report.Files[0].Fields = nil
	if diff := cmp.Diff(want, got.Import.Report, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("report, -want +got:\n%s", diff)
	}
	var list struct {
		Imports []struct{ Report importReport }
	}
	account.Get(t, "GET /v1/imports/list", &list)
	if len(list.Imports) != 1 || len(list.Imports[0].Report.Files) != 0 || list.Imports[0].Report.CountsFrom != "request" {
		t.Errorf("got the list %+v, want a report without its files", list)
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	part, err := archive.Create("later.csv")
	if err == nil { // without its dots, a tenth of the views before
		_, err = io.WriteString(part, strings.ReplaceAll(table, "12.34", "1.23"))
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var preview struct{ Report importReport }
	_, answer := sendFile(t, account, "/v1/imports/preview", fmt.Sprintf("name=all.zip&observedAt=%d", importTime+aDayOfImports), &packed)
	again(t, answer, &preview)
	report := preview.Report
	if len(report.Files) != 2 || report.Files[0].Name != "all.zip" || report.Files[1].Name != "later.csv" || report.Files[1].Videos != 3 {
		t.Errorf("got the files %+v, want all.zip and later.csv", report.Files)
	}
	if report.Differing != 3 || len(report.Differences) != 3 || report.Differences[0] != (importDifference{"tiktok", "7300000000000000001", "views", 12345, 1235}) {
		t.Errorf("got %d differing, %+v; want all three", report.Differing, report.Differences)
	}
}

type importReport struct {
	CountsAt    *float64
	CountsFrom  string
	Differing   int
	Differences []importDifference
	Files       []importedFile
}

type importedFile struct {
	Name   string
	Videos int
	Form   []string
	Fields []struct {
		Field string
		Found int
	}
	Columns       []importColumn
	NotUnderstood []importText
	Map           string
	Doubtful      bool
}

type (
	importColumn struct{ Name, Field, Reason string }
	importText   struct {
		Column string
		Line   int
		Text   string
	}
	importDifference struct {
		Platform, ExternalID, Field string
		Known, Read                 float64
	}
)

// again decodes an answer as another type.
func again(t testing.TB, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportsAreFair has one tenant queue all imports that it may have. Others import, and
// read, before these have ended.
func TestImportsAreFair(t *testing.T) {
	t.Parallel()
	const days, videos = 6, 250
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		greedy, other := importing(t, running), importing(t, running)
		var text strings.Builder
		for day := range days {
			text.WriteString(feedLines(0, videos, importTime-int64(day)*aDayOfImports))
		}
		var theirs []string
		for range imports.Defaults().Active {
			id, _ := upload(t, greedy, "", text.String())
			theirs = append(theirs, id)
		}
		status, answer := sendFile(t, greedy, "/v1/imports", "", strings.NewReader(text.String()))
		if status != http.StatusTooManyRequests || answer["retryAfter"] == nil {
			t.Errorf("one import more: got %d %v, want %d and when to try again", status, answer, http.StatusTooManyRequests)
		}
		id, _ := upload(t, other, "", feedLines(0, 20, importTime))
		reads := 0
		var got struct{ Import fileImport }
		for got.Import.Status != "completed" {
			other.Get(t, "GET /v1/imports?id="+id, &got)
			listed(t, other)
			if reads++; got.Import.Failure != nil || reads > 10_000 {
				t.Fatalf("got %+v after %d reads, want it completed", got.Import, reads)
			}
		}
		ended := 0
		for _, one := range theirs {
			greedy.Get(t, "GET /v1/imports?id="+one, &got)
			if got.Import.Status == "completed" {
				ended++
			}
		}
		if got := listed(t, other); got != 20 || ended >= len(theirs)-1 {
			t.Errorf("when the other tenant's import of %d videos has ended, %d of %d before it have; want 20, and fewer than %d", got, ended, len(theirs), len(theirs)-1)
		}
		for _, one := range theirs {
			awaitImport(t, greedy, one, "completed")
		}
	}, quickImports, func(c *app.Config) { c.Scrolls.Concurrency = 2 })
}

func TestImportsAreBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		t.Run("bytes", func(t *testing.T) {
			account := importing(t, running)
			status, answer := sendFile(t, account, "/v1/imports", "", io.LimitReader(zeros{}, 3<<20))
			if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer), "larger than 1 MiB") {
				t.Errorf("got %d %v, want a refusal that says the bound", status, answer)
			}
			status, answer = sendFile(t, account, "/v1/imports", "", strings.NewReader(""))
			if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer), "empty") {
				t.Errorf("an empty file: got %d %v, want a refusal", status, answer)
			}
		})
		t.Run("a bomb", func(t *testing.T) {
			account := importing(t, running)
			var bomb bytes.Buffer
			w := gzip.NewWriter(&bomb)
			if _, err := io.CopyN(w, zeros{}, 500<<20); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			id, _ := upload(t, account, "name=a.jsonl.gz", bomb.String())
			if failed := awaitImport(t, account, id, "failed"); failed.Failure == nil {
				t.Errorf("got %+v, want it failed", failed)
			}
			id, _ = upload(t, account, "", feedLines(0, 3, importTime)) // it hurts no one
			if done := awaitImport(t, account, id, "completed"); done.NewVideos != 3 {
				t.Errorf("after the bomb: got %+v, want 3 new", done)
			}
		})
		t.Run("videos of the library", func(t *testing.T) {
			account := importing(t, running)
			id, _ := upload(t, account, "", feedLines(0, 50, importTime))
			if done := awaitImport(t, account, id, "completed"); done.NewVideos != 40 || done.NoRoom != 10 {
				t.Errorf("got %+v, want 40 new and 10 without room", done)
			}
			status, answer := sendFile(t, account, "/v1/imports", "", strings.NewReader(feedLines(50, 1, importTime)))
			if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer), "40 videos") {
				t.Errorf("a full library: got %d %v, want a refusal", status, answer)
			}
			var list struct{ Room, MaxBytes float64 }
			account.Get(t, "GET /v1/imports/list", &list)
			if list.Room != 0 || list.MaxBytes != 1<<20 {
				t.Errorf("got %+v, want no room and a MiB", list)
			}
		})
		t.Run("readings of a text", func(t *testing.T) {
			account := importing(t, running)
			body, err := json.Marshal(map[string]any{"text": feedLines(0, 201, importTime)})
			if err != nil {
				t.Fatal(err)
			}
			var texted struct{ Import fileImport }
			account.Get(t, "POST /v1/imports/text "+string(body), &texted)
			if failed := awaitImport(t, account, texted.Import.ID, "failed"); !strings.Contains(*failed.Failure, "200") {
				t.Errorf("got %q, want the bound", *failed.Failure)
			}
		})
		t.Run("a key needs the scope", func(t *testing.T) {
			status, answer := sendFile(t, running.Anonymous(), "/v1/imports", "", strings.NewReader("{}"))
			if status != http.StatusUnauthorized {
				t.Errorf("got %d %v, want %d", status, answer, http.StatusUnauthorized)
			}
		})
	}, quickImports, func(c *app.Config) {
		c.Billing.Pro.MaxImportBytes, c.Billing.Pro.MaxVideos = 1<<20, 40
	})
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
