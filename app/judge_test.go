package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestModelJudgesRulesOverTheHousesProxy has the real process of the rules stage ask
// an endpoint of this machine, which it can only reach by the house's leave.
func TestModelJudgesRulesOverTheHousesProxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var down atomic.Bool
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+endpointKey {
			t.Errorf("asked with %q, want %v", r.Header.Get("Authorization"), "Bearer "+endpointKey)
		}
		if down.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		verdict := `{"verdicts":[{"ref":"v1","breaks":[]}]}`
		if n%3 == 0 {
			verdict = `{"verdicts":[{"ref":"v1","breaks":["r1"]}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, says(verdict))
	}))
	t.Cleanup(endpoint.Close)
	running := apptest.Start(t, sampleFeed, func(cfg *app.Config) {
		cfg.Plugins.Settings = map[string]map[string]string{"rules": {"endpoint": endpoint.URL, "model": "judge-1"}}
		cfg.Plugins.Secrets = map[string]map[string]string{"rules": {"key": endpointKey}}
	})
	scroll := func() (*apptest.Caller, screened) {
		t.Helper()
		account := running.Account(t, "pro")
		account.Get(t, setBrief, &struct{}{})
		account.Get(t, `PUT /v1/rules {"text":"Be kind"}`, &struct{}{})
		done := account.Scroll(t, "{}")
		var got struct {
			Scroll struct{ Progress screened }
		}
		if err := json.Unmarshal(account.Do(t, "GET /v1/scrolls?id="+done.ID, "").Body, &got); err != nil || done.Status != "completed" {
			t.Fatalf("got the scroll %+v, %v, want it completed", done, err)
		}
		return account, got.Scroll.Progress
	}
	account, with := scroll()
	if with.Dropped == 0 || int64(with.Dropped) != asked.Load()/3 || len(with.DroppedByRule) != 1 || with.DroppedByRule[0].Rule != "Be kind" || len(with.UnclearRules)+len(with.ScreenNotes) > 0 {
		t.Errorf("got %+v after %d questions, want a third of the questions dropped, all by the rule \"Be kind\", and no rule unclear or note", with, asked.Load())
	}
	var listed struct {
		Verdicts []struct {
			Platform, ExternalID, Rule, RuleID, Reason, ScrollID string
			Dropped                                              bool
		}
	}
	answer := account.Do(t, `POST /scrollery.v1.ScrollsService/ListVerdicts {"dropped":true,"pageSize":100}`, "")
	if err := json.Unmarshal(answer.Body, &listed); err != nil || len(listed.Verdicts) != with.Dropped {
		t.Fatalf("verdicts: got error %v, %s; want %v of them", err, answer.Body, with.Dropped)
	}
	for _, v := range listed.Verdicts {
		if !v.Dropped || v.Rule != "Be kind" || !strings.HasPrefix(v.RuleID, "rule_") || !strings.Contains(v.Reason, "model") || v.ExternalID == "" || !strings.HasPrefix(v.ScrollID, "scr_") {
			t.Errorf("got the verdict %+v, want a video dropped by the model for \"Be kind\", with the ids of its rule and scroll", v)
		}
	}
	down.Store(true)
	_, without := scroll()
	if without.Dropped != 0 || len(without.UnclearRules) != 1 || !strings.Contains(strings.Join(without.ScreenNotes, ""), "status 404") {
		t.Errorf(`without its answers: %+v, want Dropped 0, 1 UnclearRule and text with "status 404"`, without)
	}
}

// screened is what a scroll tells of its screens.
type screened struct {
	Dropped       int
	DroppedByRule []struct {
		Rule   string
		Videos int
	}
	UnclearRules, ScreenNotes []string
}
