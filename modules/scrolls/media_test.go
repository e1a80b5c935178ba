package scrolls

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// filming is a world with media, an evidence stage without and two with them. Each
// video's look says which media it had.
func filming(t *testing.T, db *store.DB, change func(*Config)) *world {
	cfg := quick()
	cfg.Templates[defaultTemplate] = Template{Sources: []string{"feed"}, Screens: []string{"rules"}, Evidence: []string{"captions", "ocr", "vision"}}
	cfg.MaxMedia, cfg.MediaBatch = 8, 3
	if change != nil {
		change(&cfg)
	}
	w := setup(t, db, cfg)
	w.watchers = []string{"ocr", "vision"}
	w.screen = rankByNumber(func(int) string { return "" })
	w.film = func(stage.Ref) (bool, error) { return true, nil }
	w.look = func(rec stage.Record) *stage.Finding {
		if rec.Media == "" {
			return nil
		}
		return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr(rec.Media)}}
	}
	return w
}

// evidence returns the account of a stage.
func (s *Scroll) evidence(id string) Looked {
	at := slices.IndexFunc(s.Progress.Evidence, func(l Looked) bool { return l.Stage == id })
	if at < 0 {
		return Looked{}
	}
	return s.Progress.Evidence[at]
}

func TestMediaOfTheBestAreLookedAt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := filming(t, db, nil)
		done := w.complete(w.create(Start{}).ID)
		var sizes []int
		for _, f := range w.folders {
			sizes = append(sizes, len(f.fetched))
			if !f.removed {
				t.Errorf("folder %d is left, want removed", f.id)
			}
		}
		if !slices.Equal(sizes, []int{3, 3, 2}) {
			t.Errorf("got the batches %v, want 3, 3 and 2 videos", sizes)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence = 'folder2/' || external_id AND external_id IN ('v0019', 'v0018')"); n != 2 {
			t.Errorf("%d of the last batch have the right evidence, want 2", n)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id >= 'v0018' AND evidence <> ''"); n != 8 {
			t.Errorf("%d of the best 8 have evidence, want 8", n)
		}
		want := map[string]Looked{
			"captions": {Stage: "captions", Outcome: "ok", Asked: 25}, "fetcher": {Stage: "fetcher", Outcome: "ok", Asked: 8, Found: 8},
			"ocr": {Stage: "ocr", Outcome: "ok", Asked: 8, Found: 8}, "vision": {Stage: "vision", Outcome: "ok", Asked: 8, Found: 8},
		}
		for id, account := range want {
			if got := done.evidence(id); got != account {
				t.Errorf("%s: %+v, want %+v", id, got, account)
			}
		}
	})
}

func TestMediaAreFetchedOnlyWhereTheyServe(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arrange func(w *world)
		change  func(*Config)
		fetched int
	}{
		"nobody looks":     {func(w *world) { w.watchers = nil }, nil, 0},
		"nobody can look":  {func(w *world) { w.unusable = []string{"ocr", "vision"} }, nil, 0},
		"nobody fetches":   {func(w *world) { w.film = nil }, nil, 0},
		"switched off":     {func(*world) {}, func(c *Config) { c.MaxMedia = 0 }, 0},
		"another platform": {func(w *world) { w.sources["feed"].records = videos("radio", 1, 5) }, nil, 0},
		"all is known": {func(w *world) {
			for i := range w.sources["feed"].records[:24] {
				w.sources["feed"].records[i].Evidence = &stage.Evidence{Visual: []byte(`"v"`), Spoken: ptr("s"), OnScreenText: ptr("o")}
			}
		}, nil, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filming(t, storetest.SQLite(t), c.change)
			c.arrange(w)
			done := w.complete(w.create(Start{}).ID)
			fetched := 0
			for _, f := range w.folders {
				fetched += len(f.fetched)
			}
			if done.Status != Completed || fetched != c.fetched || done.evidence("fetcher").Asked != c.fetched {
				t.Errorf("got %s, %d fetched, %+v; want %s, %d fetched and %d asked", done.Status, fetched, done.Progress.Evidence, Completed, c.fetched, c.fetched)
			}
		})
	}
}

// TestEvidenceMayBeAbsent has each of its parts fail in each way: the scroll goes
// on, keeps what was found, and says what is missing.
func TestEvidenceMayBeAbsent(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour).UnixMilli()
	fail := func(err error) func(int) error { return func(int) error { return err } }
	fault := func(failure stage.Failure) error {
		return &stage.CallError{Stage: "x", Failure: failure, RetryAt: &at, Cause: errors.New("because")}
	}
	cases := map[string]struct {
		stage string
		fail  func(number int) error
		want  Looked
		calls int
		found int // videos that have evidence
	}{
		"captions crashes":           {"captions", fail(fault(stage.StageCrashed)), Looked{Outcome: "blocked", RetryAt: &at}, 1, 8},
		"captions hangs":             {"captions", fail(errHangs), Looked{Outcome: "partial"}, 1, 0},
		"ocr crashes always":         {"ocr", fail(fault(stage.StageCrashed)), Looked{Outcome: "blocked", RetryAt: &at}, 2, 8},
		"ocr crashes once":           {"ocr", func(n int) error { return map[bool]error{true: fault(stage.StageCrashed)}[n == 1] }, Looked{Outcome: "partial", Asked: 5, Found: 5, RetryAt: &at}, 3, 8},
		"ocr hangs":                  {"ocr", fail(errHangs), Looked{Outcome: "partial"}, 1, 0},
		"vision is out of quota":     {"vision", fail(fault(stage.SourceQuota)), Looked{Outcome: "quota", RetryAt: &at}, 1, 8},
		"vision is turned away":      {"vision", fail(fault(stage.SourceUnauthorized)), Looked{Outcome: "misconfigured", RetryAt: &at}, 1, 8},
		"vision is not set up":       {"vision", fail(&stage.CallError{Stage: "x", Failure: stage.SourceUnavailable, Setup: true}), Looked{Outcome: "misconfigured"}, 1, 8},
		"fetcher is not set up":      {"fetcher", fail(&stage.CallError{Stage: "x", Failure: stage.SourceUnavailable, Setup: true}), Looked{Outcome: "misconfigured", Asked: 3}, 1, 0},
		"fetcher crashes":            {"fetcher", fail(fault(stage.StageTimeout)), Looked{Outcome: "blocked", Asked: 6, RetryAt: &at}, 2, 0},
		"fetcher is out of quota":    {"fetcher", fail(fault(stage.SourceQuota)), Looked{Outcome: "quota", Asked: 3, RetryAt: &at}, 1, 0},
		"the host has no place left": {"fetcher", fail(errors.New("no space left on device")), Looked{Outcome: "blocked", Asked: 6}, 2, 0},
		"the host has no folder":     {"folder", fail(errors.New("no space left on device")), Looked{}, 1, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, done := failing(t, c.stage, c.fail)
			if done.Status != Completed || done.Attempts != 1 || done.NewVideos != 25 {
				t.Fatalf("got %s after %d attempts with %d videos, want %s after 1 with 25", done.Status, done.Attempts, done.NewVideos, Completed)
			}
			got := done.evidence(c.stage)
			if c.want.Asked == 0 {
				got.Asked = 0 // how many a stage took before it failed is its own affair
			}
			if c.want.Outcome != "" {
				c.want.Stage = c.stage
			}
			if fmt.Sprint(got.RetryAt != nil, got.Outcome, got.Asked, got.Found) != fmt.Sprint(c.want.RetryAt != nil, c.want.Outcome, c.want.Asked, c.want.Found) {
				t.Errorf("%s: %+v, want %+v", c.stage, got, c.want)
			}
			if w.calls[c.stage] != c.calls {
				t.Errorf("%s was called %d times, want %d", c.stage, w.calls[c.stage], c.calls)
			}
			if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence <> ''"); n != c.found {
				t.Errorf("%d videos have evidence, want %d", n, c.found)
			}
		})
	}
}

// failing completes a scroll in which a stage fails. Where the stage hangs, it does so for
// most of the step's time. A busy machine may need more than the rest: it gets more.
func failing(t *testing.T, id string, fail func(number int) error) (w *world, done *Scroll) {
	t.Helper()
	within := []time.Duration{time.Minute}
	if errors.Is(fail(1), errHangs) {
		within = []time.Duration{3 * time.Second, 9 * time.Second, 27 * time.Second}
	}
	for _, deadline := range within {
		w = filming(t, storetest.SQLite(t), func(cfg *Config) { cfg.Deadlines[Evidence] = deadline })
		w.stageErr[id] = fail
		done = w.complete(w.create(Start{}).ID)
		if w.calls[id] > 0 && done.Attempts == 1 {
			break
		}
	}
	return w, done
}

// TestEvidenceBeforeTheFailureStays has a stage crash in the middle of its work.
func TestEvidenceBeforeTheFailureStays(t *testing.T) {
	t.Parallel()
	w := filming(t, storetest.SQLite(t), nil)
	w.watchers = nil
	w.look = func(rec stage.Record) *stage.Finding {
		return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr("said")}}
	}
	for _, id := range []string{"captions", "ocr", "vision"} {
		w.stageErr[id] = func(int) error { return errHalfWay }
	}
	done := w.complete(w.create(Start{}).ID)
	if got := done.evidence("captions"); done.Status != Completed || got.Outcome != "partial" || got.Found != 3 {
		t.Errorf(`got %s, want %s with the outcome partial and 3 found; got %+v`, done.Status, Completed, got)
	}
	if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence = 'said'"); n != 3 {
		t.Errorf("%d videos have evidence, want 3", n)
	}
}

// TestVideosWithoutEvidenceAreLookedAtAgain lets the source fetch only in the
// second scroll.
func TestVideosWithoutEvidenceAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := filming(t, storetest.SQLite(t), nil)
	w.film = func(stage.Ref) (bool, error) { return false, nil }
	first := w.complete(w.create(Start{}).ID)
	if got := first.evidence("fetcher"); got.Outcome != "partial" || got.Asked != 8 || got.Found != 0 {
		t.Errorf(`first: %+v, want Outcome "partial", Asked 8 and Found 0`, got)
	}
	w.film = func(stage.Ref) (bool, error) { return true, nil }
	second := w.complete(w.create(Start{}).ID)
	if got := second.evidence("ocr"); got.Outcome != "ok" || got.Found != 8 {
		t.Errorf(`second: %+v, want Outcome "ok" and Found 8`, got)
	}
	if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence <> ''"); n != 8 {
		t.Errorf("%d videos have evidence, want 8", n)
	}
}

// TestFindingsOfKnownVideosNeedNoRoom: a feed that fills the scroll up takes nothing
// from what was found of videos that the library has.
func TestFindingsOfKnownVideosNeedNoRoom(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.setLimits(Limits{Active: true, MaxFeedSize: 12, ActiveScrolls: 1})
		w.sources["feed"].records = videos("tiktok", 1, 12)
		w.complete(w.create(Start{}).ID)
		looked := map[string]bool{}
		w.look = func(rec stage.Record) *stage.Finding {
			looked[rec.ExternalID] = true
			if rec.ExternalID == "v0005" {
				return nil
			}
			return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr("late")}}
		}
		w.sources["feed"].records = videos("tiktok", 1, 30) // more than there is room for
		if done := w.complete(w.create(Start{}).ID); done.NewVideos != 12 {
			t.Fatalf("%d new videos, want 12", done.NewVideos)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id <= 'v0012' AND evidence = 'late'"); n != 11 {
			t.Errorf("findings of %d known videos are in the library, want 11", n)
		}
		if len(looked) != 24 {
			t.Errorf("looked at %d videos, want 24", len(looked))
		}
		looked = map[string]bool{}
		w.sources["feed"].records = videos("tiktok", 1, 12)
		w.complete(w.create(Start{}).ID)
		if len(looked) != 1 || !looked["v0005"] {
			t.Errorf("got another look at %v, want one at v0005", looked)
		}
		if n := w.count("scroll_records"); n != 0 {
			t.Errorf("%d records left, want 0", n)
		}
	})
}

// TestFramesReachTheLibrary: those of the first stage that has some, of new videos and of known
// ones, unless the account or the operator keeps none.
func TestFramesReachTheLibrary(t *testing.T) {
	t.Parallel()
	frame := func(words string) []stage.Frame { return []stage.Frame{{At: 1, WebP: []byte(words)}} }
	for name, c := range map[string]struct {
		framed int
		change func(*Config)
		want   string // of a new video
		ends   int    // how many videos keep theirs at the end of the archive step
	}{
		"the plan keeps some":     {5, nil, "vision", 5},
		"the plan keeps none":     {0, nil, "", 0},
		"the operator keeps none": {5, func(c *Config) { c.KeepFrames = false }, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				w := filming(t, db, c.change)
				w.setLimits(Limits{Active: true, MaxFeedSize: 250, ActiveScrolls: 1, FramedVideos: c.framed})
				w.sources["feed"].records = videos("tiktok", 1, 3)
				looks := 0
				w.look = func(rec stage.Record) *stage.Finding {
					if rec.Media == "" { // it saw no film
						return &stage.Finding{Ref: rec.Ref, Frames: frame("made up")}
					}
					looks++
					if looks <= 3 { // ocr, which comes first, has none
						return &stage.Finding{Ref: rec.Ref}
					}
					return &stage.Finding{Ref: rec.Ref, Frames: frame("vision")}
				}
				for range 2 { // the second time the videos are known, and still without evidence
					w.complete(w.create(Start{}).ID)
					looks = 0
					w.mu.Lock()
					for _, id := range []string{"v0001", "v0002", "v0003"} {
						got := ""
						for _, f := range w.frames[stage.Ref{Platform: "tiktok", ExternalID: id}] {
							got += string(f.WebP)
						}
						if got != c.want {
							t.Errorf("%s: got the frames %q, want %q", id, got, c.want)
						}
					}
					if len(w.framed) != 1 || w.framed[0] != c.ends {
						t.Errorf("at the end %v videos keep theirs, want %d", w.framed, c.ends)
					}
					w.frames, w.framed = nil, nil
					w.mu.Unlock()
				}
			})
		})
	}
}
