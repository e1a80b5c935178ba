package library

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	entvideo "github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// rational is num ÷ den with 4 decimals, half up, worked out apart from the package score.
func rational(num, den *big.Int) float64 {
	n := new(big.Int).Mul(num, big.NewInt(20000))
	n.Add(n, den).Quo(n, new(big.Int).Lsh(den, 1))
	f, _ := new(big.Rat).SetFrac(n, big.NewInt(10000)).Float64()
	return f
}

func whole(f float64) *big.Int { return big.NewInt(int64(f)) }

// result is what a score comes to.
type result struct {
	Basis                  string
	Samples, Peers         int32
	TwiceBaseline          float64
	Score, Order           float64
	Doubtful, Listed       bool
	Outcome                string
	TwiceRate, TwiceMedian float64
}

func twice(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)/2] + values[len(values)/2]
}

// recompute works a score out again from the message alone.
func recompute(t testing.TB, x *pb.OutlierExplanation) result {
	t.Helper()
	expected := func(list *pb.ConsideredVideos) (values []float64) {
		for _, v := range list.GetVideos() {
			if v.GetReason() != "used" {
				continue
			}
			e := new(big.Int).Mul(whole(v.GetViews()), big.NewInt(int64(x.GetTarget().GetShare())))
			e.Quo(e, big.NewInt(int64(v.GetShare())))
			value := max(float64(e.Int64()), 1)
			if v.GetExpectedViews() != value {
				t.Fatalf("%s: got %v expected views of peer %s, want %v", x.GetVideoId(), v.GetExpectedViews(), v.GetVideoId(), value)
			}
			values = append(values, value)
		}
		return values
	}
	views := x.GetTarget().GetViews()
	r := result{Basis: "none", Outcome: "too_few_peers"}
	if x.GetTarget().GetReason() != "used" {
		r.Outcome = "not_usable"
		return r
	}
	own, niche := expected(x.GetPeers()), expected(x.GetNiche())
	r.Peers = int32(len(own))
	r.TwiceMedian = twice(niche)
	switch {
	case len(own) >= 3:
		r.Basis, r.Samples, r.TwiceBaseline = "creator", int32(len(own)), twice(own)
	case len(niche) >= 3:
		r.Basis, r.Samples, r.TwiceBaseline = "niche", int32(len(niche)), twice(niche)
		if len(own) > 0 {
			r.TwiceBaseline = max(r.TwiceBaseline, 2*slices.Max(own))
		}
	}
	var rates []float64
	for _, v := range x.GetLikes().GetVideos() {
		if v.GetReason() == "used" {
			rate := new(big.Int).Mul(whole(v.GetLikes()), big.NewInt(1_000_000))
			rates = append(rates, float64(rate.Quo(rate, whole(v.GetViews())).Int64()))
		}
	}
	if len(rates) >= 3 {
		r.TwiceRate = twice(rates)
	}
	likesKnown := x.GetTarget().Likes != nil && (x.GetTarget().GetKind() != "instagram" || x.GetTarget().GetLikes() > 3)
	usual := new(big.Int).Mul(whole(r.TwiceRate), whole(views)) // in 2,000,000ths of a like
	has := new(big.Int).Mul(whole(x.GetTarget().GetLikes()), big.NewInt(20_000_000))
	r.Doubtful = likesKnown && usual.Cmp(big.NewInt(60_000_000)) >= 0 && has.Cmp(usual) < 0
	if r.Basis == "none" {
		return r
	}
	r.Score = rational(whole(2*views), whole(r.TwiceBaseline))
	r.Listed, r.Outcome = 2*views > r.TwiceBaseline, "not_above_baseline"
	if r.Listed {
		r.Outcome = "listed"
	}
	n, m := big.NewInt(int64(r.Peers)), whole(max(r.TwiceBaseline, 200))
	num := new(big.Int).Mul(n, whole(2*views))
	num.Add(num, new(big.Int).Lsh(m, 1))
	r.Order = rational(num, new(big.Int).Mul(m, new(big.Int).Add(n, big.NewInt(2))))
	return r
}

func says(x *pb.OutlierExplanation) result {
	return result{
		Basis: x.GetBasis(), Samples: x.GetSampleCount(), Peers: x.GetCreatorPeers(), TwiceBaseline: x.GetTwiceBaseline(), Score: x.GetScore(),
		Order: x.GetOrderValue(), Doubtful: x.GetDoubtful(), Listed: x.GetOutcome() == "listed", Outcome: x.GetOutcome(),
		TwiceRate: x.GetTwiceUsualLikeRate(), TwiceMedian: x.GetTwiceNicheMedian(),
	}
}

// explainAll explains about so many videos of a library, and keys of its window, listed or
// not. It works the numbers out again from the answers alone.
func (b *bundle) explainAll(most int) {
	b.t.Helper()
	rows, err := b.db.Ent().Video.Query().Order(entvideo.ByID()).All(b.ctx)
	if err != nil || len(rows) == 0 {
		b.t.Fatalf("got %d videos, error %v; want some", len(rows), err)
	}
	outcomes := map[string]int{}
	step := 1 + len(rows)/most
	for j := 0; j < len(rows); j += step {
		row := rows[j]
		id := publicid.Format(publicid.Video, row.ID)
		e, err := b.explainer.ExplainOutlier(b.ctx, id)
		if err != nil || e == nil {
			b.t.Fatalf("explain %s: got %v, error %v; want an explanation", id, e, err)
		}
		x := e.Message()
		if diff := cmp.Diff(recompute(b.t, x), says(x)); diff != "" {
			b.t.Fatalf("%s recomputed (-want +got):\n%s", id, diff)
		}
		if x.GetPending() || (row.OutlierOrder != nil && *row.OutlierOrder != nil) != (x.GetOutcome() == "listed") || float64(row.TwiceBaseline) != x.GetTwiceBaseline() || row.Score != x.GetScore() {
			b.t.Fatalf("%s: got %s, pending %t, score %v, twice the baseline %v; want what the row has: listed %t, score %v, twice the baseline %v",
				id, x.GetOutcome(), x.GetPending(), x.GetScore(), x.GetTwiceBaseline(), row.OutlierOrder != nil && *row.OutlierOrder != nil, row.Score, row.TwiceBaseline)
		}
		outcomes[x.GetOutcome()]++
	}
	b.t.Logf("%d videos, one of %d explained: %v", len(rows), step, outcomes)
	b.explainKeys()
}

// explainKeys explains up to 50 listed keys of the window and about 50 that are not.
func (b *bundle) explainKeys() {
	b.t.Helper()
	w, err := b.Window(b.ctx, b.runs.subject)
	if err != nil || w == nil {
		b.t.Fatalf("got window %v, error %v; want one", w, err)
	}
	listed, dropped := w.Rank(false)
	step := len(dropped)/50 + 1
	outcomes := map[string]int{}
	explain := func(key string) *pb.TrendExplanation {
		e, found := w.Explain(key)
		if !found {
			b.t.Fatalf("%s of the window: got no explanation, want one", key)
		}
		x := (&insight.TrendExplanation{TrendExplanation: e, Completed: 2}).Message()
		b.recomputeKey(x)
		outcomes[x.GetOutcome()]++
		return x
	}
	for _, t := range listed[:min(len(listed), 50)] {
		if x := explain(t.Key); x.GetOutcome() != "listed" {
			b.t.Errorf("%s: got %s, want listed", t.Key, x.GetOutcome())
		}
	}
	for i := 0; i < len(dropped); i += step {
		if x := explain(dropped[i].Key); x.GetOutcome() != string(dropped[i].Drop) {
			b.t.Errorf("%s: got %s, want %s", dropped[i].Key, x.GetOutcome(), dropped[i].Drop)
		}
	}
	b.t.Logf("keys: %v", outcomes)
}

func (b *bundle) recomputeKey(x *pb.TrendExplanation) {
	b.t.Helper()
	now, before, grown := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	var videos, multiples int32
	for _, v := range x.GetVideos() {
		if v.GetArchived() {
			continue
		}
		videos++
		switch v.GetWhen() {
		case "recent":
			now[v.GetCreator()] = true
		case "earlier":
			before[v.GetCreator()] = true
		}
		if v.GetUsableReadings() > 1 && v.GetFirst().GetScrollId() != v.GetLast().GetScrollId() {
			grown[v.GetCreator()] = true
			multiples++
		}
	}
	c, p := int64(len(now)), int64(len(before))
	allC, allP := int64(x.GetWindow().GetCreatorsNow()), int64(x.GetWindow().GetCreatorsBefore())
	strength := rational(big.NewInt(c*c), big.NewInt(3))
	if allP > 0 {
		strength = rational(big.NewInt(c*c*allP), big.NewInt(p*allC+3*allP))
	}
	rule := ""
	switch all, n := int64(x.GetWindow().GetVideos()), int64(x.GetAllVideos()); {
	case x.GetOutcome() == "generic":
		rule = "generic"
	case all >= 10 && 10*n > 6*all:
		rule = "too_common"
	case c < 3:
		rule = "few_creators"
	case multiples < 2 || len(grown) < 2:
		rule = "few_multiples"
	}
	if x.GetOutcome() == "listed" || x.GetOutcome() == "overlaps" {
		rule = x.GetOutcome() // which of the two, the other keys say
	}
	want := []any{int32(c), int32(p), strength, videos, multiples, int32(len(grown)), rule}
	got := []any{x.GetCreatorsNow(), x.GetCreatorsBefore(), x.GetStrength(), x.GetVideoCount(), x.GetGrownVideos(), x.GetGrownCreators(), x.GetOutcome()}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("%s recomputed: now, before, strength, videos, multiples, their creators, outcome (-want +got):\n%s", x.GetKey(), diff)
	}
}

// dated is a record of a creator, posted days before now and read with views.
func dated(id, creator string, days, at, views int64) stage.Record {
	posted := now - days*24*3600_000
	return stage.Record{
		Ref: stage.Ref{Platform: "tiktok", ExternalID: id}, PostedAt: &posted, Source: &stage.Source{Kind: videos.Competitor, Handle: creator},
		Metadata: json.RawMessage(`{"hashtags":["espresso"]}`), Metrics: stage.Metrics{Views: &views, ObservedAt: &at},
	}
}

func (b *bundle) idOf(external string) string {
	b.t.Helper()
	id, err := b.db.Ent().Video.Query().Where(entvideo.ExternalID(external)).OnlyID(b.ctx)
	if err != nil {
		b.t.Fatalf("video %s: %v", external, err)
	}
	return publicid.Format(publicid.Video, id)
}

func TestFlagsSayWhenAVideoEntersAndLeaves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		read := func(scroll int64, target int64) {
			at := now + scroll*hour
			records := []stage.Record{dated("t", "a", 20, at, target)}
			for i := range int64(4) {
				records = append(records, dated(fmt.Sprint("p", i), "a", 30+i, at, 1000+scroll))
			}
			b.scroll(scroll, at, records...)
		}
		for scroll, views := range []int64{900, 3000, 4000, 500} {
			read(int64(scroll+1), views)
		}
		e, err := b.explainer.ExplainOutlier(b.ctx, b.idOf("t"))
		if err != nil || e == nil {
			t.Fatalf("got %v, error %v; want an explanation", e, err)
		}
		var got []string
		for _, f := range e.Message().GetFlags() {
			got = append(got, fmt.Sprintf("%s %s %v on %v of %d by %s", f.GetScrollId(), f.GetChange(), f.GetScore(), f.GetBaselineViews(), f.GetSampleCount(), f.GetMethod()))
		}
		want := []string{
			publicid.Format(publicid.Scroll, 4) + " left 0.498 on 1004 of 4 by outlier/2+1+2026-11",
			publicid.Format(publicid.Scroll, 2) + " entered 2.994 on 1002 of 4 by outlier/2+1+2026-11",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("flags (-want +got):\n%s", diff)
		}

		t.Run("scoring again changes no flag", func(t *testing.T) {
			if err := b.Score(b.ctx, 4); err != nil {
				t.Fatal(err)
			}
			again, err := b.explainer.ExplainOutlier(b.ctx, b.idOf("t"))
			if err != nil || again == nil {
				t.Fatalf("got %v, error %v; want an explanation", again, err)
			}
			if len(again.Flags) != 2 {
				t.Errorf("got %d flags, want 2", len(again.Flags))
			}
		})
		t.Run("the backtest counts what came of the flags", func(t *testing.T) {
			runs, rows, err := b.explainer.Backtest(b.ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			counts := func(rows []insight.BacktestRow) (all []string) {
				for _, r := range rows {
					if r.By == "all" {
						all = append(all, fmt.Sprintf("+%d: %d of %d flagged, %d of %d scored", r.Later, r.Still, r.Flagged, r.Above, r.Scored))
					}
				}
				return all
			}
			// Run 1 has nothing above. t is listed at runs 2 and 3; p0 to p3 beat the others only at run 1 and 4,
			// where t with fewer views is one of their peers.
			want := plainBacktest(len(runs))
			if diff := cmp.Diff(want, counts(rows)); diff != "" {
				t.Errorf("backtest (-want +got):\n%s", diff)
			}
			if len(runs) != 4 || runs[0].Scroll != 4 || runs[0].Left != 1 || runs[2].Entered != 1 {
				t.Errorf("got runs %+v, want 4, the newest first, with one entry at the second and one exit at the last", runs)
			}
			_, rows, err = b.explainer.Backtest(b.ctx, 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"+1: 1 of 1 flagged, 1 of 5 scored", "+2: 0 of 1 flagged, 0 of 5 scored"}, counts(rows)); diff != "" {
				t.Errorf("backtest of the second scroll (-want +got):\n%s", diff)
			}
			values := map[string]map[string]bool{}
			for _, r := range rows {
				if values[r.By] == nil {
					values[r.By] = map[string]bool{}
				}
				values[r.By][r.Value] = true
			}
			wantValues := map[string]map[string]bool{"all": {"": true}, "age_days": {"7": true}, "creator_peers": {"3": true}, "kind": {"tiktok": true}, "platform": {"tiktok": true}, "order": {"new": true}}
			if diff := cmp.Diff(wantValues, values); diff != "" {
				t.Errorf("values of the rows (-want +got):\n%s", diff)
			}
		})
		t.Run("an import outside of scrolls and another tenant leave none", func(t *testing.T) {
			other := b.as(8)
			if runs, rows, err := other.explainer.Backtest(other.ctx, 0); err != nil || len(runs)+len(rows) > 0 {
				t.Errorf("another tenant: got %d runs, %d rows, error %v; want none", len(runs), len(rows), err)
			}
		})
	})
}

// TestBacktestLeavesOutWhatAScrollDidNotRead: its peers' new views move a video that fell out
// of the feed below its baseline, which says nothing of that video.
func TestBacktestLeavesOutWhatAScrollDidNotRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		scroll := func(n, peers int64, more ...stage.Record) {
			records := more
			for i := range int64(4) {
				records = append(records, dated(fmt.Sprint("p", i), "a", 30+i, now+n*hour, peers))
			}
			b.scroll(n, now+n*hour, records...)
		}
		scroll(1, 1000, dated("t", "a", 20, now+hour, 900))
		scroll(2, 1000, dated("t", "a", 20, now+2*hour, 3000))
		scroll(3, 9000)
		e, err := b.explainer.ExplainOutlier(b.ctx, b.idOf("t"))
		if err != nil || e == nil || len(e.Flags) != 2 || e.Flags[0].Flag != insight.Left {
			t.Fatalf("got %+v, error %v; want a video that left by the scroll that did not read it", e, err)
		}
		_, rows, err := b.explainer.Backtest(b.ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got [][4]int
		for _, r := range rows {
			if r.By == "all" {
				got = append(got, [4]int{r.Later, r.Scored, r.Flagged, r.Still})
			}
		}
		// From 1 to 2 five videos, from 2 to 3 and from 1 to 3 the peers alone.
		if diff := cmp.Diff([][4]int{{1, 9, 0, 0}, {2, 4, 0, 0}}, got); diff != "" {
			t.Errorf("later, scored, flagged, still (-want +got):\n%s", diff)
		}
	})
}

// plainBacktest counts from the views that the test wrote.
func plainBacktest(runs int) (want []string) {
	above := [][]bool{{false, false, false, false, false}, {true, false, false, false, false}, {true, false, false, false, false}, {false, false, false, false, false}}
	for later := 1; later < runs; later++ {
		var still, flagged, up, scored int
		for run := 0; run+later < len(above); run++ {
			for v := range above[run] {
				scored++
				if above[run+later][v] {
					up++
				}
				if above[run][v] {
					flagged++
					if above[run+later][v] {
						still++
					}
				}
			}
		}
		want = append(want, fmt.Sprintf("+%d: %d of %d flagged, %d of %d scored", later, still, flagged, up, scored))
	}
	return want
}

func TestHistoryOfAVideo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for scroll := range int64(3) {
			at := now + scroll*hour
			likes := 2 + 5000*(scroll%2) // of the second reading more than the views
			target := dated("t", "a", 20, at, 3000)
			target.Metrics.Likes = &likes
			b.scroll(scroll+1, at, target, dated("p", "b", 30, at, 100), dated("q", "c", 30, at, 100*(scroll+1)), dated("r", "d", 10, at, 100))
		}
		id := b.idOf("t")
		t.Run("readings come newest first, page by page, with the reason of a refusal", func(t *testing.T) {
			var got []string
			token := ""
			for page := 0; page == 0 || token != ""; page++ {
				found, next, err := b.explainer.Observations(b.ctx, id, 2, token)
				if err != nil {
					t.Fatal(err)
				}
				if page > 5 {
					t.Fatalf("got page %d, want 2 pages", page+1)
				}
				for _, o := range found {
					got = append(got, fmt.Sprintf("%d %d %s %s", (o.ObservedAt-now)/hour, o.ScrollID, o.Stage, o.Reason))
				}
				token = next
			}
			if diff := cmp.Diff([]string{"2 3 feed used", "1 2 feed fewer_views_than_likes", "0 1 feed used"}, got); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
		})
		t.Run("a video comes with its outlier and without a hook", func(t *testing.T) {
			body, err := b.explainer.Video(b.ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Found   bool
				Video   shown
				Outlier *struct {
					Video shown
					Score float64
				}
				Hook *json.RawMessage
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if !got.Found || got.Video.ID != id || got.Outlier == nil || got.Outlier.Video.ID != id || got.Outlier.Score != 30 || got.Hook != nil {
				t.Errorf("got %s, want the video with an outlier of score 30 and no hook", body)
			}
		})
		t.Run("a video that is no outlier comes without one", func(t *testing.T) {
			body, err := b.explainer.Video(b.ctx, b.idOf("p"))
			if err != nil || !bytes.Contains(body, []byte(`"outlier":null,"hook":null,"early":null}`)) {
				t.Errorf("got %s, error %v; want the video without an outlier and a hook", body, err)
			}
		})
		t.Run("a series has a point for each scroll", func(t *testing.T) {
			series, err := b.explainer.TrendSeries(b.ctx, "hashtag:espresso")
			if err != nil || series == nil {
				t.Fatalf("got %v, error %v; want a series", series, err)
			}
			var got []string
			for _, p := range series.Points {
				got = append(got, fmt.Sprintf("scroll %d: %d videos, %d creators, %d views", p.Scroll, p.Videos, p.Creators, p.Views))
			}
			want := []string{"scroll 1: 4 videos, 4 creators, 3300 views", "scroll 2: 4 videos, 4 creators, 400 views", "scroll 3: 4 videos, 4 creators, 3500 views"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
		t.Run("a key that is not listed says why", func(t *testing.T) {
			e, err := b.explainer.ExplainTrend(b.ctx, "hashtag:espresso")
			if err != nil || e == nil || e.Outcome() != "few_creators" {
				t.Errorf("got %+v, error %v; want few_creators", e, err)
			}
		})
		t.Run("another tenant sees nothing of it", func(t *testing.T) {
			other := b.as(8)
			e, err := other.explainer.ExplainOutlier(other.ctx, id)
			if e != nil || err != nil {
				t.Errorf("explanation: got %v, error %v; want none", e, err)
			}
			readings, _, err := other.explainer.Observations(other.ctx, id, 25, "")
			if len(readings) > 0 || err != nil {
				t.Errorf("readings: got %d, error %v; want none", len(readings), err)
			}
			body, err := other.explainer.Video(other.ctx, id)
			if want := `{"found":false,"video":null,"outlier":null,"hook":null,"early":null}`; string(body) != want || err != nil {
				t.Errorf("video: got %s, error %v; want %s", body, err, want)
			}
			other.runs.subject, other.runs.subjects, other.runs.completed = b.runs.subject, b.runs.subjects, b.runs.completed
			if series, err := other.explainer.TrendSeries(other.ctx, "hashtag:espresso"); series != nil || err != nil {
				t.Errorf("series: got %v, error %v; want none", series, err)
			}
			if e, err := other.explainer.ExplainTrend(other.ctx, "hashtag:espresso"); e != nil || err != nil {
				t.Errorf("trend: got %v, error %v; want none", e, err)
			}
		})
		t.Run("an archived video is explained, and said to be archived", func(t *testing.T) {
			if _, err := b.edits.ArchiveVideo(b.ctx, id, false, true); err != nil {
				t.Fatal(err)
			}
			e, err := b.explainer.ExplainOutlier(b.ctx, id)
			if err != nil || e == nil || !e.Archived || e.Pending || e.Outcome() != "listed" {
				t.Errorf("got %+v, error %v; want an archived video that is listed", e, err)
			}
		})
	})
}
