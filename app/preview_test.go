package app_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/rules/preview"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// decided is a verdict as a scroll and a preview both show it.
type decided struct{ Rule, Reason string }

// TestPreviewIsWhatAScrollDoes previews rules over the videos of one account, and has
// another account scroll over the same videos with these rules.
func TestPreviewIsWhatAScrollDoes(t *testing.T) {
	t.Parallel()
	apptestEach := func(t *testing.T, test func(t *testing.T, configure ...func(*app.Config))) {
		t.Run(store.SQLite, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
		t.Run(store.Postgres, func(t *testing.T) {
			t.Parallel()
			address := apptest.ScratchPostgres(t)
			test(t, func(cfg *app.Config) { cfg.DatabaseURL = address })
		})
	}
	t.Run("sample", func(t *testing.T) {
		t.Parallel()
		apptestEach(t, func(t *testing.T, configure ...func(*app.Config)) {
			comparePreview(t, "- skip giveaways\n- no videos below 1000 views\n- drop #ad\n- no videos older than 20 days", append(configure, sampleFeed)...)
		})
	})
	t.Run("real scrapes", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(t.TempDir(), "1")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(realData(t), "tiktok_dk_run1_2026-03-22.csv"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "videos.csv"), string(text))
		write(t, filepath.Join(folder, "feed.map.json"), fmt.Sprintf(tiktokMap, "2026-03-22"))
		comparePreview(t, "- no videos about food\n- at least 5000 views\n- drop #fyp\n- no politics\n- be nice", func(cfg *app.Config) {
			cfg.SetStage("FEED_DIR", filepath.Dir(folder))
			cfg.Billing.Pro.MaxFeedSize = 10_000
		})
	})
}

// putRules says how it reads each rule to those who ask, and keeps the contract's answer else.
func TestPutRulesReadsThemOnRequest(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "standard")
	account.Do(t, "POST /v1/workspace "+`{"name":"Slow coffee","description":"espresso"}`, "")
	body := `{"text":"- at least 1000 views, please\n- keep it family friendly","readings":true}`
	answer := account.Do(t, "PUT /v1/rules "+body, "").JSON(t)
	want := map[string]any{
		"readings":     []any{map[string]any{"rule": "at least 1000 views, please", "reading": "keeps only videos with at least 1,000 views"}},
		"unclearRules": []any{map[string]any{"rule": "keep it family friendly", "why": "No check could be made of this rule: nothing is dropped by it. Name the words, hashtags, numbers or creators that decide."}},
	}
	got := map[string]any{"readings": answer["readings"], "unclearRules": answer["unclearRules"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answer with readings (-want +got):\n%s", diff)
	}
	body = `{"text":"- at least 1000 views, please\n- keep it family friendly","language":"de","readings":true}`
	for _, call := range []string{"PUT /v1/rules ", "POST /v1/rules/preview "} {
		answer := account.Do(t, call+strings.Replace(body, map[bool]string{true: `,"readings":true`}[call[:4] == "POST"], "", 1), "").JSON(t)
		got := map[string]any{"readings": answer["readings"], "unclearRules": answer["unclearRules"]}
		want := map[string]any{
			"readings":     []any{map[string]any{"rule": "at least 1000 views, please", "reading": "behält nur Videos mit mindestens 1.000 Aufrufen"}},
			"unclearRules": []any{map[string]any{"rule": "keep it family friendly", "why": "Aus dieser Regel wurde keine Prüfung: Sie entfernt nichts. Nennen Sie die Wörter, Hashtags, Zahlen oder Accounts, die entscheiden. Gelesen werden Regeln auf Englisch."}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%sin German (-want +got):\n%s", call, diff)
		}
	}
	plain := account.Do(t, "PUT /v1/rules "+`{"text":"- no ads"}`, "").JSON(t)
	if len(plain) != 2 || plain["outcome"] != "created" || plain["rules"] == nil {
		t.Errorf("the answer without: got %v, want outcome and rules", plain)
	}
	for _, protocol := range apptest.Protocols() {
		read, err := account.RPC(protocol).Rules.PutRules(t.Context(), &scrolleryv1.PutRulesRequest{Text: proto.String("no ads"), Readings: proto.Bool(true)})
		if err != nil || len(read.Readings) != 1 || len(read.UnclearRules) != 0 {
			t.Errorf("%s: got %v %v, want a reading", protocol.Name, read, err)
		}
	}
}

func comparePreview(t *testing.T, rules string, configure ...func(*app.Config)) {
	t.Helper()
	var db *store.DB
	var previews *preview.Service
	running := apptest.StartBy(t, app.StartWithParts(&db, &previews), configure...)
	before, after := running.Account(t, "pro"), running.Account(t, "pro")
	for _, account := range []*apptest.Caller{before, after} {
		account.Get(t, setBrief, &struct{}{})
	}
	if done := before.Scroll(t, "{}"); done.Status != "completed" {
		t.Fatalf(`the scroll ended %s, want "completed"`, done.Status)
	}
	const sample = 2000
	count := func() [4]int {
		ctx := viewer.System(t.Context())
		return [4]int{
			db.Ent().Ruleset.Query().CountX(ctx), db.Ent().Verdict.Query().CountX(ctx),
			db.Ent().Scroll.Query().CountX(ctx), db.Ent().ScrollRecord.Query().CountX(ctx),
		}
	}
	rows := count()
	made, err := previews.Preview(viewer.As(t.Context(), accountOf(t, db, before)), rules, "", sample)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(); got != rows {
		t.Errorf("rows of rulesets, verdicts, scrolls and records: got %v, want %v as before", got, rows)
	}
	after.Get(t, fmt.Sprintf(`PUT /v1/rules {"text":%q}`, rules), &struct{}{})
	if done := after.Scroll(t, "{}"); done.Status != "completed" {
		t.Fatalf(`the scroll with rules ended %s, want "completed"`, done.Status)
	}
	want, got := map[string]decided{}, map[string]decided{}
	scrolled := verdictsOf(t, after)
	dropped := 0
	for _, video := range made.Videos {
		ref := video.Candidate.Platform + "/" + video.Candidate.ExternalID
		got[ref] = decided{video.Candidate.DroppedBy, video.Candidate.Reason}
		want[ref] = scrolled[ref]
		if video.Candidate.DroppedBy != "" {
			dropped++
		}
	}
	if dropped < 3 || len(got)-dropped < 3 {
		t.Fatalf("the preview drops %d of %d videos, want rules that drop and keep at least 3 each", dropped, len(got))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the verdicts of the preview differ from those of the scroll (-want +got):\n%s", diff)
	}
	t.Logf("%d videos compared, %d dropped", len(got), dropped)
	comparePreviewAnswers(t, before, rules, sample, len(got), dropped)
}

// comparePreviewAnswers asks over REST and Connect.
func comparePreviewAnswers(t *testing.T, account *apptest.Caller, rules string, sample, judged, dropped int) {
	t.Helper()
	type shown struct {
		Judged, Kept, Dropped, NewlyDropped, NewlyKept, CurrentVersion int
		DroppedByRule                                                  []struct {
			Rule   string
			Videos int
		}
		Examples []struct{ VideoID, ExternalID, Change, Rule, Reason string }
	}
	body := fmt.Sprintf(`{"text":%q,"sample":%d}`, rules, sample)
	var rest, rpc shown
	account.Get(t, "POST /v1/rules/preview "+body, &rest)
	if err := json.Unmarshal(account.Do(t, "POST /scrollery.v1.RulesService/PreviewRules "+body, "").Body, &rpc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rest, rpc); diff != "" {
		t.Errorf("Connect differs from REST (-want +got):\n%s", diff)
	}
	want := [6]int{judged, judged - dropped, dropped, dropped, 0, 0}
	if got := [6]int{rest.Judged, rest.Kept, rest.Dropped, rest.NewlyDropped, rest.NewlyKept, rest.CurrentVersion}; got != want {
		t.Errorf("judged, kept, dropped, newly dropped, newly kept, version: got %v, want %v", got, want)
	}
	sum := 0
	for _, rule := range rest.DroppedByRule {
		sum += rule.Videos
	}
	if sum != dropped || len(rest.Examples) != min(dropped, 25) {
		t.Errorf("by rule %d, examples %d; want %d and %d", sum, len(rest.Examples), dropped, min(dropped, 25))
	}
	for _, one := range rest.Examples {
		if one.Change != "newly_dropped" || one.Rule == "" || !strings.HasPrefix(one.Reason, "dropped: ") || !strings.HasPrefix(one.VideoID, "vid_") {
			t.Errorf("example: got %+v, want a dropped video with the rule and the words that decided", one)
		}
	}
}

// verdictsOf reads every verdict of an account.
func verdictsOf(t *testing.T, account *apptest.Caller) map[string]decided {
	t.Helper()
	all := map[string]decided{}
	for cursor := ""; ; {
		var page struct {
			Verdicts   []struct{ Platform, ExternalID, Rule, Reason string }
			NextCursor *string
		}
		call := "GET /v1/scrolls/verdicts?limit=100"
		if cursor != "" {
			call += "&cursor=" + url.QueryEscape(cursor)
		}
		account.Get(t, call, &page)
		for _, v := range page.Verdicts {
			all[v.Platform+"/"+v.ExternalID] = decided{v.Rule, v.Reason}
		}
		if page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
}
