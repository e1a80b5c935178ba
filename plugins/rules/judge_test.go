package rules

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/facts"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func ptr[T any](v T) *T { return &v }

// video is a record with all that rules look at.
func video(change func(*stage.Record)) stage.Record {
	rec := stage.Record{
		Ref:      stage.Ref{Platform: "tiktok", ExternalID: "1"},
		PostedAt: ptr(noon.AddDate(0, 0, -10).UnixMilli()),
		Source:   &stage.Source{Kind: "niche", Handle: "@Foo"},
		Metadata: json.RawMessage(`{"caption":"The best espresso giveaways are not what you think #HomeBarista #cold_brew","durationSeconds":45,"soundTitle":"Kettle Waltz"}`),
		Metrics:  stage.Metrics{Views: ptr[int64](20000), Likes: ptr[int64](900), Comments: ptr[int64](100)},
	}
	if change != nil {
		change(&rec)
	}
	return rec
}

// Judge returns the verdict of the compiled rules on one record.
func (p *Program) Judge(rec stage.Record, now time.Time) stage.Verdict {
	return p.judge(rec.Ref, facts.Of(rec, now), nil)
}

func TestRulesDrop(t *testing.T) {
	t.Parallel()
	noMetrics := func(r *stage.Record) { r.Metrics = stage.Metrics{} }
	said := func(caption string) func(*stage.Record) {
		return func(r *stage.Record) {
			r.Metadata, _ = json.Marshal(map[string]string{"caption": caption}) //nolint:errchkjson // strings alone
		}
	}
	for _, c := range []struct {
		rule    string
		change  func(*stage.Record)
		dropped bool
	}{
		{"skip giveaways", nil, true},
		{"skip giveaway", nil, true},
		{"skip unboxings", nil, false},
		{"no #homebarista", nil, true},
		{"no home barista", nil, true},
		{"no cold brew", nil, true},
		{"no barista", nil, true},
		{"no home", nil, false},
		{"no rista", nil, false},
		{"only videos that mention espresso or latte", nil, false},
		{"only videos that mention latte", nil, true},
		{"must mention both espresso and latte", nil, true},
		{"must mention both espresso and giveaways", nil, false},
		{"only videos that mention latte", func(r *stage.Record) { r.Metadata = nil }, false},
		{"only videos that mention latte", func(r *stage.Record) { r.Metadata = json.RawMessage(`{"caption":""}`) }, true},
		{"only TikTok", nil, false},
		{"no TikTok", nil, true},
		{"only from @foo", nil, false},
		{"ignore @FOO", nil, true},
		{"only from @bar", nil, true},
		{"only from @bar", func(r *stage.Record) { r.Source = nil }, false},
		{"at least 20k views", nil, false},
		{"over 20k views", nil, true},
		{"at least 100k views", noMetrics, false},
		{"nothing under 100k views", nil, true},
		{"at least 5% engagement", nil, false},
		{"engagement rate above 5%", nil, true},
		{"like rate above 4%", nil, false},
		{"at least 10 saves", nil, false},
		{"under 45 seconds", nil, true},
		{"at most 45 seconds", nil, false},
		{"at most 30 seconds", func(r *stage.Record) { r.Metadata = json.RawMessage(`{"caption":"x"}`) }, false},
		{"from the last 10 days", nil, false},
		{"from the last 9 days", nil, true},
		{"from the last 9 days", func(r *stage.Record) { r.PostedAt = nil }, false},
		{"no older than 6 months", func(r *stage.Record) { r.PostedAt = ptr(noon.AddDate(0, -6, -1).UnixMilli()) }, true},
		{"no older than 6 months", func(r *stage.Record) { r.PostedAt = ptr(noon.AddDate(0, -6, 0).UnixMilli()) }, false},
		{"posted this month", nil, false},
		{"before November 2026", nil, true},
		{"English only", nil, false},
		{"German only", nil, true},
		{"German only", func(r *stage.Record) { r.Metadata = json.RawMessage(`{"caption":"👀🔥"}`) }, false},
		{"German only", func(r *stage.Record) { r.Metadata = json.RawMessage(`{"caption":"x","language":"de-AT"}`) }, false},
		{"English or French only", said("Børn skal lege"), true}, // Danish or Norwegian
		{"Danish only", said("Børn skal lege"), false},
		{"Danish or Norwegian only", said("Børn skal lege"), false},
		{"English only", said("මගේ අලුත් කෝපි"), true},
		{"English only", said("#කෝපි #fyp"), false},
		{"no dancing", said("Une journée dans la cuisine"), false},
		{"no dancing", said("Baile en la cocina"), true},
		{"no dancing", said("Bailing out again"), false},
		{"no discounts", said("I sold my van"), false},
		{"no discounts", said("Les soldes commencent"), true},
		{"no gaming", said("#extremesports"), false},
		{"no gaming", said("Esports finals"), true},
		{"no politics", said("Our return policy"), false},
		{"no iPhones", said("Tout savoir sur l’iPhone 17"), true},
		{"must mention \"apple\"", said("Les secrets d'Apple"), false},
		{"no horses", said("so much #horsepower"), false},
		{"skip niche", nil, true},
		{"only videos using the sound \"kettle\"", nil, false},
		{"skip the sound \"kettle waltz\"", nil, true},
		{"Skip giveaways unless they have 10k views", nil, false},
		{"Skip giveaways unless they have 100k views", nil, true},
		{"Skip giveaways unless they have 100k views", noMetrics, false},
		{"no TikToks longer than 40s", nil, true},
		{"no TikToks longer than 60s", nil, false},
		{"YouTube videos must be under 30 seconds", nil, false},
		{"be kind", nil, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			want := ""
			if c.dropped {
				want = c.rule
			}
			if got := compiled("", c.rule).Judge(video(c.change), noon); got.DroppedBy != want {
				t.Errorf("dropped by %q (%s), want %q", got.DroppedBy, got.Reason, want)
			}
		})
	}
}

func TestAllowancesOfOneFieldAddUp(t *testing.T) {
	t.Parallel()
	p := compiled("", "only from @bar", "only from @foo", "only TikTok")
	if v := p.Judge(video(nil), noon); v.DroppedBy != "" {
		t.Errorf("dropped by %q, want empty", v.DroppedBy)
	}
	p = compiled("only Instagram", "only TikTok")
	if v := p.Judge(video(nil), noon); v.DroppedBy != PromptItem {
		t.Errorf("dropped by %q, want the prompt", v.DroppedBy)
	}
}

func TestScreenRanksByPromptAndBrief(t *testing.T) {
	t.Parallel()
	about := func(id, caption string, views int64) stage.Record {
		metadata, err := json.Marshal(map[string]string{"caption": caption})
		if err != nil {
			t.Fatal(err)
		}
		return stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, Metadata: metadata, Metrics: stage.Metrics{Views: &views}}
	}
	call := stage.Call{Run: stage.Run{
		Now: noon.UnixMilli(), Prompt: "cold brew recipes", Brief: stage.Brief{Description: "We sell grinders"},
		Rules: []stage.Rule{{ID: "rule_1", Text: "Skip politics"}, {ID: "rule_2", Text: "Be kind"}},
	}}
	verdicts, summary, err := stagetest.Screen(t, Spec(), call, []stage.Record{
		about("dog", "My dog", 1e9), about("grinder", "A new grinder", 10), about("brew", "Cold brew recipe", 10), about("tag", "#coldbrewrecipes", 50),
		about("cat", "My cat", 5), about("vote", "Political cold brew", 5),
		{Ref: stage.Ref{Platform: "youtube", ExternalID: "bare"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rank := map[string]float64{}
	for _, v := range verdicts {
		rank[v.ExternalID] = v.Rank
		if v.Reason == "" {
			t.Errorf("%s: no reason, want Reason not empty", v.ExternalID)
		}
		if (v.DroppedBy == "Skip politics") != (v.ExternalID == "vote") {
			t.Errorf("%s: dropped by %q", v.ExternalID, v.DroppedBy)
		}
	}
	if !(rank["brew"] > rank["grinder"] && rank["grinder"] > rank["dog"] && rank["dog"] > rank["cat"] && rank["cat"] > rank["bare"]) {
		t.Errorf("ranks %v", rank)
	}
	if len(summary.Unclear) != 1 || summary.Unclear[0] != "Be kind" {
		t.Errorf(`unclear: %q, want 1 Unclear and Unclear[0] "Be kind"`, summary.Unclear)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"only from @bar and @baz", "no videos under 15 or over 60 seconds", "“x” – ≥ 10k+ views", "between 1 and", "un\x00less except @", "1:30 2026-01-01 10.000.000m", "don't skip if not non-English", "so skip it", "and then: remove"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := compiled(text, text)
		if len(p.Checks)+len(p.Unclear) == 0 && len(lex(text)) > 0 {
			t.Errorf("%q is passed over in silence", text)
		}
		again := compiled(text, text)
		if explained(p) != explained(again) {
			t.Errorf("%q is compiled in two ways", text)
		}
		p.Judge(video(nil), noon)
	})
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compiled("Find moka pot videos with over 10k views", "Skip giveaways and #ad", "English only", "At least 500 views", "Nothing older than 12 months")
	}
}

func BenchmarkJudge(b *testing.B) {
	p := compiled("Find moka pot videos with over 10k views", "Skip politics and #ad", "English only", "At least 500 views", "Nothing older than 12 months")
	rec := video(nil)
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(rec, noon)
	}
}

func TestDropsSayWhichWordWasFound(t *testing.T) {
	t.Parallel()
	for caption, want := range map[string]string{
		"Déballage du nouveau moulin": `dropped: the rule drops videos that mention the word "unboxings" (here "déballage")`,
		"Unboxing time":               `dropped: the rule drops videos that mention the word "unboxings"`,
		"#espressounboxing":           `dropped: the rule drops videos that mention the word "unboxings" (here "unboxing")`,
	} {
		t.Run(caption, func(t *testing.T) {
			metadata, err := json.Marshal(map[string]string{"caption": caption})
			if err != nil {
				t.Fatal(err)
			}
			if v := compiled("", "No unboxings").Judge(stage.Record{Metadata: metadata}, noon); v.Reason != want {
				t.Errorf("%q: %q, want %q", caption, v.Reason, want)
			}
		})
	}
}
