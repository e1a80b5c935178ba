package library

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// daily are records of one day: new videos, and the last days' read again.
func daily(r *rand.Rand, today int64, known []stage.Record) (records []stage.Record) {
	for i := range known {
		again := known[i]
		again.Metrics = stage.Metrics{Views: ptr(*again.Metrics.Views * int64(1+r.IntN(3))), ObservedAt: ptr(now + today*day + int64(i))}
		records = append(records, again)
	}
	for i := range 30 {
		tags, _ := json.Marshal(map[string]any{"hashtags": []string{fmt.Sprint("tag", r.IntN(12)), fmt.Sprint("tag", r.IntN(40))}})
		records = append(records, stage.Record{
			Ref: stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprint(today, "-", i)}, CreatorID: fmt.Sprint(r.IntN(14)), Metadata: tags,
			PostedAt: ptr(now + today*day - int64(r.IntN(20))*hourLong),
			Metrics:  stage.Metrics{Views: ptr(int64(100 + r.IntN(900))), ObservedAt: ptr(now + today*day + int64(100+i))},
		})
	}
	return records
}

const hourLong = int64(3600_000)

// TestTrendsAreTestedAsTheyWere compares the backtest with the windows as they were after
// each scroll, and with creators counted here.
func TestTrendsAreTestedAsTheyWere(t *testing.T) {
	t.Parallel()
	const days = 2
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(5, 6))
		var want []insight.TrendRun
		var windows []*score.Window
		var all, last []stage.Record
		for today := range int64(6) {
			records := daily(r, today, last)
			b.scroll(today+1, now+today*day, records...)
			last = records[len(last):]
			all = append(all, last...)
			w, err := b.Window(b.ctx, b.runs.subject)
			if err != nil || w == nil {
				t.Fatalf("got window %v, error %v; want one", w, err)
			}
			windows = append(windows, w)
		}
		// came counts the creators who used a tag first within the days.
		came := func(key string, from int64, days int64) int {
			had, has := map[string]bool{}, map[string]bool{}
			for _, v := range all {
				known := videos.FactsOf(v.Metadata)
				for _, k := range known.TrendKeys("tiktok") {
					switch at := *v.PostedAt; {
					case k.Key != key:
					case at <= from:
						had[v.CreatorID] = true
					case at <= from+days*day:
						has[v.CreatorID] = true
					}
				}
			}
			for creator := range had {
				delete(has, creator)
			}
			return len(has)
		}
		var sum score.TrendCounts
		for i := len(windows) - 1; i >= 1; i-- { // the first scroll has none
			w := windows[i]
			if w.T+days*day > windows[5].T+hourLong {
				continue
			}
			one := insight.TrendRun{Scroll: int64(i + 1), ObservedAt: w.T}
			listed, dropped := w.Rank(false)
			one.Listed = len(listed)
			for n, k := range append(listed, dropped...) {
				taken := came(k.Key, w.T, days) >= 2
				if k.Drop != score.GenericKey && w.T+3*day <= windows[5].T+hourLong {
					more := videos.Flag(came(k.Key, w.T, 3) > came(k.Key, w.T-3*day, 3))
					one.Directions[0].Keys++
					one.Directions[0].More += more
					if n < len(listed) {
						one.Directions[k.Direction()].Keys++
						one.Directions[k.Direction()].More += more
					}
				}
				switch {
				case n < min(25, len(listed)):
					one.First++
					one.Taken += videos.Flag(taken)
				case k.Drop != score.GenericKey:
					one.Others++
					one.OthersTaken += videos.Flag(taken)
				}
			}
			want = append(want, one)
			sum.Add(one.TrendCounts)
		}
		for _, i := range []score.Direction{score.AllDirections, score.Rising} {
			if d := sum.Directions[i]; d.Keys == 0 || d.More == 0 || d.More == d.Keys {
				t.Errorf("the test tests little: got %+v of direction %s, want some of the keys", d, i)
			}
		}
		got, total, err := b.explainer.BacktestTrends(b.ctx, days)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) != 3 || sum.Listed == 0 || sum.Taken == 0 || sum.OthersTaken == 0 {
			t.Fatalf("the test tests little: got %d runs with %+v, want 3 with listed trends and trends taken up, listed and not", len(want), sum)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(sum, total); diff != "" {
			t.Errorf("sums (-want +got):\n%s", diff)
		}

		t.Run("of fewer readings, the scrolls with a whole window are the same", func(t *testing.T) {
			p, err := b.Past(b.ctx, b.runs.subject, 4, 50_000)
			if err != nil || len(p.Runs) != 4 || p.Since == insight.FromStart {
				t.Fatalf("got %+v, error %v; want 4 scrolls and the time of the fifth", p, err)
			}
			if p, err = b.Past(b.ctx, b.runs.subject, 30, 130); err != nil || len(p.Runs) != 2 || p.Since == insight.FromStart {
				t.Errorf("of 130 readings: got %+v, error %v; want 2 scrolls and the time of the third", p, err)
			}
		})
		t.Run("another account has none", func(t *testing.T) {
			other := b.as(8)
			other.runs.subject, other.runs.subjects, other.runs.completed = b.runs.subject, b.runs.subjects, b.runs.completed
			if runs, _, err := other.explainer.BacktestTrends(other.ctx, days); len(runs) > 0 || err != nil {
				t.Errorf("got %d runs, error %v; want none", len(runs), err)
			}
		})
	})
}

func TestACreatorHasFacts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		video := func(id, creatorID, handle string, age, views, followers int64) stage.Record {
			r := followed(id, creatorID, handle, now+age, followers)
			r.PostedAt, r.Metrics.Views = ptr(now-10*day), &views
			return r
		}
		b.scroll(
			1, now, video("a", "77", "@Ann", 0, 100, 0), video("b", "77", "Ann", 1, 200, 5000), video("c", "77", "ann", 2, 300, 0),
			video("d", "77", "ann", 3, 6000, 0), video("e", "", "bob", 0, 7, 0), video("f", "", "ann", 0, 1, 0),
			stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "g"}, Metrics: stage.Metrics{Views: ptr(int64(3))}},
		)
		if _, err := b.edits.ArchiveVideo(b.ctx, b.idOf("d"), false, true); err != nil {
			t.Fatal(err)
		}
		ann := &insight.Creator{
			Platform: "tiktok", CreatorID: "77", Handle: "ann", Followers: ptr(int64(5000)), FollowersAt: ptr(now + 1), Videos: 5, LookedAt: 5, Archived: 1,
			Kinds: []insight.CreatorKind{{KindFacts: score.KindFacts{Kind: "tiktok", Videos: 5, Usable: 5, TwiceMedian: 400, TwiceGrown: 400}, Outliers: 2}},
			Rhythm: score.Rhythm{
				Dated: 5, First: now - 10*day, Last: now - 10*day, Weekdays: [7]int{4: 5}, Hours: [24]int{0: 5},
			},
		}
		for _, c := range []struct {
			name string
			find func(b *bundle) (*insight.Creator, error)
			want *insight.Creator
		}{
			{"by a video", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorOf(b.ctx, b.idOf("a")) }, ann},
			{"by a video that has the handle alone", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorOf(b.ctx, b.idOf("f")) }, ann},
			{"by the handle", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorByHandle(b.ctx, "tiktok", "@ANN") }, ann},
			{"of another platform there is none", func(b *bundle) (*insight.Creator, error) {
				return b.explainer.CreatorByHandle(b.ctx, "youtube", "ann")
			}, nil},
			{"of an unknown video there is none", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorOf(b.ctx, "vid_0") }, nil},
			{"a video without a creator has none", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorOf(b.ctx, b.idOf("g")) }, nil},
			{"an empty handle is none", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorByHandle(b.ctx, "tiktok", "@") }, nil},
			{"by a handle without an id", func(b *bundle) (*insight.Creator, error) { return b.explainer.CreatorByHandle(b.ctx, "tiktok", "bob") }, &insight.Creator{
				Platform: "tiktok", Handle: "bob", Videos: 1, LookedAt: 1,
				Kinds:  []insight.CreatorKind{{KindFacts: score.KindFacts{Kind: "tiktok", Videos: 1, Usable: 1, TwiceMedian: 14}}},
				Rhythm: score.Rhythm{Dated: 1, First: now - 10*day, Last: now - 10*day, Weekdays: [7]int{4: 1}, Hours: [24]int{0: 1}},
			}},
			{"of another account there is none", func(b *bundle) (*insight.Creator, error) {
				other := b.as(8)
				if c, err := other.explainer.CreatorOf(other.ctx, b.idOf("a")); c != nil || err != nil {
					return c, err
				}
				return other.explainer.CreatorByHandle(other.ctx, "tiktok", "ann")
			}, nil},
		} {
			t.Run(c.name, func(t *testing.T) {
				got, err := c.find(b)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("creator (-want +got):\n%s", diff)
				}
			})
		}
	})
}
