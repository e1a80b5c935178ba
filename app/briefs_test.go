package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/plugins/plugintest/modeltest"
)

// draft is an answer of draftBrief.
type draft struct {
	Status, Composer        string
	Dropped, Credits        int
	Outliers, Hooks, Trends int
	Notes                   []string
	Sentences               []struct {
		Part, Text          string
		VideoIDs, TrendKeys []string
	}
}

// gift gives an account credits, and returns the balance.
func gift(t *testing.T, running *apptest.Running, account *apptest.Caller, credits int64) int64 {
	t.Helper()
	now, err := running.Operator().GrantCredits(t.Context(), account.Email, credits, "")
	if err != nil {
		t.Fatal(err)
	}
	return now.Credits
}

// TestBriefsCite: every sentence cites what the account's own lists show, and the fee is
// taken for a brief alone.
func TestBriefsCite(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		account := running.Account(t, "pro")
		account.Do(t, "POST /v1/briefs {}", "").WantError(t, string(apierr.WorkspaceRequired))
		account.Get(t, setBrief, &struct{}{})
		var got draft
		account.Get(t, "POST /v1/briefs {}", &got)
		if got.Status != "insufficient_history" || got.Credits != 0 || len(got.Sentences) != 0 {
			t.Errorf("of an empty library: got %+v, want insufficient_history for nothing", got)
		}
		for range 2 {
			if s := account.Scroll(t, "{}"); s.Status != "completed" {
				t.Fatalf(`scroll: %+v, want "completed"`, s)
			}
		}
		refused := account.Do(t, "POST /v1/briefs {}", "")
		if refused.WantError(t, string(apierr.PaymentRequired)); refused.Status != http.StatusPaymentRequired || refused.JSON(t)["shortfall"] != 50.0 {
			t.Errorf("without credits: got %d %s, want 402", refused.Status, refused.Body)
		}
		gift(t, running, account, 120)
		account.Do(t, `POST /v1/briefs {"focus":"the first seconds"}`, "").WantError(t, string(apierr.InvalidRequest))
		account.Get(t, `POST /v1/briefs {}`, &got)
		if got.Status != "drafted" || got.Composer != "counts" || got.Credits != 50 || got.Outliers == 0 || got.Hooks == 0 {
			t.Errorf("got %+v, want a brief of counts for 50 credits", got)
		}
		shown := account.Read(t, "GET /v1/outliers") + account.Read(t, "GET /v1/hooks") + account.Read(t, "GET /v1/trends")
		parts := map[string]bool{}
		for _, s := range got.Sentences {
			parts[s.Part] = true
			if len(s.VideoIDs)+len(s.TrendKeys) == 0 || s.Text == "" {
				t.Errorf("got the sentence %+v, want a text with at least one video or trend", s)
			}
			for _, id := range append(s.VideoIDs, s.TrendKeys...) {
				if !strings.Contains(shown, `"`+id+`"`) {
					t.Errorf("%q cites %s, which no list shows, want with %v", s.Text, id, `"`+id+`"`)
				}
			}
		}
		if !parts["works"] || !parts["opening"] || !parts["make"] {
			t.Errorf("got the parts %v, want works, opening and make: %+v", parts, got.Sentences)
		}
		if left := gift(t, running, account, 1); left != 120-50+1 {
			t.Errorf("got %d credits, want 71", left)
		}
		var events struct{ Events []struct{ Op, Status string } }
		account.Get(t, "GET /v1/events?limit=5", &events)
		if len(events.Events) == 0 || !strings.Contains(account.Read(t, "GET /v1/events?limit=50"), `"draftBrief"`) {
			t.Errorf("no event of draftBrief in %+v, want some Events and Read with %q", events, `"draftBrief"`)
		}
	}, sampleFeed)
}

// TestBriefOfAModel: sentences of a model are shown where they cite facts, and dropped
// where they do not; a model that fails leaves the built-in composer.
func TestBriefOfAModel(t *testing.T) {
	t.Parallel()
	answer := make(chan string, 1)
	model := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		return modeltest.Answer{Text: <-answer}
	})
	running := apptest.Start(t, sampleFeed, func(cfg *app.Config) {
		cfg.Briefs.Fee = 0
		cfg.Plugins.Settings = map[string]map[string]string{"brief": {"endpoint": model.URL + "/v1", "model": "tester"}}
		cfg.Plugins.Secrets = map[string]map[string]string{"brief": {"key": modeltest.Key}}
	})
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	if s := account.Scroll(t, "{}"); s.Status != "completed" {
		t.Fatalf(`scroll: %+v, want "completed"`, s)
	}
	type sentence struct {
		Part  string `json:"part"`
		Text  string `json:"text"`
		Facts []int  `json:"facts"`
	}
	body := `{"focus":"water"}`
	ask := func(t *testing.T, sentences ...sentence) (got draft) {
		t.Helper()
		text, _ := json.Marshal(map[string]any{"sentences": sentences})
		answer <- string(text)
		account.Get(t, "POST /v1/briefs "+body, &got)
		return got
	}
	got := ask(t, sentence{"works", "Water first.", []int{1}}, sentence{"works", "Invented.", []int{1, 9999}}, sentence{"make", "Uncited.", nil})
	if got.Composer != "brief" || got.Dropped != 2 || len(got.Sentences) != 1 || got.Sentences[0].Text != "Water first." || len(got.Sentences[0].VideoIDs) != 1 {
		t.Errorf("got %+v, want the one sentence that cites a fact", got)
	}
	if asked := model.Asked(); len(asked) != 1 || !strings.Contains(asked[0].Data, `"wish":"water"`) {
		t.Errorf("got %d questions, want one with the focus", len(asked))
	}
	body = `{}`
	if got := ask(t, sentence{"make", "Uncited.", nil}); got.Composer != "counts" || got.Dropped != 1 || len(got.Sentences) < 2 || len(got.Notes) == 0 {
		t.Errorf("without a valid sentence: got %+v, want the built-in composer", got)
	}
	answer <- "no JSON"
	got = draft{}
	if account.Get(t, `POST /v1/briefs {}`, &got); got.Composer != "counts" || len(got.Sentences) < 2 {
		t.Errorf("with a broken model: got %+v, want the built-in composer", got)
	}
}

// TestOneBriefAtATimeOnTwoServers: two servers share the database alone, and credits suffice
// for one brief. The model is asked once.
func TestOneBriefAtATimeOnTwoServers(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}, 2), make(chan string, 2)
	model := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		asked <- struct{}{}
		return modeltest.Answer{Text: <-answer}
	})
	address := apptest.ScratchPostgres(t)
	start := func() *apptest.Running {
		return apptest.Start(t, sampleFeed, func(cfg *app.Config) {
			cfg.DatabaseURL = address
			cfg.Plugins.Settings = map[string]map[string]string{"brief": {"endpoint": model.URL + "/v1", "model": "tester"}}
			cfg.Plugins.Secrets = map[string]map[string]string{"brief": {"key": modeltest.Key}}
		})
	}
	running, other := start(), start()
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	if s := account.Scroll(t, "{}"); s.Status != "completed" {
		t.Fatalf("got the scroll %+v, want it completed", s)
	}
	gift(t, running, account, 60)
	got := make(chan *apptest.Answer, 2)
	draft := func(on *apptest.Running) { got <- on.Anonymous().WithKey(account.Key).Do(t, "POST /v1/briefs {}", "") }
	go draft(running)
	<-asked
	go draft(other)
	select {
	case <-asked:
		t.Error("got a second question to the model while the first brief is drafted, want it to wait")
		answer <- `{"sentences":[]}`
	case early := <-got:
		t.Errorf("got the answer %d %s before the first brief has ended, want none", early.Status, early.Body)
	case <-time.After(500 * time.Millisecond):
	}
	answer <- `{"sentences":[{"part":"works","text":"Water first.","facts":[1]}]}`
	if first := <-got; first.Status != http.StatusOK {
		t.Errorf("the first brief: got %d %s, want 200", first.Status, first.Body)
	}
	second := <-got
	if second.WantError(t, string(apierr.PaymentRequired)); second.JSON(t)["balance"] != 10.0 {
		t.Errorf("the second brief: got %s, want a balance of 10", second.Body)
	}
}
