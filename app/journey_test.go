package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
			t.Fatalf("the scroll ended %s: %+v", scroll.Status, scroll)
		}
	}
	return account
}

// TestDatabasesAgree makes the same journey on each database, and by a PgBouncer in
// transaction mode with the smallest pool of all defaults: every view shows the same, ids and
// times aside.
func TestDatabasesAgree(t *testing.T) {
	t.Parallel()
	sqlite, want := travel(t, apptest.Start(t, sampleFeed)), map[string]string{}
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
			account := travel(t, apptest.Start(t, sampleFeed, func(cfg *app.Config) {
				cfg.DatabaseURL, cfg.DatabaseDirectURL = at.DatabaseURL, at.DirectURL
				if at.DirectURL != "" {
					cfg.DatabasePool = 3
				}
			}))
			for _, view := range views {
				if diff := cmp.Diff(want[view], timeless(t, account.Do(t, view, ""))); diff != "" {
					t.Errorf("%s differs (-sqlite +%s):\n%s", view, name, diff)
				}
			}
		})
	}
}

// timeless renders an answer without what two journeys never share.
func timeless(t *testing.T, answer *apptest.Answer) string {
	t.Helper()
	var strip func(value any)
	strip = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				// A score depends on how old the videos are when the run observes them.
				if name == "id" || name == "workspaceId" || name == "nextCursor" || name == "score" || name == "baselineViews" || strings.HasSuffix(name, "At") {
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
