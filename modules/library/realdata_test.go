package library

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// record is a real reading as a source brings it; the creator is a handle.
func (r *realReading) record() stage.Record {
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	metadata, err := json.Marshal(map[string]any{"hashtags": r.tags, "durationSeconds": float64(r.duration) / 1000})
	if err != nil {
		panic(err)
	}
	return stage.Record{
		Ref: stage.Ref{Platform: r.platform, ExternalID: r.ref}, PostedAt: &r.posted, Metadata: metadata,
		Source:  &stage.Source{Kind: videos.Competitor, Handle: r.creator},
		Metrics: stage.Metrics{Views: known(r.views), Likes: known(r.likes), ObservedAt: &r.at},
	}
}

// TestRealDataFollowsTheRules archives real readings, a scroll for each run of their
// source, and compares every listed outlier and trend, in order, with plain code. Then it
// works explanations of the same library out again. Four large sets are for make heavy.
func TestRealDataFollowsTheRules(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for i, load := range sets {
			set := load(t)
			if len(set.all) > 6000 && !storetest.Long() {
				continue
			}
			t.Run(set.name, func(t *testing.T) {
				b := setup(t, db).as(int64(1000 + i))
				b.t, b.runs.subject = t, "website:a.com"
				w := newModel()
				w.generic = Defaults().Generic
				byRun := map[int][]stage.Record{}
				for j := range set.all {
					r := &set.all[j]
					if !slices.ContainsFunc(byRun[r.run], func(o stage.Record) bool { return o.ExternalID == r.ref }) || set.runs < 50 {
						byRun[r.run] = append(byRun[r.run], r.record())
					}
				}
				for _, run := range slices.Sorted(maps.Keys(byRun)) {
					records := slices.CompactFunc(slices.SortedStableFunc(slices.Values(byRun[run]), func(x, y stage.Record) int {
						return cmp.Compare(x.ExternalID, y.ExternalID)
					}), func(x, y stage.Record) bool { return x.ExternalID == y.ExternalID })
					scroll, at := int64(100_000*(i+1)+run), *records[0].Metrics.ObservedAt
					b.archive(scroll, at, records...)
					w.take(scroll, at, records)
					b.complete(scroll)
					w.completed[scroll] = true
				}
				t.Run("lists are those of plain code", func(t *testing.T) {
					b.t = t
					w.compare(b, fmt.Sprint("after ", len(byRun), " runs"), 25)
				})
				if db.Dialect() == store.Postgres && len(set.all) > 6000 {
					return
				}
				t.Run("explanations recompute", func(t *testing.T) {
					b.t = t
					most := 300
					switch { // the arithmetic is the same on both databases
					case db.Dialect() == store.Postgres:
						most = 200
					case i == 0 && storetest.Long():
						most = 1_000_000
					}
					b.explainAll(most)
				})
			})
		}
	})
}
