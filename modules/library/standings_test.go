package library

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	entcreator "github.com/scrollery/scrollery/ent/creator"
	entvideo "github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// After scrolls that move creators, and after videos were deleted, the counts of creators by
// where they stand are those of plain code over all videos.
func TestStandingsAreRecounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(5, 0))
		views, followers := map[string]map[string]int64{}, map[string]int64{}
		seen, most := map[videos.Stands]bool{}, 0
		check := func(when string) {
			t.Helper()
			want := map[videos.Stands]int{}
			for creator, of := range views {
				var all []int64
				for _, n := range of {
					all = append(all, n)
				}
				if slices.Sort(all); len(all) < 3 || followers[creator] == 0 {
					continue
				}
				median := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
				at := videos.Stands{Kind: "tiktok", Standing: score.Standing{Followers: score.StepOf(followers[creator]), Views: score.StepOf(median)}}
				want[at]++
				seen[at], most = true, max(most, want[at])
			}
			got := map[videos.Stands]int{}
			for _, row := range b.db.Ent().Niche.Query().AllX(b.ctx) {
				counts, err := score.UnpackStandings(row.Standings)
				if err != nil {
					t.Fatal(err)
				}
				for followers, byViews := range counts {
					for views, n := range byViews {
						if n != 0 {
							got[videos.Stands{Kind: score.Kind(row.Kind), Standing: score.Standing{Followers: followers, Views: views}}] = n
						}
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: creators by where they stand (-want +got):\n%s", when, diff)
			}
		}
		for scroll := range int64(5) {
			var records []stage.Record
			for range 40 {
				creator, at := fmt.Sprint(r.IntN(12)), now+scroll*1000
				v := stage.Record{
					Ref:       stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprint(creator, "-", r.IntN(6))},
					CreatorID: creator, Metrics: stage.Metrics{Views: ptr(int64(100 << r.IntN(3))), ObservedAt: &at},
				}
				if slices.ContainsFunc(records, func(other stage.Record) bool { return other.ExternalID == v.ExternalID }) {
					continue
				}
				if views[creator] == nil {
					views[creator] = map[string]int64{}
				}
				views[creator][v.ExternalID] = *v.Metrics.Views
				records = append(records, v)
			}
			for i, n := range []int64{0, 1000, 1001, 5000} { // the same for all of a creator's readings of a scroll
				for j := range records {
					if c := records[j].CreatorID; (int(c[0])+int(scroll)/2)%4 == i && n > 0 {
						records[j].Metrics.Followers, followers[c] = ptr(n), n
					}
				}
			}
			b.scroll(scroll+1, now+scroll*1000, records...)
			check(fmt.Sprint("scroll ", scroll+1))
		}
		for creator, of := range views {
			if followers[creator] == 0 || len(of) < 3 {
				continue
			}
			id, err := b.db.Ent().Creator.Query().Where(entcreator.Key("id:" + creator)).OnlyID(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			ids, err := b.db.Ent().Video.Query().Where(entvideo.CreatorID(id)).IDs(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			err = b.keeper.Hold(b.ctx, func(ctx context.Context, tx *store.Tx) error {
				_, _, err := b.keeper.Delete(ctx, tx, ids, videos.Removal{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			delete(views, creator)
			check("all videos of a creator were deleted")
			break
		}
		if len(seen) < 4 || most < 2 {
			t.Errorf("the test tests little: %d standings, at most %d creators at one", len(seen), most)
		}
	})
}
