package scrolls

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// listening is a configuration with a screen that looks at evidence.
func listening() Config {
	cfg := quick()
	template := cfg.Templates[defaultTemplate]
	template.Screens = []string{"ear", "rules"} // the order of the names decides nothing
	template.Evidence = []string{"captions"}
	cfg.Templates[defaultTemplate], cfg.Templates[importTemplate] = template, template
	return cfg
}

// talk makes every third video speak German, which `ear` drops. `rules` drops every fifth before.
func (w *world) talk() {
	w.screen = rankByNumber(func(n int) string {
		if n%5 == 0 {
			return "rule_1"
		}
		return ""
	})
	w.look = func(rec stage.Record) *stage.Finding {
		language := "en"
		if n, _ := strconv.Atoi(strings.TrimPrefix(rec.ExternalID, "v")); n%3 == 0 {
			language = "de"
		}
		return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr("said"), Language: language}}
	}
	w.afterEvidence = map[string]func(stage.Record) stage.Verdict{"ear": func(rec stage.Record) stage.Verdict {
		verdict := stage.Verdict{Ref: rec.Ref, Rank: 1000, Reason: "heard"}
		if e := rec.Evidence; e == nil || e.Spoken == nil {
			verdict.DroppedBy = "no evidence"
		} else if e.Language == "de" {
			verdict.DroppedBy, verdict.RuleID, verdict.Reason = "English only", "rul_2", "speaks de"
		}
		return verdict
	}}
}

func TestScreensThatLookAtEvidence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := listening()
		w := setup(t, db, cfg)
		w.talk()
		w.setLimits(Limits{Active: true, MaxFeedSize: 12, ActiveScrolls: 1})
		done := w.complete(w.create(Start{}).ID)
		// Of 25, five are dropped by rules. The best 12 of the others are 24 to 11, of which
		// 12, 18, 21 and 24 speak German: their places stay free.
		p := done.Progress
		if done.Status != Completed || done.NewVideos != 8 || p.Dropped != 9 {
			t.Errorf("%s with %d new videos and %d dropped, want completed with 8 and 9", done.Status, done.NewVideos, p.Dropped)
		}
		if want := []RuleDrops{{"rule_1", 5}, {"English only", 4}}; !slices.Equal(p.DroppedByRule, want) {
			t.Errorf("dropped by %v, want %v", p.DroppedByRule, want)
		}
		dropped := 0
		for _, c := range p.Coverage {
			dropped += c.Dropped
		}
		if dropped != 9 {
			t.Errorf("coverage: %d dropped, want 9", dropped)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id IN ('v0012', 'v0018', 'v0021', 'v0024', 'v0010', 'v0009')"); n != 0 {
			t.Errorf("%d videos are archived that a screen dropped or none judged, want 0", n)
		}
		verdict := func(id string) Verdict {
			all, _, err := w.service.Verdicts(tenant(), VerdictFilter{ExternalID: id}, 2, "")
			if err != nil || len(all) != 1 {
				t.Fatalf("verdicts on %s: %v, %v; want one", id, all, err)
			}
			return all[0]
		}
		if v := verdict("v0024"); v.DroppedBy != "English only" || v.RuleID != "rul_2" || v.Reason != "speaks de" || v.ScrollID != done.ID {
			t.Errorf("v0024: %+v, want it dropped by the second screen", v)
		}
		if v := verdict("v0023"); v.DroppedBy != "" || v.Rank != 23 || v.Reason != "" {
			t.Errorf("v0023: %+v, want it kept with the rank of the first screen", v)
		}
		if v := verdict("v0020"); v.DroppedBy != "rule_1" {
			t.Errorf("v0020: %+v, want it dropped by the first screen", v)
		}
		var order []string
		for _, s := range describe(w, defaultTemplate, w.service.cfg.Templates[defaultTemplate]).Stages {
			if s.Kind == "screen" || s.Kind == "evidence" {
				order = append(order, s.ID)
			}
		}
		if want := []string{"rules", "captions", "ear"}; !slices.Equal(order, want) {
			t.Errorf("the template shows %v, want %v", order, want)
		}
	})
}

// TestScreensThatLookAtEvidenceResume loses a worker at each point of the step.
func TestScreensThatLookAtEvidenceResume(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := listening()
		cfg.BatchSize = 2 // the drops take several transactions
		w := setup(t, db, cfg)
		w.talk()
		from := 1
		for point, looks := range map[string]int{"begin": 1, "batch": 2, "examined": 1, "dropped": 1, "end": 1} {
			t.Run(point, func(t *testing.T) {
				w.t = t
				w.sources["feed"].records = videos("tiktok", from, 30) // 24 pass rules, 8 of them speak German
				from += 30
				videos, charged, asked := w.count("fake_videos"), w.number("SELECT coalesce(sum(units), 0) FROM fake_charges"), w.calls["captions"]
				lost := w.loses(cfg, Evidence, point)
				lost.takenOver()
				lost.goesOn()
				done := w.load(lost.scroll)
				if done.Status != Completed || done.Attempts != 2 || done.NewVideos != 16 || done.Progress.Dropped != 14 {
					t.Errorf("%s after %d starts with %d new videos and %d dropped, want completed after 2 with 16 and 14", done.Status, done.Attempts, done.NewVideos, done.Progress.Dropped)
				}
				if want := []RuleDrops{{"English only", 8}, {"rule_1", 6}}; !slices.Equal(done.Progress.DroppedByRule, want) {
					t.Errorf("dropped by %v, want %v", done.Progress.DroppedByRule, want)
				}
				returned, added, dropped := 0, 0, 0
				for _, c := range done.Progress.Coverage {
					returned, added, dropped = returned+c.Returned, added+c.New, dropped+c.Dropped
				}
				if returned != 30 || added != 16 || dropped != 14 {
					t.Errorf("coverage: returned %d, new %d, dropped %d; want 30, 16 and 14", returned, added, dropped)
				}
				if n := w.count("fake_videos") - videos; n != 16 {
					t.Errorf("%d videos, want 16", n)
				}
				if n := w.number("SELECT coalesce(sum(units), 0) FROM fake_charges") - charged; n != 16 {
					t.Errorf("%d units charged, want 16", n)
				}
				if n := w.calls["captions"] - asked; n != looks {
					t.Errorf("evidence was sought %d times, want %d", n, looks)
				}
				if n := w.number("SELECT count(*) FROM verdicts WHERE scroll_id = $1 AND dropped", lost.scroll); n != 14 {
					t.Errorf("%d verdicts drop, want 14", n)
				}
			})
		}
	})
}

func TestAScreenThatLooksAtEvidenceFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail     func(n int) error
		status   string
		attempts int
	}{
		"once": {func(n int) error {
			if n > 1 {
				return nil
			}
			return &stage.CallError{Stage: "ear", Failure: stage.StageCrashed, Retry: true, Cause: errors.New("once")}
		}, Completed, 2},
		"each time": {func(int) error {
			return &stage.CallError{Stage: "ear", Failure: stage.StageCrashed, Retry: true, Cause: errors.New("always")}
		}, Failed, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := listening()
			w := setup(t, storetest.SQLite(t), cfg)
			w.talk()
			w.stageErr["ear"] = c.fail
			done := w.complete(w.create(Start{}).ID)
			if done.Status != c.status || done.Attempts != c.attempts {
				t.Errorf("%s after %d starts, want %s after %d", done.Status, done.Attempts, c.status, c.attempts)
			}
			if w.calls["captions"] != 1 {
				t.Errorf("evidence was sought %d times, want once", w.calls["captions"])
			}
			if c.status == Failed && (done.NewVideos != 0 || *done.Progress.Failure.Plugin != "ear" || *done.Progress.Failure.Step != Evidence) {
				t.Errorf("new videos %d, failure %+v; want none, and ear named", done.NewVideos, done.Progress.Failure)
			}
		})
	}
}

func TestAnImportsScreensThatLookAtEvidence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := listening()
		w := setup(t, db, cfg)
		w.talk()
		done, err := w.service.Import(tenant(), feed(videos("tiktok", 1, 30), videos("tiktok", 31, 15)))
		if err != nil {
			t.Fatal(err)
		}
		scroll := w.load(done.ScrollID)
		if want := []RuleDrops{{"English only", 12}, {"rule_1", 9}}; !slices.Equal(scroll.Progress.DroppedByRule, want) || scroll.NewVideos != 24 {
			t.Errorf("dropped by %v and %d new videos, want %v and 24", scroll.Progress.DroppedByRule, scroll.NewVideos, want)
		}
		dropped := 0
		for _, c := range scroll.Progress.Coverage {
			dropped += c.Dropped
		}
		if dropped != 21 || w.count("fake_videos") != 24 {
			t.Errorf("coverage: %d dropped, %d videos; want 21 and 24", dropped, w.count("fake_videos"))
		}
	})
}

// TestAPreviewLeavesOutScreensThatLookAtEvidence: it has records, and nothing looks at them.
func TestAPreviewLeavesOutScreensThatLookAtEvidence(t *testing.T) {
	t.Parallel()
	cfg := listening()
	w := setup(t, storetest.SQLite(t), cfg)
	w.talk()
	verdicts, summary, err := w.service.Judge(tenant(), "", nil, func() func() ([]stage.Record, error) {
		return records(videos("tiktok", 1, 5))
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts) != 5 || w.calls["ear"] != 0 || len(summary.Notes) != 1 || !strings.HasPrefix(summary.Notes[0], "ear ") {
		t.Errorf("%d verdicts, %d calls of ear, notes %q; want 5, none and one about it", len(verdicts), w.calls["ear"], summary.Notes)
	}
	if got := fmt.Sprint(verdicts[stage.Ref{Platform: "tiktok", ExternalID: "v0005"}].DroppedBy); got != "rule_1" {
		t.Errorf("v0005 is dropped by %q, want rule_1", got)
	}
}

// records reads some records at once.
func records(all []stage.Record) func() ([]stage.Record, error) {
	return func() (some []stage.Record, err error) {
		if some, all = all, nil; len(some) == 0 {
			return nil, io.EOF
		}
		return some, nil
	}
}

// TestADropForEvidenceIsRemembered: the next scroll looks at other videos, until what the
// screen judges by changes or the drop is old.
func TestADropForEvidenceIsRemembered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := listening()
		w := setup(t, db, cfg)
		w.talk()
		w.setLimits(Limits{Active: true, MaxFeedSize: 6, ActiveScrolls: 1})
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		w.service.now = func() time.Time { return now }
		talk := w.look
		var looked []string
		w.look = func(rec stage.Record) *stage.Finding {
			looked = append(looked, strings.TrimPrefix(rec.ExternalID, "v00"))
			return talk(rec)
		}
		dropped := func() string {
			var ids []string
			all, _, err := w.service.Verdicts(tenant(), VerdictFilter{Dropped: ptr(true)}, 100, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range all {
				if v.DroppedBy == "English only" {
					ids = append(ids, fmt.Sprintf("%s on day %d", v.ExternalID[3:], time.UnixMilli(v.JudgedAt).UTC().Day()))
				}
			}
			slices.Sort(ids)
			return strings.Join(ids, ", ")
		}
		for _, c := range []struct {
			name            string
			change          func()
			looked, dropped string
			new, drops      int
		}{
			// 25, 20, 15, … are dropped by rules; 24, 21, 18, … speak German.
			{"the first scroll", func() {}, "24 23 22 21 19 18", "21 on day 1, 24 on day 1, 18 on day 1", 3, 3},
			{"the next one", func() { now = now.Add(day) }, "17 16 14 13 12 11", "12 on day 2, 18 on day 1, 21 on day 1, 24 on day 1", 5, 4},
			{"another prompt", func() { now = now.Add(day) }, "24 21 18 12 09 08", "09 on day 3, 12 on day 3, 18 on day 3, 21 on day 3, 24 on day 3", 1, 5},
			{"15 days later", func() { now = now.Add(15 * day) }, "24 21 18 12 09 07", "09 on day 18, 12 on day 18, 18 on day 18, 21 on day 18, 24 on day 18", 1, 5},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.change()
				looked = nil
				start := Start{}
				if strings.Contains("another prompt, 15 days later", c.name) {
					start.Prompt = ptr("funny ones")
				}
				done := w.complete(w.create(start).ID)
				if got := strings.Join(looked, " "); got != c.looked {
					t.Errorf("evidence was sought for %s, want %s", got, c.looked)
				}
				got := strings.Split(dropped(), ", ")
				want := strings.Split(c.dropped, ", ")
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("dropped are %q, want %q", got, want)
				}
				drops := 0
				for _, d := range done.Progress.DroppedByRule {
					if d.Rule == "English only" {
						drops = d.Videos
					}
				}
				if done.NewVideos != c.new || drops != c.drops {
					t.Errorf("%d new, %d dropped for their language; want %d and %d", done.NewVideos, drops, c.new, c.drops)
				}
			})
		}
	})
}
