package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

// platformsConfig leads a server that does not run to the doubles.
func platformsConfig(t *testing.T, change func(*app.Config)) (*platforms, app.Config) {
	t.Helper()
	p, cfg := newPlatforms(t), app.Defaults()
	cfg.DataDir = t.TempDir()
	p.configure(&cfg)
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	return p, cfg
}

// TestPluginsCheckTheirConnection by the command and by the doctor, without a seed.
func TestPluginsCheckTheirConnection(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	t.Run("a plugin says what works", func(t *testing.T) {
		t.Parallel()
		p, cfg := platformsConfig(t, nil)
		checked, err := app.CheckConnection(t.Context(), cfg, "instagram", quiet)
		if want := "signed in as @" + instagramtest.Name; err != nil || checked.Check != want {
			t.Errorf("got %q and error %v, want %q", checked.Check, err, want)
		}
		if asked := p.instagram.Asked(); len(asked) != 1 {
			t.Errorf("got the requests %q, want one", asked)
		}
	})
	for id, want := range map[string]string{
		"tiktok":       "TikTok gives no token",
		"youtube-feed": "ask it for something by --seed",
		"feed":         "feed is unset",
		"captions":     "captions cannot check its connection",
		"nothing":      `there is no plugin "nothing"`,
	} {
		t.Run("no check of "+id, func(t *testing.T) {
			t.Parallel()
			_, cfg := platformsConfig(t, func(cfg *app.Config) { cfg.SetStage("TIKTOK_CLIENT_SECRET", "another-secret") })
			if _, err := app.CheckConnection(t.Context(), cfg, id, quiet); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	t.Run("a request comes after the check", func(t *testing.T) {
		t.Parallel()
		p, cfg := platformsConfig(t, nil)
		seed := stage.Seed{Kind: "competitor", Handle: "kettle.co", Limit: 2}
		tried, err := app.TryPlugin(t.Context(), cfg, "instagram", seed, quiet)
		if err != nil || tried.Check != "signed in as @"+instagramtest.Name || tried.Returned != 2 {
			t.Errorf("got %+v and error %v, want the check and 2 videos", tried, err)
		}
		var out bytes.Buffer
		if err := tried.Print(&out); err != nil || !strings.Contains(out.String(), "signed in as @") {
			t.Errorf("printed %q with error %v, want what the check says", out.String(), err)
		}
		if asked := p.instagram.Asked(); len(asked) != 2 {
			t.Errorf("got the requests %q, want two", asked)
		}
	})
	t.Run("a check that fails asks for nothing else", func(t *testing.T) {
		t.Parallel()
		p, cfg := platformsConfig(t, func(cfg *app.Config) { cfg.SetStage("YOUTUBE_API_KEY", "another-key") })
		tried, err := app.TryPlugin(t.Context(), cfg, "youtube", stage.Seed{Kind: "competitor", Handle: "kettle.co"}, quiet)
		if err != nil || tried.OK() || !strings.Contains(tried.Failure, "API key not valid") {
			t.Errorf("got %+v and error %v, want that the key is not valid", tried, err)
		}
		if n := len(p.youtube.Asked()); n != 1 {
			t.Errorf("got %d requests, want the one of the check", n)
		}
	})
}

// TestDoctorChecksConnections of the plugins that are set up.
func TestDoctorChecksConnections(t *testing.T) {
	t.Parallel()
	p, cfg := platformsConfig(t, func(cfg *app.Config) { cfg.SetStage("TIKTOK_CLIENT_SECRET", "another-secret") })
	p.youtube.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		youtubetest.Fail(w, http.StatusForbidden, "quotaExceeded", "You have exceeded your quota.")
		return true
	}
	got := diagnose(t, cfg)
	for name, want := range map[string]finding{
		"plugin instagram": {Status: "ok", Detail: "signed in as @" + instagramtest.Name},
		"plugin tiktok":    {Status: "FAIL", Detail: "TikTok gives no token"},
		"plugin youtube":   {Status: "gap", Detail: "quotaExceeded"},
	} {
		if one := got[name]; one.Status != want.Status || !strings.Contains(one.Detail, want.Detail) {
			t.Errorf("%s: got %+v, want %+v", name, one, want)
		}
	}
	if strings.Contains(got["plugin tiktok"].Detail, "another-secret") || strings.Contains(got["plugin youtube"].Detail, youtubetest.Key) {
		t.Errorf("got %+v, want no secret", got)
	}
}

// TestWhatTheOperatorAsksIsCounted: commands count in the ledger of the server's database, as one
// account's, and a quota that is used up keeps them from asking.
func TestWhatTheOperatorAsksIsCounted(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		quiet := slog.New(slog.DiscardHandler)
		p, cfg := platformsConfig(t, func(cfg *app.Config) { cfg.DatabaseURL = address })
		if err := app.Migrate(t.Context(), cfg, quiet); err != nil {
			t.Fatal(err)
		}
		db := opened(t, cfg)
		counted := func(want int, after string) {
			t.Helper()
			got := unitsOfTheOperator(t, db)
			if asked := len(p.youtube.Asked()); got != want || asked != want {
				t.Errorf("after %s: %d units in the ledger of %d requests, want %d of both", after, got, asked, want)
			}
		}
		if _, err := app.CheckConnection(t.Context(), cfg, "youtube", quiet); err != nil {
			t.Fatal(err)
		}
		counted(1, "a check")
		if got := diagnose(t, cfg)["plugin youtube"]; got.Status != "ok" {
			t.Errorf("got %+v, want that it works", got)
		}
		counted(2, "the doctor")
		tried, err := app.TryPlugin(t.Context(), cfg, "youtube", stage.Seed{Kind: "competitor", Handle: "kettle.co", Limit: 2}, quiet)
		if err != nil || tried.Returned != 2 {
			t.Errorf("got %+v and error %v, want 2 videos", tried, err)
		}
		asked := len(p.youtube.Asked())
		if asked < 4 {
			t.Errorf("got %d requests, want the check's and some of the seed", asked)
		}
		counted(asked, "a try")
		storetest.Exec(t, db, "UPDATE quota_entries SET units = 10000 WHERE plugin = 'youtube'")
		if _, err := app.CheckConnection(t.Context(), cfg, "youtube", quiet); err == nil || len(p.youtube.Asked()) != asked {
			t.Errorf("got error %v after %d requests, want that the quota is used up, and no request", err, len(p.youtube.Asked())-asked)
		}
		storetest.Exec(t, db, "DELETE FROM quota_entries")
		storetest.Exec(t, db, "UPDATE goose_db_version SET version_id = version_id + 1000 WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)")
		if _, err := app.CheckConnection(t.Context(), cfg, "youtube", quiet); err != nil || len(p.youtube.Asked()) != asked+1 {
			t.Errorf("got error %v after %d requests, want one that is not counted, since the tables are of another version", err, len(p.youtube.Asked())-asked)
		}
		if left := storetest.Count(t, db, "SELECT COUNT(*) FROM quota_entries"); left != 0 {
			t.Errorf("%d entries in a ledger of another version, want none", left)
		}
	})
}

// opened is the database of a server.
func opened(t *testing.T, cfg app.Config) *store.DB {
	t.Helper()
	part := store.Defaults()
	part.DatabaseURL, part.DataDir = cfg.DatabaseURL, cfg.DataDir
	return storetest.Open(t, part)
}

// unitsOfTheOperator are those of YouTube's quotas in the ledger.
func unitsOfTheOperator(t *testing.T, db *store.DB) int {
	t.Helper()
	return int(storetest.Count(t, db, "SELECT COALESCE(SUM(units), 0) FROM quota_entries WHERE plugin = 'youtube' AND account_id = 0"))
}

// TestTheOperatorsPageChecksAPlugin of a server that runs, with the settings in force.
func TestTheOperatorsPageChecksAPlugin(t *testing.T) {
	t.Parallel()
	p := newPlatforms(t)
	var service *app.Service
	running := apptest.StartBy(t, func(ctx context.Context, cfg app.Config, log *slog.Logger) (*app.Service, error) {
		var err error
		service, err = app.Start(ctx, cfg, log)
		return service, err
	}, p.configure)
	_, err := service.CheckPlugin(t.Context(), "youtube")
	if counted := unitsOfTheOperator(t, opened(t, running.Config)); err != nil || counted != 1 {
		t.Errorf("got error %v and %d units in the ledger, want one", err, counted)
	}
	for range 2 {
		if checked, err := service.CheckPlugin(t.Context(), "instagram"); err != nil || checked.Check != "signed in as @"+instagramtest.Name {
			t.Errorf("got %+v and error %v, want who is signed in", checked, err)
		}
	}
	if _, err := service.CheckPlugin(t.Context(), "captions"); err == nil {
		t.Error("a plugin without a check: got no error, want one")
	}
}
