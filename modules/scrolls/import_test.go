package scrolls

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// read makes readings of a time.
func read(at int64, records []stage.Record) []stage.Record {
	for i := range records {
		records[i].Metrics.ObservedAt = &at
	}
	return records
}

const (
	firstTime  = 1_760_000_000_000
	secondTime = 1_770_000_000_000
)

func TestImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.setLimits(Limits{}) // an operator's command asks for no subscription
		load := func(want Tally, scroll bool, parts ...[]stage.Record) Imported {
			t.Helper()
			done, err := w.service.Import(tenant(), feed(parts...))
			if err != nil || done.Sum() != want || (done.ScrollID != 0) != scroll {
				t.Errorf("%+v in scroll %d, %v; want %+v", done.Sum(), done.ScrollID, err, want)
			}
			return done
		}
		done := load(Tally{New: 309, Repeated: 11}, true, videos("tiktok", 1, 300), videos("tiktok", 290, 20))
		if diff := cmp.Diff([]Tally{{New: 300}, {New: 9, Repeated: 11}}, done.Parts); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
		if scroll := w.load(done.ScrollID); scroll.Status != Completed || *scroll.Template != importTemplate || scroll.NewVideos != 309 {
			t.Errorf("got %+v, want it %s with the template %s and 309 new videos", scroll, Completed, importTemplate)
		}
		load(Tally{New: 10, Again: 10}, true, read(firstTime, videos("tiktok", 300, 20)))
		load(Tally{Again: 20}, true, read(secondTime, videos("tiktok", 300, 20)))
		n := w.count("scrolls")
		load(Tally{Same: 20}, false, read(secondTime, videos("tiktok", 300, 20)))
		load(Tally{Same: 20}, false, read(firstTime, videos("tiktok", 300, 20))) // older than the last
		if w.count("scrolls") != n || w.renewed != 40 {
			t.Errorf("got %d scrolls and %d videos renewed, want %d and 40", w.count("scrolls"), w.renewed, n)
		}
		w.repeats = true
		load(Tally{Same: 20}, false, read(secondTime, videos("tiktok", 300, 20)))
		if w.renewed != 40 {
			t.Errorf("got %d videos renewed by readings that repeat the library, want none", w.renewed-40)
		}
		w.repeats = false
		load(Tally{New: 1, Refused: 2}, true, []stage.Record{{Ref: stage.Ref{Platform: "x", ExternalID: "1"}}, {}, {Ref: stage.Ref{Platform: "x", ExternalID: "\x00"}}})
		if n := w.count("fake_charges"); n != 0 || w.count("scroll_records") != 0 {
			t.Errorf("got %d charges and %d records left, want 0 of each", n, w.count("scroll_records"))
		}
		if total, err := w.history.Completed(tenant(), w.subject); err != nil || total != 4 {
			t.Errorf("got %d completed scrolls, error %v; want 4", total, err)
		}
		w.briefed = false
		if _, err := w.service.Import(tenant(), feed(nil)); !apierr.Is(err, apierr.WorkspaceRequired) {
			t.Errorf("without a workspace: %v, want %v", err, apierr.WorkspaceRequired)
		}
	})
}

func TestImportKeepsTheNewestReading(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		done, err := w.service.Import(tenant(), feed(
			read(firstTime, videos("tiktok", 1, 30)), read(secondTime, videos("tiktok", 1, 30)), read(firstTime+1, videos("tiktok", 1, 30))))
		if diff := cmp.Diff([]Tally{{Repeated: 30}, {New: 30}, {Repeated: 30}}, done.Parts); err != nil || diff != "" {
			t.Errorf("got %v; parts (-want +got):\n%s", err, diff)
		}
		if n := w.number("SELECT count(*) FROM fake_observations WHERE observed_at = $1", secondTime); n != 30 || w.count("fake_observations") != 30 {
			t.Errorf("got %d of %d observations at the newest time, want 30 of 30", n, w.count("fake_observations"))
		}
	})
}

func TestImportGoesInBatchesAndStagesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := quick()
		cfg.MaxRecords = 40
		batches, staged := []int{}, 0
		w := setup(t, db, cfg)
		w.service.cfg.Pause = func(_ context.Context, stage, point string) {
			staged = max(staged, w.count("scroll_records"))
			if stage == Archive && point == "batch" {
				batches = append(batches, w.count("fake_videos"))
			}
		}
		again := videos("tiktok", 1, 5)
		done, err := w.service.Import(tenant(), feed(read(firstTime, videos("tiktok", 1, 205)), read(secondTime, again)))
		if err != nil || done.Sum() != (Tally{New: 205, Repeated: 5}) {
			t.Errorf("got %+v, %v, want 205 new and 5 repeated", done.Sum(), err)
		}
		if scroll := w.load(done.ScrollID); scroll.Status != Completed || scroll.NewVideos != 205 {
			t.Errorf("got %+v, want it %s with 205 new videos", scroll, Completed)
		}
		if w.count("fake_videos") != 205 || w.count("fake_observations") != 205 || staged != 0 {
			t.Errorf("%d videos, %d observations, %d staged, want count 205 and staged 0", w.count("fake_videos"), w.count("fake_observations"), staged)
		}
		if diff := cmp.Diff([]int{40, 80, 120, 160, 200, 205}, batches); diff != "" {
			t.Errorf("videos after each batch (-want +got):\n%s", diff)
		}
		if len(w.scores) != 1 {
			t.Errorf("scored %d times, want 1", len(w.scores))
		}
	})
}

func TestImportAsksForEvidence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		said := "said"
		w.look = func(rec stage.Record) *stage.Finding {
			return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: &said}}
		}
		for _, c := range []struct {
			name, before string
			at           int64
			asked        int
		}{
			{"of new videos", "", firstTime, 25},
			{"not of known ones that have some", "", secondTime, 0},
			{"of known ones that have none", "UPDATE fake_videos SET evidence = '' WHERE external_id <= 'v0005'", secondTime + 1, 5},
		} {
			t.Run(c.name, func(t *testing.T) {
				if c.before != "" {
					w.exec(c.before)
				}
				done, err := w.service.Import(tenant(), feed(read(c.at, videos("tiktok", 1, 25))))
				if err != nil {
					t.Fatal(err)
				}
				want := []Looked{{Stage: "captions", Outcome: "ok", Asked: c.asked, Found: c.asked}}
				if c.asked == 0 {
					want = nil
				}
				if diff := cmp.Diff(want, w.load(done.ScrollID).Progress.Evidence); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.name, diff)
				}
				if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence = 'said'"); n != 25 {
					t.Errorf("%s: %d videos have evidence, want 25", c.name, n)
				}
			})
		}
	})
}

// TestImportCountsWhatIsStored: a batch that fails counts for nothing, and a video that
// another import archived meanwhile is not new.
func TestImportCountsWhatIsStored(t *testing.T) {
	t.Parallel()
	setUp := func(t *testing.T, db *store.DB) *world {
		cfg := quick()
		cfg.MaxRecords, cfg.Heartbeat = 40, 30*time.Millisecond
		return setup(t, db, cfg)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		t.Run("cut off", func(t *testing.T) {
			w := setUp(t, db)
			ctx, cancel := context.WithCancel(tenant())
			looks := 0
			w.look = func(stage.Record) *stage.Finding {
				if looks++; looks > 80 { // the third batch, while the second is archived
					for end := time.Now().Add(2 * time.Minute); w.count("fake_videos") < 80 && time.Now().Before(end); {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}
				return nil
			}
			done, err := w.service.Import(ctx, feed(read(firstTime, videos("tiktok", 1, 200))))
			if n := w.count("fake_videos"); err == nil || done.Sum() != (Tally{New: n}) || n != 80 {
				t.Errorf("got %+v, %v; want %d new", done.Sum(), err, n)
			}
		})
	})
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		t.Run("beside another", func(t *testing.T) {
			w := setUp(t, db)
			var once sync.Once
			w.look = func(stage.Record) *stage.Finding {
				once.Do(func() {
					w.look = nil
					if _, err := w.another(w.service.cfg).Import(tenant(), feed(read(firstTime, videos("tiktok", 1, 30)))); err != nil {
						t.Error(err)
					}
				})
				return nil
			}
			done, err := w.service.Import(tenant(), feed(read(firstTime, videos("tiktok", 1, 40))))
			if sum := done.Sum(); err != nil || sum.New != 10 || sum.Again+sum.Same != 30 || w.load(done.ScrollID).NewVideos != 10 {
				t.Errorf("got %+v, %v; want 10 new of 40", sum, err)
			}
			fresh, again := 0, 0
			for _, entry := range w.load(done.ScrollID).Progress.Coverage {
				fresh, again = fresh+entry.New, again+entry.Reobserved
			}
			if diff := cmp.Diff([]int{10, 30}, []int{fresh, again}); diff != "" {
				t.Errorf("new and reobserved in the coverage (-want +got):\n%s", diff)
			}
		})
	})
}

// TestImportCutOff loses the command at points where it may be, and imports again.
func TestImportCutOff(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		stage, point string
		time         int
	}{
		{Collect, "begin", 1},
		{Archive, "batch", 1},
		{Archive, "batch", 2},
		{Archive, "end", 1},
		{Score, "begin", 1},
		{Score, "end", 1},
	} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) { importCutOff(t, db, at.stage, at.point, at.time) })
		})
	}
}

func importCutOff(t *testing.T, db *store.DB, stage, point string, nth int) {
	cfg := quick()
	cfg.MaxRecords, cfg.Heartbeat, cfg.Stale = 40, 30*time.Millisecond, 90*time.Millisecond
	w := setup(t, db, cfg)
	records := func() func() ([]Reading, error) {
		return feed(read(firstTime, videos("tiktok", 1, 50)), read(firstTime, videos("tiktok", 51, 30)))
	}
	lost := w.another(cfg)
	lost.cfg.Heartbeat = time.Hour
	reached, goOn := make(chan struct{}), make(chan struct{})
	times := 0
	lost.cfg.Pause = func(_ context.Context, s, p string) {
		if s != stage || p != point {
			return
		}
		if times++; times == nth {
			close(reached)
			<-goOn
		}
	}
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := lost.Import(tenant(), records()); err == nil {
			t.Error("the lost command ends well, want an error")
		}
	})
	<-reached
	done, err := w.service.Import(tenant(), records())
	if err != nil {
		t.Error(err)
	}
	close(goOn)
	all.Wait()
	if videos, observations := w.count("fake_videos"), w.count("fake_observations"); videos != 80 || observations != 80 {
		t.Errorf("%d videos, %d observations, want 80 each", videos, observations)
	}
	if n := w.number("SELECT count(*) FROM scrolls WHERE status = 'running'"); n != 0 {
		t.Errorf("%d scrolls are still running, want 0", n)
	}
	n := w.number("SELECT count(*) FROM fake_observations o JOIN scrolls s ON s.id = o.scroll_id WHERE s.status = 'completed'")
	if sum := done.Sum(); n != 80 || sum.New+sum.Same != 80 {
		t.Errorf("got %d observations of completed scrolls, and %+v; want 80, each new or the same", n, done)
	}
}

// TestScoringOfAnImportHasTimeForItsVideos: the deadline of the step grows with them, and
// stays as it is for a scroll.
func TestScoringOfAnImportHasTimeForItsVideos(t *testing.T) {
	t.Parallel()
	s := &Service{cfg: Config{Deadlines: map[string]time.Duration{Score: time.Minute, Archive: time.Second}}}
	for name, c := range map[string]struct {
		template, step  string
		new, reobserved int
		want            time.Duration
	}{
		"a small import":              {importTemplate, Score, 49_999, 0, time.Minute},
		"a large one":                 {importTemplate, Score, 1_000_000, 0, 21 * time.Minute},
		"one of known videos":         {importTemplate, Score, 0, 100_000, 3 * time.Minute},
		"another step of a large one": {importTemplate, Archive, 1_000_000, 0, time.Second},
		"a scroll":                    {defaultTemplate, Score, 1_000_000, 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{s: s, name: c.template}
			r.state.newVideos, r.state.progress.Reobserved = c.new, c.reobserved
			if got := r.within(c.step); got != c.want {
				t.Errorf("within %v, want %v", got, c.want)
			}
		})
	}
}
