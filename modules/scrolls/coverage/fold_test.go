package coverage

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

const now = 1_760_000_000_000

var (
	later    = int64(now + 1000)
	tomorrow = now + (24 * time.Hour).Milliseconds()
	nextWeek = now + (7 * 24 * time.Hour).Milliseconds()
)

func on(platform, handle string) stage.Seed {
	return stage.Seed{Platform: platform, Handle: handle, Limit: 20}
}

func outcome(platform, seed string, status stage.Status, returned int) stage.Outcome {
	return stage.Outcome{Seed: seed, Platform: platform, Status: status, Asked: 20, Returned: returned}
}

// site is a source that searches one platform.
func site(platform string, outcomes ...stage.Outcome) *Answer {
	return &Answer{Source: platform, Serves: []string{platform}, Searches: true, Outcomes: outcomes}
}

// any is a source that searches all platforms.
func anywhere(outcomes ...stage.Outcome) *Answer {
	return &Answer{Source: "anywhere", Searches: true, Outcomes: outcomes}
}

func folder(outcomes ...stage.Outcome) *Answer { return &Answer{Source: "feed", Outcomes: outcomes} }

// failed is a source that was asked for seeds and failed after some records.
func failed(a *Answer, fault error, records int, seeds ...stage.Seed) *Answer {
	a.Err, a.Records, a.Seeds = fault, records, seeds
	return a
}

// asked is a source that was asked for seeds.
func asked(a *Answer, seeds ...stage.Seed) *Answer { return failed(a, nil, 0, seeds...) }

// full is a source that the scroll took no more of.
func full(a *Answer) *Answer {
	a.Full = true
	return a
}

// led is a source that found two seeds that no one planned.
func led(a *Answer, one Key, by string, other Key, byOther string) *Answer {
	a.Leads = map[Key]string{one: by, other: byOther}
	return a
}

// show writes an entry on one line: platform seed outcome returned/asked, and what is unusual.
func show(entries []Entry) []string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = fmt.Sprintf("%s %s %s %d/%d", e.Platform, e.Seed, e.Outcome, e.Returned, e.Asked)
		if !e.Planned {
			lines[i] += " found"
		}
		if e.RetryAt != nil {
			lines[i] += fmt.Sprintf(" retry %d", *e.RetryAt-now)
		}
	}
	return lines
}

func TestFold(t *testing.T) {
	t.Parallel()
	ada, bob := on("tiktok", "ada"), on("tiktok", "bob")
	kettle := stage.Seed{Term: "kettle", Limit: 20}
	quota := stage.Outcome{Seed: "ada", Platform: "tiktok", Status: stage.Quota, RetryAt: &later}
	before := func(seed string, returned int, planned bool) []Entry {
		return []Entry{{Seed: seed, Platform: "tiktok", Outcome: "ok", Returned: returned, Planned: planned}}
	}
	retry := fmt.Sprintf(" retry %d", tomorrow-now)
	for name, c := range map[string]struct {
		in   Input
		want []string
	}{
		"report: the outcome of a source is the entry": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.Partial, 3))}, Returned: Tally{{"ada", "tiktok"}: 3}},
			[]string{"tiktok ada partial 3/20"},
		},
		"report: a failed source loses the seeds it did not report on, on its platforms": {
			Input{
				Seeds: []stage.Seed{ada, on("instagram", "ada"), on("instagram", "bob"), kettle},
				Answers: []*Answer{
					failed(site("instagram", outcome("instagram", "bob", stage.OK, 0)), errors.New("broken"), 0, on("instagram", "ada"), on("instagram", "bob"), kettle),
					site("tiktok", outcome("tiktok", "ada", stage.OK, 1)),
				},
			},
			[]string{"instagram ada blocked 0/20", "instagram bob ok 0/20", "instagram kettle blocked 0/20", "tiktok ada ok 0/20"},
		},
		"report: a failed source without seeds of its own has an entry itself": {
			Input{Answers: []*Answer{failed(folder(), errors.New("broken"), 0)}},
			[]string{" feed blocked 0/0 found"},
		},
		"prefer: a folder without videos hides no report of a site": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{folder(outcome("tiktok", "ada", stage.Empty, 0)), site("tiktok", outcome("tiktok", "ada", stage.NotFound, 0))}},
			[]string{"tiktok ada not_found 0/20" + retry},
		},
		"prefer: a folder with videos does": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{folder(outcome("tiktok", "ada", stage.OK, 2)), site("tiktok", outcome("tiktok", "ada", stage.NotFound, 0))}, Returned: Tally{{"ada", "tiktok"}: 2}},
			[]string{"tiktok ada ok 2/20"},
		},
		"prefer: trouble at the site hides that another source is not set up": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{
				site("tiktok", outcome("tiktok", "ada", stage.Blocked, 0)),
				failed(site("tiktok"), &stage.CallError{Setup: true}, 0, ada),
			}},
			[]string{"tiktok ada blocked 0/20"},
		},
		"prefer: nothing at the site does not": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{
				site("tiktok", outcome("tiktok", "ada", stage.Empty, 0)),
				failed(site("tiktok"), &stage.CallError{Setup: true}, 0, ada),
			}},
			[]string{"tiktok ada misconfigured 0/20"},
		},
		"prefer: a source that was cut off is partial beside trouble": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{
				site("tiktok", outcome("tiktok", "ada", stage.Blocked, 0)),
				failed(site("tiktok"), errors.New("broken"), 5, ada),
			}},
			[]string{"tiktok ada partial 0/20"},
		},
		"merge: trouble is more telling than nothing, and videos than trouble": {
			Input{
				Seeds: []stage.Seed{ada, bob},
				Answers: []*Answer{
					site("tiktok", outcome("tiktok", "ada", stage.Empty, 0), outcome("tiktok", "bob", stage.OK, 3)),
					anywhere(quota, outcome("tiktok", "bob", stage.Blocked, 0)),
				},
				Returned: Tally{{"bob", "tiktok"}: 3},
			},
			[]string{"tiktok ada quota 0/20 retry 1000", "tiktok bob ok 3/20"},
		},
		"count: a record's seed has an entry although it was not planned": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{folder(outcome("tiktok", "ada", stage.Empty, 0))}, Returned: Tally{{"maker", "tiktok"}: 4}},
			[]string{"tiktok ada empty 0/20", "tiktok maker ok 4/0 found"},
		},
		"compare: a seed that brought videos and now none has changed": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.OK, 0))}, Before: before("ada", 3, true)},
			[]string{"tiktok ada changed 0/20"},
		},
		"compare: not where its source found videos that another seed brought": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.OK, 3))}, Before: before("ada", 3, true)},
			[]string{"tiktok ada ok 0/20"},
		},
		"compare: not where there is trouble": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.Blocked, 0))}, Before: before("ada", 3, true)},
			[]string{"tiktok ada blocked 0/20"},
		},
		"compare: not where a source failed": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.Empty, 0)), failed(folder(), errors.New("broken"), 0)}, Before: before("ada", 3, true)},
			[]string{" feed blocked 0/0 found", "tiktok ada empty 0/20"},
		},
		"compare: a seed that a source found before has changed": {
			Input{Answers: []*Answer{folder()}, Before: before("maker", 3, false)},
			[]string{"tiktok maker changed 0/0 found"},
		},
		"compare: not one that the scroll no longer asks for": {
			Input{Answers: []*Answer{folder()}, Before: before("ada", 3, true)},
			[]string{},
		},
		"complete: a platform that no source searches is unsupported": {
			Input{Seeds: []stage.Seed{ada, on("instagram", "ada")}, Answers: []*Answer{folder(), site("instagram", outcome("instagram", "ada", stage.Empty, 0))}},
			[]string{"instagram ada empty 0/20", "tiktok ada unsupported 0/20"},
		},
		"complete: or has changed, where the seed had videos on it": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{folder()}, Before: before("@Ada", 3, true)},
			[]string{"tiktok ada changed 0/20"},
		},
		"complete: a handle for any platform is empty": {
			Input{Seeds: []stage.Seed{on("", "ada")}, Answers: []*Answer{anywhere()}},
			[]string{" ada empty 0/20"},
		},
		"complete: or what the failed source met with": {
			Input{Seeds: []stage.Seed{on("", "ada")}, Answers: []*Answer{anywhere(), failed(folder(), &stage.CallError{Failure: stage.SourceQuota, RetryAt: &later}, 3)}},
			[]string{" ada quota 0/20 retry 1000", " feed quota 0/0 found retry 1000"},
		},
		"complete: a term that no source reports on is empty": {
			Input{Seeds: []stage.Seed{kettle}, Answers: []*Answer{anywhere()}},
			[]string{" kettle empty 0/20"},
		},
		"complete: a term is unsupported where no source searches": {
			Input{Seeds: []stage.Seed{kettle}, Answers: []*Answer{folder(outcome("tiktok", "maker", stage.OK, 2))}},
			[]string{" kettle unsupported 0/20", "tiktok maker ok 0/20 found"},
		},
		"complete: a seed that was not asked since the scroll was full is partial": {
			Input{Seeds: []stage.Seed{ada, bob}, Answers: []*Answer{full(site("tiktok", outcome("tiktok", "bob", stage.OK, 2)))}, Before: before("ada", 3, true)},
			[]string{"tiktok ada partial 0/20", "tiktok bob ok 0/20"},
		},
		"compare: a seed for any platform has changed on the one where it had videos": {
			Input{
				Seeds:   []stage.Seed{on("", "ada")},
				Answers: []*Answer{anywhere(outcome("youtube", "ada", stage.OK, 2))}, Before: before("Ada", 3, true),
			},
			[]string{"tiktok ada changed 0/20", "youtube ada ok 0/20"},
		},
		"compare: what a source that searches found by itself never has": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.OK, 2))}, Before: before("maker", 3, false)},
			[]string{"tiktok ada ok 0/20"},
		},
		"report: a creator on the way is of the seed that led there": {
			Input{
				Seeds: []stage.Seed{ada, bob},
				Answers: []*Answer{led(site("tiktok", outcome("tiktok", "maker", stage.OK, 2), outcome("tiktok", "other", stage.NotFound, 0)),
					Key{"maker", "tiktok"}, "ada", Key{"other", "tiktok"}, "bob")},
				Returned: Tally{{"ada", "tiktok"}: 2},
			},
			[]string{"tiktok ada ok 2/0", "tiktok bob empty 0/0"},
		},
		"report: trouble of what nobody planned is of the seeds without a report": {
			Input{
				Seeds:   []stage.Seed{ada, bob},
				Answers: []*Answer{asked(site("tiktok", outcome("tiktok", "maker", stage.Blocked, 0), outcome("tiktok", "bob", stage.OK, 1)), ada, bob)},
			},
			[]string{"tiktok ada blocked 0/20", "tiktok bob ok 0/20"},
		},
		"report: the entry has the planned spelling": {
			Input{Seeds: []stage.Seed{ada}, Answers: []*Answer{folder(outcome("tiktok", "@Ada", stage.OK, 2))}},
			[]string{"tiktok ada ok 0/20"},
		},
		"report: a source for any platform that fails loses its seeds": {
			Input{Seeds: []stage.Seed{kettle}, Answers: []*Answer{failed(anywhere(), errors.New("broken"), 0, kettle)}},
			[]string{" kettle blocked 0/20"},
		},
		"postpone: a seed that is not found again waits longer": {
			Input{
				Seeds:   []stage.Seed{ada, bob},
				Answers: []*Answer{site("tiktok", outcome("tiktok", "ada", stage.NotFound, 0), outcome("tiktok", "bob", stage.NotFound, 0))},
				Waits:   NewWaits([]Entry{{Seed: "@Ada", Platform: "tiktok", Outcome: "not_found"}}),
			},
			[]string{fmt.Sprintf("tiktok ada not_found 0/20 retry %d", nextWeek-now), "tiktok bob not_found 0/20" + retry},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.in.Now = now
			if diff := cmp.Diff(c.want, show(Fold(c.in))); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergeKeepsTheMostTellingOutcome(t *testing.T) {
	t.Parallel()
	made := func(status stage.Status, returned int) stage.Outcome {
		o := stage.Outcome{Seed: "ada", Platform: "tiktok", Status: status, Returned: returned}
		if status == stage.Blocked {
			o.RetryAt = &later
		}
		return o
	}
	for _, c := range []struct{ one, other, want stage.Outcome }{
		{made(stage.Empty, 0), made(stage.Blocked, 0), made(stage.Blocked, 0)},
		{made(stage.NotFound, 0), made(stage.Quota, 0), made(stage.Quota, 0)},
		{made(stage.Unsupported, 0), made(stage.Empty, 0), made(stage.Empty, 0)},
		{made(stage.Blocked, 0), made(stage.OK, 3), made(stage.OK, 3)},
		{made(stage.Blocked, 0), made(stage.Misconfigured, 0), made(stage.Misconfigured, 0)},
		{made(stage.OK, 2), made(stage.Partial, 3), made(stage.OK, 5)},
	} {
		t.Run(fmt.Sprintf("%s and %s", c.one.Status, c.other.Status), func(t *testing.T) {
			t.Parallel()
			for _, both := range [][]stage.Outcome{{c.one, c.other}, {c.other, c.one}} {
				if diff := cmp.Diff(map[Key]stage.Outcome{{"ada", "tiktok"}: c.want}, merge(both)); diff != "" {
					t.Errorf("merged (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestLosses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault   stage.CallError
		records int
		want    stage.Status
	}{
		"a site that is down is blocked":                {stage.CallError{Failure: stage.SourceUnavailable}, 0, stage.Blocked},
		"a site that went down is partial":              {stage.CallError{Failure: stage.SourceUnavailable}, 3, stage.Partial},
		"a source that is not set up is misconfigured":  {stage.CallError{Failure: stage.SourceUnavailable, Setup: true}, 0, stage.Misconfigured},
		"a key that is refused is misconfigured":        {stage.CallError{Failure: stage.SourceUnauthorized}, 0, stage.Misconfigured},
		"a quota that is used up is quota":              {stage.CallError{Failure: stage.SourceQuota}, 3, stage.Quota},
		"a stage that broke by itself has been blocked": {stage.CallError{Failure: stage.StageCrashed}, 0, stage.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.fault.RetryAt = &later
			got := failed(site("tiktok"), &c.fault, c.records, on("tiktok", "ada")).losses()
			want := []stage.Outcome{{Seed: "ada", Platform: "tiktok", Status: c.want, Asked: 20, RetryAt: &later}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	call := func(failure stage.Failure, retry bool) error {
		return &stage.CallError{Stage: "x", Failure: failure, Retry: retry}
	}
	records := func(n int) *Answer { return &Answer{Records: n} }
	for name, c := range map[string]struct {
		answers []*Answer
		want    stage.Failure // empty: the scroll goes on
	}{
		"no source":                              {nil, stage.NoSources},
		"a source that has nothing":              {[]*Answer{site("tiktok", outcome("tiktok", "ada", stage.Empty, 0))}, ""},
		"a source that is refused for each seed": {[]*Answer{site("tiktok", outcome("tiktok", "ada", stage.Quota, 0), outcome("tiktok", "bob", stage.Blocked, 0))}, stage.SourceQuota},
		"one that is refused for some":           {[]*Answer{site("tiktok", outcome("tiktok", "ada", stage.Quota, 0), outcome("tiktok", "bob", stage.Empty, 0))}, ""},
		"a source that its site cut off":         {[]*Answer{failed(records(3), call(stage.SourceQuota, false), 3)}, ""},
		"a source that broke":                    {[]*Answer{failed(records(3), call(stage.StageCrashed, true), 3)}, stage.StageCrashed},
		"one that broke beside one that did not": {[]*Answer{failed(records(0), call(stage.StageCrashed, true), 0), records(1)}, ""},
		"of two failures the one to retry":       {[]*Answer{failed(records(0), call(stage.SourceUnauthorized, false), 0), failed(records(0), call(stage.StageTimeout, true), 0)}, stage.StageTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got stage.Failure
			var fault *stage.CallError
			if err := Failure(c.answers); errors.As(err, &fault) {
				got = fault.Failure
			} else if err != nil {
				t.Fatalf("got %v, want a *stage.CallError", err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestShortenKeepsPlannedSeedsThenTroubleThenTheMostVideos(t *testing.T) {
	t.Parallel()
	var all []Entry
	for i := range 10 {
		all = append(all, Entry{Seed: fmt.Sprint(i), Outcome: "ok", Returned: i})
	}
	all[3].Outcome = "changed"
	all[1].Planned = true
	for limit, want := range map[int]string{0: "0123456789", 3: "139", 10: "0123456789"} {
		var got []string
		for _, e := range Shorten(all, limit) {
			got = append(got, e.Seed)
		}
		if got := strings.Join(got, ""); got != want {
			t.Errorf("limit %d: got %s, want %s", limit, got, want)
		}
	}
}

func TestLatestPrefersAnEntryThatBroughtVideos(t *testing.T) {
	t.Parallel()
	entry := func(seed string, returned int) Entry {
		return Entry{Seed: seed, Platform: "tiktok", Returned: returned}
	}
	got := Latest([]Entry{entry("ada", 0), entry("bob", 2)}, []Entry{entry("ada", 3), entry("bob", 5)}, []Entry{entry("ada", 4), entry("eve", 1)})
	if diff := cmp.Diff([]Entry{entry("ada", 3), entry("bob", 2), entry("eve", 1)}, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	past := int64(now - 1)
	waits := NewWaits([]Entry{
		{Seed: "Ada", Platform: "tiktok", Outcome: "quota", RetryAt: &later},
		{Seed: "bob", Platform: "tiktok", Outcome: "not_found", RetryAt: &past},
		{Seed: "eve", Platform: "tiktok", Outcome: "partial", RetryAt: &later, Returned: 2},
	})
	wait := []stage.Outcome{{Seed: "@ada", Platform: "tiktok", Status: stage.Quota, RetryAt: &later}}
	for name, c := range map[string]struct {
		seed    stage.Seed
		ask     []stage.Seed
		waiting []stage.Outcome
	}{
		"a seed that has to wait is not asked for":            {on("tiktok", "@ada"), nil, wait},
		"one whose time has come is":                          {on("tiktok", "bob"), []stage.Seed{on("tiktok", "bob")}, nil},
		"one that brought videos is":                          {on("tiktok", "eve"), []stage.Seed{on("tiktok", "eve")}, nil},
		"one that is new is":                                  {on("tiktok", "new"), []stage.Seed{on("tiktok", "new")}, nil},
		"one for any platform is asked for on the others":     {on("", "@ada"), []stage.Seed{on("youtube", "@ada")}, wait},
		"one for any platform that need not wait stays whole": {on("", "new"), []stage.Seed{on("", "new")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask, waiting := waits.Due([]stage.Seed{c.seed}, []string{"tiktok", "youtube"}, now)
			if diff := cmp.Diff(c.ask, ask); diff != "" {
				t.Errorf("ask (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.waiting, waiting); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrimmedRecordsAreCounted(t *testing.T) {
	t.Parallel()
	ada, bob := Key{"ada", "tiktok"}, Key{"bob", "tiktok"}
	got := Fold(Input{Now: now, Returned: Tally{ada: 3, bob: 1}, Trimmed: Tally{ada: 2}})
	want := []Entry{
		{Seed: "ada", Platform: "tiktok", Outcome: "ok", Returned: 3, Trimmed: 2},
		{Seed: "bob", Platform: "tiktok", Outcome: "ok", Returned: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	sum := Add(want[:1], []Entry{{Seed: "ada", Platform: "tiktok", Outcome: "ok", Returned: 1, Trimmed: 1}})
	if diff := cmp.Diff([]Entry{{Seed: "ada", Platform: "tiktok", Outcome: "ok", Returned: 4, Trimmed: 3}}, sum); diff != "" {
		t.Errorf("entries of two parts (-want +got):\n%s", diff)
	}
}

func TestLead(t *testing.T) {
	t.Parallel()
	seeds := []stage.Seed{
		{Kind: "own", Term: "Beans"},
		{Kind: "competitor", Platform: "tiktok", Handle: "rival"},
		{Kind: "niche", Term: "kettle"},
		{Kind: "niche", Term: "moka"},
	}
	record := func(seed, kind, handle, by string) stage.Record {
		return stage.Record{Ref: stage.Ref{Platform: "tiktok"}, Seed: seed, Source: &stage.Source{Kind: kind, Handle: handle, SeededBy: by}}
	}
	for name, c := range map[string]struct {
		record   stage.Record
		searches bool
		seeds    []stage.Seed
		want     string
	}{
		"the seed that it names":                       {record("@Rival", "", "", ""), true, seeds, "rival"},
		"the seed that its origin names":               {record("maker", "niche", "maker", "moka"), true, seeds, "moka"},
		"the seed whose account it is of":              {record("", "", "Rival", ""), true, seeds, "rival"},
		"else the first of its kind":                   {record("maker", "niche", "maker", ""), true, seeds, "kettle"},
		"else the first of its platform":               {record("maker", "niche", "maker", ""), true, seeds[:2], "Beans"},
		"without a plan the seed that it names":        {record("maker", "niche", "maker", ""), true, nil, "maker"},
		"without a plan and a seed the source":         {record("", "niche", "maker", ""), true, nil, "source"},
		"of a folder the handle":                       {record("maker", "niche", "maker", "moka"), false, seeds, "maker"},
		"of a folder the handle as it is planned":      {record("RIVAL", "niche", "RIVAL", ""), false, seeds, "rival"},
		"of a folder without a handle the folder":      {record("", "niche", "", ""), false, seeds, "source"},
		"not one that is planned for another platform": {stage.Record{Ref: stage.Ref{Platform: "youtube"}, Seed: "rival"}, true, seeds, "kettle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Lead(c.record, "source", c.searches, c.seeds); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
