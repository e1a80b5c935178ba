package library

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	entcreator "github.com/scrollery/scrollery/ent/creator"
	entpoint "github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// early are early views as answers have them.
type early struct{ Views, Low, High, OwnVideos, AlikeViews, AlikeCreators int64 }

// After each scroll the early views of the videos of its creators are those of plain code over
// all videos, in every answer; those of others are as they were.
func TestEarlyViewsAreRecounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(8)
		var many []stage.Record
		for i := range 20 { // another account's creators are not alike
			for j := range 3 {
				many = append(many, followed(fmt.Sprint(i, "-", j), fmt.Sprint(i), "", now, 1000))
			}
		}
		other.scroll(99, now, many...)
		r := rand.New(rand.NewPCG(4, 0))
		growth := score.DefaultTable()
		of, followers, want := map[string]map[string]reading{}, map[string]int64{}, map[string]early{}
		byPeers := map[int64]int{}
		for scroll := range int64(4) {
			at, marked := now+1+scroll*5*hour, map[string]bool{}
			var records []stage.Record
			for range 45 {
				creator := fmt.Sprint(r.IntN(40))
				id := fmt.Sprint(creator, "-", r.IntN(2+r.IntN(3)))
				if slices.ContainsFunc(records, func(one stage.Record) bool { return one.ExternalID == id }) {
					continue
				}
				if of[creator] == nil {
					of[creator] = map[string]reading{}
					followers[creator] = []int64{0, 1000, 1200, 2700, 50_000}[r.IntN(5)]
				}
				v, known := of[creator][id]
				if !known {
					v.posted = now - r.Int64N(9*day)
				}
				v.at, v.views = at, 1+r.Int64N(5000)
				of[creator][id], marked[creator] = v, true
				one := followed(id, creator, "c"+creator, at, followers[creator])
				one.PostedAt, one.Metrics.Views = &v.posted, &v.views
				one.Evidence = &stage.Evidence{Spoken: ptr("said in " + id)}
				records = append(records, one)
			}
			b.scroll(scroll+1, at, records...)
			for creator := range marked {
				for id := range of[creator] {
					if want[id] = plainEarly(growth, of, followers, creator, id); want[id] == (early{}) {
						delete(want, id)
					}
				}
			}
			got := map[string]early{}
			for creator := range of {
				for id := range of[creator] {
					one := b.earlyOf(id)
					if one != nil {
						got[id] = *one
						byPeers[one.OwnVideos]++
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("scroll %d: early views (-want +got):\n%s", scroll+1, diff)
			}
			points := map[int64]int64{}
			for _, p := range b.db.Ent().ScorePoint.Query().Where(entpoint.ScrollID(scroll + 1)).AllX(b.ctx) {
				points[p.VideoID] = p.Early
			}
			for _, one := range records {
				id, _ := publicid.Parse(publicid.Video, b.idOf(one.ExternalID))
				if kept, ok := points[id]; !ok || kept != want[one.ExternalID].Views {
					t.Errorf("scroll %d: kept %d of %s for the backtest, %v; want %d", scroll+1, kept, one.ExternalID, ok, want[one.ExternalID].Views)
				}
			}
			for _, list := range []lists.List{lists.Outliers, lists.NewOutliers, lists.Rising} {
				for _, o := range b.all(lists.Page{List: list, Paged: true}).Outliers {
					var listed early
					if o.Early != nil {
						listed = *o.Early
					}
					if listed != want[o.Video.ExternalID] {
						t.Errorf("scroll %d: %s in list %v: got %+v, want %+v", scroll+1, o.Video.ExternalID, list, listed, want[o.Video.ExternalID])
					}
				}
			}
			shows := func(where string, hooks []shownHook) {
				t.Helper()
				for _, h := range hooks {
					var listed early
					if h.Early != nil {
						listed = *h.Early
					}
					if listed != want[h.Video.ExternalID] {
						t.Errorf("scroll %d: %s in %s: got %+v, want %+v", scroll+1, h.Video.ExternalID, where, listed, want[h.Video.ExternalID])
					}
				}
			}
			shows("listHooks", b.all(lists.Page{List: lists.Hooks, Paged: true}).Hooks)
			shows("listHooks by score", b.all(lists.Page{List: lists.BestHooks, Paged: true}).Hooks)
			var ids []string
			for _, one := range records {
				ids = append(ids, b.idOf(one.ExternalID))
			}
			body, err := b.explainer.Videos(b.ctx, ids)
			if err != nil {
				t.Fatal(err)
			}
			var many struct{ Videos []shownHook }
			if err := json.Unmarshal(body, &many); err != nil || len(many.Videos) != len(ids) {
				t.Fatalf("got %d videos of %d, error %v", len(many.Videos), len(ids), err)
			}
			shows("getVideos", many.Videos)
			for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
				if h.Early != nil {
					t.Errorf("the contract's hooks: got %+v of %s, want their members alone", *h.Early, h.Video.ExternalID)
				}
			}
			for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
				if o.Early != nil {
					t.Errorf("the contract's list: got %+v of %s, want its members alone", *o.Early, o.Video.ExternalID)
				}
			}
		}
		if byPeers[1] < 20 || byPeers[2] < 20 || len(byPeers) != 2 {
			t.Errorf("the test tests little: early views by own videos %v", byPeers)
		}
		_, rows, err := b.explainer.Backtest(b.ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		tested := 0
		for _, row := range rows {
			if row.By == "order" && strings.HasPrefix(row.Value, "early") {
				tested += row.Scored
			}
		}
		if tested == 0 {
			t.Error("the backtest has no early views, want some")
		}
	})
}

// reading is a video of the test.
type reading struct{ posted, at, views int64 }

// plainEarly are the early views of a video, from all videos.
func plainEarly(growth *score.Table, of map[string]map[string]reading, followers map[string]int64, creator, id string) early {
	share := func(v reading) int64 { return growth.Share("tiktok", v.at-v.posted) }
	// median is that of the views that videos have at a share, the target left out.
	expected := func(videos map[string]reading, at int64, without string) (views []int64) {
		for name, v := range videos {
			if name != without && 2*share(v) >= at {
				views = append(views, max(v.views*at/share(v), 1))
			}
		}
		slices.Sort(views)
		return views
	}
	step := func(n int64) int { return new(big.Int).Exp(big.NewInt(n), big.NewInt(4), nil).BitLen() - 1 }
	target := of[creator][id]
	own := expected(of[creator], share(target), id)
	if len(own) < 1 || len(own) > 2 || followers[creator] == 0 {
		return early{}
	}
	var alike []int
	for one, videos := range of {
		usual := expected(videos, 1000, "")
		if one == creator || followers[one] == 0 || len(usual) < 3 {
			continue
		}
		if apart := step(followers[one]) - step(followers[creator]); apart < -6 || apart > 6 {
			continue
		}
		alike = append(alike, step((usual[(len(usual)-1)/2]+usual[len(usual)/2])/2))
	}
	if len(alike) < 5 {
		return early{}
	}
	slices.Sort(alike)
	e := early{OwnVideos: int64(len(own)), AlikeViews: int64(math.Exp2((float64(alike[(len(alike)-1)/2]) + 0.5) / 4)), AlikeCreators: int64(len(alike))}
	product := max(e.AlikeViews*share(target)/1000, 1)
	for _, views := range own {
		product *= views
	}
	power := func(n int64) int64 {
		if len(own) == 1 {
			return n * n
		}
		return n * n * n
	}
	for power(e.Views+1) <= product {
		e.Views++
	}
	e.Low, e.High = e.Views*5/12, e.Views*12/5
	if len(own) == 2 {
		e.Low, e.High = e.Views/2, e.Views*2
	}
	return e
}

// earlyOf are the early views of a video as getVideo has them, which its explanation has too.
func (b *bundle) earlyOf(id string) *early {
	b.t.Helper()
	body, err := b.explainer.Video(b.ctx, b.idOf(id))
	if err != nil {
		b.t.Fatal(err)
	}
	var got struct{ Early *early }
	if err := json.Unmarshal(body, &got); err != nil {
		b.t.Fatalf("%s: %v", body, err)
	}
	e, err := b.explainer.ExplainOutlier(b.ctx, b.idOf(id))
	if err != nil {
		b.t.Fatal(err)
	}
	var explained *early
	if x := e.Message().GetEarly(); x != nil {
		explained = &early{int64(x.GetViews()), int64(x.GetLow()), int64(x.GetHigh()), int64(x.GetOwnVideos()), int64(x.GetAlikeViews()), int64(x.GetAlikeCreators())}
	}
	if diff := cmp.Diff(got.Early, explained); diff != "" || e.Pending {
		b.t.Errorf("%s: pending %v, early views (-getVideo +explanation):\n%s", id, e.Pending, diff)
	}
	return got.Early
}

// Creators are compared with all others of a large scroll, and of a library that an earlier
// version scored, not only with those that were scored before them.
func TestEarlyViewsKnowAllCreators(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const creators = 260
		var records []stage.Record
		for i := range creators {
			for j := range 3 {
				records = append(records, followed(fmt.Sprint(i, "-", j), fmt.Sprint(i), "", now, 1000))
			}
		}
		b.scroll(1, now, records...)
		want := &early{Views: 99, Low: 49, High: 198, OwnVideos: 2, AlikeViews: 98, AlikeCreators: creators - 1}
		check := func(when string) {
			t.Helper()
			for _, id := range []string{"0-0", "249-1", fmt.Sprint(creators-1, "-2")} {
				if diff := cmp.Diff(want, b.earlyOf(id)); diff != "" {
					t.Errorf("%s: early views of %s (-want +got):\n%s", when, id, diff)
				}
			}
		}
		check("one scroll")
		system := viewer.System(b.ctx)
		b.db.Ent().Niche.Update().ClearStandings().ExecX(system)
		b.db.Ent().Creator.Update().SetStandings("").Where(entcreator.StandingsNEQ("")).ExecX(system)
		b.db.Ent().Video.Update().SetEarly(0).SetAlike(0).SetAlikeCreators(0).ExecX(system)
		b.db.Ent().Library.Update().SetMethod("3").ExecX(system)
		if err := b.RescoreAll(b.ctx); err != nil {
			t.Fatal(err)
		}
		check("scored again")
	})
}
