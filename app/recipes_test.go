package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/plugins/recipe"
	"github.com/scrollery/scrollery/plugins/recipe/recipetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// placed writes files into a folder.
func placed(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// logged is a log that many write.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestARecipeWithoutARestart: a running server takes a recipe that is put into its folder, asks the
// provider from a box, counts what it costs to the cent, and ends with the budget. The key is in no
// log and no answer.
func TestARecipeWithoutARestart(t *testing.T) {
	t.Parallel()
	provider := recipetest.New(t)
	provider.Clips["kettle.co"] = 50
	dir := t.TempDir()
	log := &logged{}
	running := apptest.StartBy(t, func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
		return app.Start(ctx, cfg, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	}, func(cfg *app.Config) { cfg.RecipesDir = dir; cfg.SetStage("YOUTUBE_FEED", "no") })
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"kettle","competitors":["tiktok:kettle.co"]}`, &struct{}{})
	usable := func() bool {
		var got struct {
			Sources []struct {
				Source string
				Usable bool
			}
		}
		account.Get(t, `POST /v1/scrolls/estimate {"template":"competitors"}`, &got)
		return slices.ContainsFunc(got.Sources, func(s struct {
			Source string
			Usable bool
		},
		) bool {
			return s.Source == "reelbase" && s.Usable
		})
	}
	await := func(want bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); usable() != want; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the source is usable: %v, want %v", !want, want)
			}
		}
	}
	if usable() {
		t.Fatal("the source is there before its recipe")
	}
	placed(t, dir, map[string]string{"reelbase.yaml": recipetest.Recipe, "reelbase.url": provider.URL, "reelbase.api_key": recipetest.Key + "\n", "reelbase.budget": "0.016"})
	await(true)
	for n, c := range []struct {
		outcome  string
		returned int
		charged  int64
		left     float64
	}{{"ok", 50, 10_500, 0.0055}, {"partial", 20, 14_000, 0.002}, {"quota", 0, 14_000, 0.002}} {
		scroll := account.Scroll(t, `{"template":"competitors"}`)
		var got struct {
			Scroll struct{ Progress struct{ Coverage []told } }
		}
		account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
		one := on(t, got.Scroll.Progress.Coverage, "tiktok")["kettle.co"]
		if one.Outcome != c.outcome || one.Returned != c.returned || provider.Charged() != c.charged {
			t.Errorf("scroll %d: %+v, charged %d; want %s, %d, charged %d", n, one, provider.Charged(), c.outcome, c.returned, c.charged)
		}
		needed, left, limit := estimatedCost(t, account)
		if needed != 0.0105 || math.Abs(left-c.left) > 1e-9 || limit != 0.016 {
			t.Errorf("scroll %d: the estimate needs %v of %v, of %v; want 0.0105 of %v, of 0.016", n, needed, left, limit, c.left)
		}
	}
	// A fault in the file leaves the source as it was; without its file it is gone.
	placed(t, dir, map[string]string{"reelbase.yaml": strings.Replace(recipetest.Recipe, "summary:", "sumary:", 1)})
	time.Sleep(4 * time.Second)
	if !usable() {
		t.Error("a fault in the file took the source away, want it as it was")
	}
	if err := os.Remove(filepath.Join(dir, "reelbase.yaml")); err != nil {
		t.Fatal(err)
	}
	await(false)
	if text := log.String(); strings.Contains(text, recipetest.Key) || !strings.Contains(text, "reelbase") {
		t.Error("the key is in the log, or the log is empty")
	}
}

// estimatedCost is what the next scroll would cost at the recipe's provider, what is left of the
// budget, and the budget.
func estimatedCost(t *testing.T, account *apptest.Caller) (needed, left, limit float64) {
	t.Helper()
	var got struct {
		Sources []struct {
			Source string
			Cost   *struct{ Needed, Left, Limit float64 }
			Quotas []struct{ Name string }
		}
	}
	account.Get(t, `POST /v1/scrolls/estimate {"template":"competitors"}`, &got)
	for _, source := range got.Sources {
		if source.Source == "reelbase" && source.Cost != nil {
			if len(source.Quotas) > 0 {
				t.Errorf("the money is among the quotas %v too", source.Quotas)
			}
			return source.Cost.Needed, source.Cost.Left, source.Cost.Limit
		}
	}
	t.Fatalf("no cost in %+v", got)
	return 0, 0, 0
}

// TestRacingCallsNeverOverspend: 1,000 calls of many accounts and replicas race for a budget that
// serves a part of them. The provider is never asked for more than it pays, and the ledger has what
// the provider charged, to the millionth of a dollar.
func TestRacingCallsNeverOverspend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		provider := recipetest.New(t)
		provider.Clips["ada"] = 20
		source, err := recipe.Parse([]byte(strings.Replace(recipetest.Recipe, "rate: 100/s", "rate: 1000/s", 1)))
		if err != nil {
			t.Fatal(err)
		}
		spec := source.Spec()
		const calls, budget, price = 1000, 500_000, 3_500
		allowance := quota.Allowance{Plugin: spec.ID, Name: spec.Quotas[0].Name, Limit: spec.Quotas[0].Limit, Window: quota.UTCDay}
		if allowance.Limit != budget {
			t.Fatalf("the budget is %d, want %d", allowance.Limit, budget)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		outcomes := map[stage.Status]int{}
		places := make(chan struct{}, 64) // connections, not money
		for n := range int64(calls) {
			all.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				ledger, err := quota.New(db) // a replica of its own
				if err != nil {
					t.Error(err)
					return
				}
				ctx := viewer.As(context.Background(), n%10+1)
				call := &stage.Call{
					Settings: map[string]string{"url": provider.URL, "patience": "0s"}, Secrets: map[string]string{"api_key": recipetest.Key},
					Grant: func(_ context.Context, _ string, units int64, _ string) error {
						answer, err := ledger.Spend(ctx, allowance, units, "")
						if err == nil && !answer.Granted {
							err = stage.Quotaf(answer.RetryAt, "used up")
						}
						return err
					},
					Return: func(_ context.Context, _ string, units int64) error {
						return ledger.GiveBack(ctx, allowance, units, time.Now())
					},
				}
				handle := "ada"
				if n%4 == 0 {
					handle = "nobody" // refused for nothing, so that money goes back while others ask
				}
				got, err := spec.Collect(ctx, call, []stage.Seed{{Platform: "tiktok", Handle: handle, Limit: 20}}, func(stage.Record) error { return nil })
				if err != nil || len(got) != 1 {
					t.Errorf("%+v, error %v; want an outcome", got, err)
					return
				}
				mu.Lock()
				outcomes[got[0].Status]++
				mu.Unlock()
			})
		}
		all.Wait()
		ledger, err := quota.New(db)
		if err != nil {
			t.Fatal(err)
		}
		status, err := ledger.Status(t.Context(), allowance)
		if err != nil || status.Used != provider.Charged() || provider.Charged() > budget {
			t.Errorf("%d in the ledger, %d charged, error %v; want the same, at most %d", status.Used, provider.Charged(), err, budget)
		}
		if outcomes[stage.OK]*price != int(provider.Charged()) || outcomes[stage.Quota] == 0 || outcomes[stage.OK] == 0 {
			t.Errorf("outcomes %v, %d charged", outcomes, provider.Charged())
		}
		t.Logf("outcomes %v, %s of %s USD", outcomes, stage.FormatMoney(provider.Charged()), stage.FormatMoney(budget))
	})
}

// TestRecipesOfAFolder: what is wrong with a recipe or with the files beside it is in the list of
// plugins, with the line.
func TestRecipesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	named := func(id string) string { return strings.Replace(recipetest.Recipe, "id: reelbase", "id: "+id, 1) }
	placed(t, dir, map[string]string{
		"sound.yaml": named("sound"), "sound.api_key": "k", "unset.yml": named("unset"),
		"fault.yaml": strings.Replace(named("fault"), "rate:", "rat:", 1), "other.yaml": named("another"),
		"open.yaml": named("open"), "open.api_key": "k", "dear.yaml": named("dear"), "dear.api_key": "k", "dear.budget": "lots",
		"youtube.yaml": named("youtube"), "twice.yaml": named("twice"), "twice.yml": named("twice"), "http.yaml": named("http"), "README.md": "no recipe",
	})
	if err := os.Chmod(filepath.Join(dir, "open.api_key"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := app.Defaults()
	cfg.RecipesDir, cfg.DataDir = dir, t.TempDir()
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	listed, err := app.Plugins(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]host.Plugin{}
	for _, p := range listed {
		if p.Version != "1.0.0" || p.State == host.Refused || strings.Contains(p.Summary, "Reelbase") {
			got[p.ID+map[bool]string{true: " refused"}[p.State == host.Refused]] = p
		}
	}
	for id, want := range map[string]struct {
		state  host.State
		reason string
	}{
		"sound": {host.Ready, ""}, "unset": {host.Unset, "write it into the file unset.api_key"},
		"fault refused": {host.Refused, `line 6: a recipe has no "rat"; did you mean rate?`},
		"other refused": {host.Refused, "name both alike"}, "open refused": {host.Refused, "chmod 600"},
		"dear": {host.Unset, `"lots" is not an amount`}, "youtube refused": {host.Refused, "taken by another plugin"},
		"twice refused": {host.Refused, "a .yaml and a .yml"}, "http refused": {host.Refused, "stands for all recipes"},
	} {
		if p, ok := got[id]; !ok || p.State != want.state || !strings.Contains(p.Reason, want.reason) || (want.reason == "") != (p.Reason == "") {
			t.Errorf("%s: %+v, want %s with %q", id, p, want.state, want.reason)
		}
	}
}

// TestTryARecipe: the command's function asks for real, from a box, and says what it cost.
func TestTryARecipe(t *testing.T) {
	t.Parallel()
	provider := recipetest.New(t)
	provider.Clips["ada"] = 30
	dir := t.TempDir()
	placed(t, dir, map[string]string{"reelbase.yaml": recipetest.Recipe, "reelbase.url": provider.URL, "reelbase.api_key": recipetest.Key})
	cfg := app.Defaults()
	cfg.RecipesDir, cfg.DataDir = dir, t.TempDir()
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	tried, err := app.TryPlugin(t.Context(), cfg, "reelbase", stage.Seed{Handle: "ada", Limit: 25}, slog.New(slog.DiscardHandler))
	if err != nil || tried.Status != stage.OK || tried.Returned != 25 || tried.Cost == nil || *tried.Cost != 0.007 || tried.Fields["metrics.views"] != 25 {
		t.Fatalf("%+v, error %v; want 25 videos for 0.007 USD", tried, err)
	}
	var out strings.Builder
	text, _ := json.Marshal(tried)
	if err := tried.Print(&out); err != nil || !strings.Contains(out.String(), "0.007 USD") || strings.Contains(out.String()+string(text), recipetest.Key) {
		t.Errorf("%v:\n%s%s", err, out.String(), text)
	}
	if tried, err = app.TryPlugin(t.Context(), cfg, "reelbase", stage.Seed{Handle: "nobody"}, slog.New(slog.DiscardHandler)); err != nil || tried.Status != stage.NotFound || *tried.Cost != 0 {
		t.Errorf("%+v, error %v; want not_found, for nothing", tried, err)
	}
	wrong := slices.Clone([]byte(recipetest.Key))
	slices.Reverse(wrong)
	placed(t, dir, map[string]string{"reelbase.api_key": string(wrong)})
	if tried, err = app.TryPlugin(t.Context(), cfg, "reelbase", stage.Seed{Handle: "ada"}, slog.New(slog.DiscardHandler)); err != nil || tried.Status != stage.Misconfigured || strings.Contains(fmt.Sprint(tried), string(wrong)) {
		t.Errorf("%+v, error %v; want misconfigured, without the key that the provider repeats", tried, err)
	}
}

// TestCheckARecipe: its check runs in a box, with the key, before a seed is asked for.
func TestCheckARecipe(t *testing.T) {
	t.Parallel()
	provider := recipetest.New(t)
	provider.Clips["ada"] = 3
	provider.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/2/me" || r.Header.Get("X-Reelbase-Key") != recipetest.Key {
			return false
		}
		_, _ = io.WriteString(w, `{"left":12}`)
		return true
	}
	checking := strings.Replace(recipetest.Recipe, "rate:", `check: {url: "https://api.reelbase.example/2/me", says: "{left} calls left"}`+"\nrate:", 1)
	dir := t.TempDir()
	placed(t, dir, map[string]string{"reelbase.yaml": checking, "reelbase.url": provider.URL, "reelbase.api_key": recipetest.Key})
	cfg := app.Defaults()
	cfg.RecipesDir, cfg.DataDir = dir, t.TempDir()
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if checked, err := app.CheckConnection(t.Context(), cfg, "reelbase", log); err != nil || checked.Check != "12 calls left" {
		t.Errorf("%+v, error %v; want the line of the recipe", checked, err)
	}
	if tried, err := app.TryPlugin(t.Context(), cfg, "reelbase", stage.Seed{Handle: "ada"}, log); err != nil || tried.Check != "12 calls left" || tried.Returned != 3 {
		t.Errorf("%+v, error %v; want the line, then 3 videos", tried, err)
	}
	placed(t, dir, map[string]string{"reelbase.api_key": "another"})
	if tried, err := app.TryPlugin(t.Context(), cfg, "reelbase", stage.Seed{Handle: "ada"}, log); err != nil || tried.Returned != 0 || !strings.Contains(tried.Failure, "bad_key") && !strings.Contains(tried.Failure, "not known") {
		t.Errorf("%+v, error %v; want the refusal alone", tried, err)
	}
}
