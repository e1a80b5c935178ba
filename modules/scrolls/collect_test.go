package scrolls

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCollectStopsAtItsBound(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.MaxRecords = 9
	w := setup(t, storetest.SQLite(t), cfg)
	done := w.complete(w.create(Start{}).ID)
	if done.Status != Completed || done.Progress.Collected != 9 || done.NewVideos != 9 {
		t.Errorf("%+v", done)
	}
}

func TestCollectKeepsTheKindsOfItsTemplate(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	records := videos("tiktok", 1, 4)
	records[0].Source.Kind, records[1].Source.Handle, records[1].Seed = competitor, "@RIVAL", ""
	records = append(records, records[0], stage.Record{Ref: stage.Ref{Platform: "tiktok"}}) // twice, and without an id
	w.sources["feed"].records = records
	done := w.complete(w.create(Start{Template: ptr("competitors")}).ID)
	if done.Progress.Collected != 4 || done.NewVideos != 2 {
		t.Errorf("%+v", done)
	}
	for _, seed := range w.sources["feed"].seeds {
		if seed.Kind != competitor {
			t.Errorf("asked for %+v", seed)
		}
	}
	if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id IN ('v0001', 'v0002')"); n != 2 {
		t.Errorf("%d of the two competitors' videos", n)
	}
	// Without a kind in the template all are kept, the two known ones observed.
	done = w.complete(w.create(Start{}).ID)
	if done.NewVideos != 2 || done.Progress.Reobserved != 2 {
		t.Errorf("%+v", done)
	}
}

func TestCoverageIsShortened(t *testing.T) {
	t.Parallel()
	var all []Coverage
	for i := range 10 {
		all = append(all, Coverage{Seed: fmt.Sprint(i), Outcome: "ok", Returned: i})
	}
	all[3].Outcome = "changed"
	var seeds []string
	for _, c := range shortened(all, 3) {
		seeds = append(seeds, c.Seed)
	}
	if !slices.Equal(seeds, []string{"3", "9", "8"}) {
		t.Errorf("kept %v", seeds)
	}
}

func TestParsedProgressIsNeverStale(t *testing.T) {
	t.Parallel()
	p := parsed{entries: map[int64]parsedEntry{}}
	for id := range int64(2 * maxParsed) {
		for _, percent := range []float64{1, 2, 2} {
			got, err := p.parse(id, fmt.Appendf(nil, `{"percent":%v,"collected":%d}`, percent, id))
			if err != nil || got.Percent != percent || got.Collected != int(id) {
				t.Fatalf("scroll %d: %+v, %v", id, got, err)
			}
		}
	}
	if len(p.entries) > maxParsed {
		t.Errorf("%d entries", len(p.entries))
	}
	if _, err := p.parse(1, []byte("{")); err == nil {
		t.Error("broken progress is read")
	}
}

// TestNothingHereIsNoWordOnElsewhere: of two sources for a platform, one that has
// nothing does not hide that the other was kept from looking.
func TestNothingHereIsNoWordOnElsewhere(t *testing.T) {
	t.Parallel()
	at := int64(7)
	outcome := func(status stage.Status, returned int) stage.Outcome {
		o := stage.Outcome{Seed: "ada", Platform: "tiktok", Status: status, Returned: returned}
		if status == stage.Blocked {
			o.RetryAt = &at
		}
		return o
	}
	for _, c := range []struct {
		one, other stage.Outcome
		want       stage.Status
	}{
		{outcome(stage.Empty, 0), outcome(stage.Blocked, 0), stage.Blocked},
		{outcome(stage.NotFound, 0), outcome(stage.Quota, 0), stage.Quota},
		{outcome(stage.Unsupported, 0), outcome(stage.Empty, 0), stage.Empty},
		{outcome(stage.Blocked, 0), outcome(stage.OK, 3), stage.OK},
		{outcome(stage.Blocked, 0), outcome(stage.Misconfigured, 0), stage.Misconfigured},
	} {
		for _, both := range [][]stage.Outcome{{c.one, c.other}, {c.other, c.one}} {
			merged := merge(both)[coverageKey{"ada", "tiktok"}]
			if merged.Status != c.want || merged.Returned != c.one.Returned+c.other.Returned || (merged.RetryAt != nil) != (c.want == stage.Blocked) {
				t.Errorf("%s and %s are %+v", c.one.Status, c.other.Status, merged)
			}
		}
	}
}

// TestAFailedSourceSpeaksForItself: what it did not account for is lost on the
// platforms that it serves, and on no other.
func TestAFailedSourceSpeaksForItself(t *testing.T) {
	t.Parallel()
	all := []stage.Seed{
		{Handle: "ada", Platform: "tiktok"}, {Handle: "ada", Platform: "instagram"}, {Handle: "bob", Platform: "instagram"}, {Term: "kettle", Limit: 5},
	}
	d := &delivery{
		source: "instagram", serves: []string{"instagram"}, seeds: served(all, []string{"instagram"}), err: errors.New("broken"),
		outcomes: []stage.Outcome{{Seed: "bob", Platform: "instagram", Status: stage.OK}},
	}
	var got []string
	for _, o := range lostSeeds(d) {
		got = append(got, fmt.Sprintf("%s on %s: %s of %d", o.Seed, o.Platform, o.Status, o.Asked))
	}
	if want := []string{"ada on instagram: blocked of 0", "kettle on instagram: blocked of 5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestALossIsNoWordOnWhatOthersSay: of a seed that a source has trouble with of its
// own, that trouble is told, and not why another could not begin.
func TestALossIsNoWordOnWhatOthersSay(t *testing.T) {
	t.Parallel()
	outcome := func(status stage.Status) stage.Outcome {
		return stage.Outcome{Seed: "ada", Platform: "youtube", Status: status}
	}
	for _, c := range []struct {
		said []stage.Outcome
		lost stage.Status
		want stage.Status
	}{
		{[]stage.Outcome{outcome(stage.Blocked)}, stage.Misconfigured, stage.Blocked},
		{[]stage.Outcome{outcome(stage.Empty)}, stage.Misconfigured, stage.Misconfigured},
		{[]stage.Outcome{outcome(stage.Blocked)}, stage.Partial, stage.Partial},
		{nil, stage.Blocked, stage.Blocked},
	} {
		merged := merge(append(c.said, untold([]stage.Outcome{outcome(c.lost)}, c.said)...))
		if got := merged[coverageKey{"ada", "youtube"}].Status; got != c.want {
			t.Errorf("%+v and a loss, %s, are %s, want %s", c.said, c.lost, got, c.want)
		}
	}
}

// Coverage says whose fault it was in its own words, which are more than those of
// failed scrolls.
func TestTheWordForALoss(t *testing.T) {
	t.Parallel()
	at := int64(7)
	for name, c := range map[string]struct {
		fault   stage.CallError
		records int
		want    stage.Status
	}{
		"down":                      {stage.CallError{Failure: stage.SourceUnavailable}, 0, stage.Blocked},
		"down after a while":        {stage.CallError{Failure: stage.SourceUnavailable}, 3, stage.Partial},
		"not set up":                {stage.CallError{Failure: stage.SourceUnavailable, Setup: true}, 0, stage.Misconfigured},
		"the key is turned down":    {stage.CallError{Failure: stage.SourceUnauthorized}, 0, stage.Misconfigured},
		"the allowance is used up":  {stage.CallError{Failure: stage.SourceQuota}, 3, stage.Quota},
		"the stage broke by itself": {stage.CallError{Failure: stage.StageCrashed}, 0, stage.Blocked},
	} {
		c.fault.RetryAt = &at
		d := &delivery{source: "tiktok", serves: []string{"tiktok"}, seeds: []stage.Seed{{Handle: "ada", Platform: "tiktok"}}, err: &c.fault, records: c.records}
		if lost := lostSeeds(d); len(lost) != 1 || lost[0].Status != c.want || lost[0].RetryAt != &at {
			t.Errorf("%s: %+v, want %s", name, lost, c.want)
		}
	}
}
