package app_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/feed"
)

func sampleFeed(cfg *app.Config) { cfg.SetStage("FEED_DIR", feed.Sample) }

// views are the read views of a library.
var views = []string{
	"GET /v1/hooks?limit=25", "GET /v1/outliers?limit=25", "GET /v1/outliers?limit=25&kind=competitor",
	"GET /v1/outliers/list?limit=25&minViews=1", "GET /v1/outliers/list?includeArchived=true&minScore=1", "GET /v1/hooks/list?limit=25&minViews=1",
	"GET /v1/trends/list", "GET /v1/library?q=coffee", "GET /v1/library?annotated=false&platform=tiktok", "GET /v1/outliers/list?q=the&hashtag=coffee",
	"GET /v1/hooks/list?annotated=false", "GET /v1/trends?limit=25", "GET /v1/library?limit=25", "GET /v1/hooks?includeArchived=true", "GET /v1/rules",
}

// travel makes a subscriber's journey over the sample feed.
func travel(t *testing.T, running *apptest.Running) *apptest.Caller {
	t.Helper()
	account := running.Account(t, "pro")
	tour := feed.SampleBrief()
	competitors, err := json.Marshal(tour.Competitors)
	if err != nil {
		t.Fatal(err)
	}
	account.Get(t, fmt.Sprintf(`POST /v1/workspace {"description":%q,"competitors":%s}`, tour.Description, competitors), &struct{}{})
	account.Get(t, setRules, &struct{}{})
	for range 3 {
		if scroll := account.Scroll(t, "{}"); scroll.Status != "completed" || scroll.Progress.Percent != 100 {
			t.Fatalf(`the scroll ended %s, want Status "completed" and Percent 100: %+v`, scroll.Status, scroll)
		}
	}
	return account
}

// TestDatabasesAgree makes the same journey on each database, and by a PgBouncer in
// transaction mode with the smallest pool of all defaults: every view shows the same, ids and
// times aside.
func TestDatabasesAgree(t *testing.T) {
	t.Parallel()
	dated := datedFeed(t)
	sqlite, want := travel(t, apptest.Start(t, dated)), map[string]string{}
	for _, view := range views {
		want[view] = timeless(t, sqlite.Do(t, view, ""))
		if len(want[view]) < 100 {
			t.Errorf("%s shows next to nothing: %s", view, want[view])
		}
	}
	for name, database := range map[string]func(t *testing.T) store.Config{
		"postgres": func(t *testing.T) store.Config { return store.Config{DatabaseURL: apptest.ScratchPostgres(t)} },
		"postgres behind PgBouncer": func(t *testing.T) store.Config {
			return storetest.PgBouncer(t, store.Config{DatabaseURL: apptest.EmptyPostgres(t)}, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := database(t)
			account := travel(t, apptest.Start(t, dated, func(cfg *app.Config) {
				cfg.DatabaseURL, cfg.DatabaseDirectURL = at.DatabaseURL, at.DirectURL
				if at.DirectURL != "" {
					cfg.DatabasePool = 3
				}
			}))
			for _, view := range views {
				if diff := cmp.Diff(want[view], timeless(t, account.Do(t, view, ""))); diff != "" {
					t.Errorf("%s on %s differs from SQLite (-want +got):\n%s", view, name, diff)
				}
			}
		})
	}
}

// datedFeed is the sample feed with followers, and with the times of posting and of reading
// written down. The
// sample's own times depend on when a run starts, and a score depends on a video's age: two
// journeys some seconds apart may list two nearly equal videos the other way round.
func datedFeed(t *testing.T) func(*app.Config) {
	t.Helper()
	dir, day := t.TempDir(), time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	for run := range 3 {
		name := filepath.Join(strconv.Itoa(run+1), "videos.jsonl")
		packed, err := os.Open(filepath.Join("../plugins/feed/sample", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		unzip, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := io.ReadAll(unzip)
		if err != nil {
			t.Fatal(err)
		}
		_ = packed.Close() // only read
		var dated bytes.Buffer
		to := json.NewEncoder(&dated)
		for line := range bytes.Lines(sample) {
			var video map[string]any
			if err := json.Unmarshal(line, &video); err != nil {
				t.Fatal(err)
			}
			age, counts := video["postedDaysAgo"].(float64), video["metrics"].(map[string]any)
			delete(video, "postedDaysAgo")
			video["postedAt"] = day.Add(-time.Duration(age * 24 * float64(time.Hour))).UnixMilli()
			counts["followers"] = 1000
			counts["observedAt"] = day.Add(time.Duration(run+1) * time.Hour).UnixMilli()
			if err := to.Encode(video); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), dated.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(cfg *app.Config) { cfg.SetStage("FEED_DIR", dir) }
}

// timeless renders an answer without what two journeys never share.
func timeless(t *testing.T, answer *apptest.Answer) string {
	t.Helper()
	var strip func(value any)
	strip = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				if name == "id" || name == "workspaceId" || name == "nextCursor" || strings.HasSuffix(name, "At") {
					delete(value, name)
				} else {
					strip(member)
				}
			}
		case []any:
			for _, item := range value {
				strip(item)
			}
		}
	}
	body := answer.JSON(t)
	strip(body)
	text, err := json.MarshalIndent(body, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func everything(t *testing.T, owner *apptest.Caller) string {
	t.Helper()
	var all strings.Builder
	for _, view := range append(views, "GET /v1/workspace", "GET /v1/library?includeArchived=true") {
		all.WriteString(owner.Read(t, view))
		all.WriteByte('\n')
	}
	return all.String()
}
