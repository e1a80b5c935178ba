package library

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestReadingsAreKeptOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		at := func(when int64, ids ...string) []stage.Record {
			var all []stage.Record
			for _, id := range ids {
				one := clip(id, "a", 100)
				one.Metrics.ObservedAt = &when
				all = append(all, one)
			}
			return all
		}
		archive := func(scroll, when int64, records []stage.Record) (added, again int) {
			t.Helper()
			err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
				refs, n, err := b.Archive(ctx, tx, videos.Batch{ScrollID: scroll, Stage: "archive", At: when, Once: true, Records: records})
				added, again = len(refs), n
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return added, again
		}
		archive(1, now, at(now-5000, "1", "2"))
		added, again := archive(2, now, at(now-5000, "1", "2", "3"))
		check(t, "added, of the same reading", added, 1)
		check(t, "reobserved, of the same reading", again, 0)
		check(t, "observations after the same reading", b.count("observations"), 3)
		added, again = archive(3, now, at(now-1000, "1"))
		check(t, "added, of a later reading", added, 0)
		check(t, "reobserved, of a later reading", again, 1)
		check(t, "observations after a later reading", b.count("observations"), 4)
		ref := func(id string) stage.Ref { return clip(id, "a", 1).Ref }
		last, _, err := b.LastObserved(b.ctx, []*stage.Record{{Ref: ref("1")}, {Ref: ref("2")}, {Ref: ref("9")}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[stage.Ref]int64{ref("1"): now - 1000, ref("2"): now - 5000}, last); diff != "" {
			t.Errorf("last readings (-want +got):\n%s", diff)
		}
		for _, scrolls := range [][]int64{{1}, {1, 2}} {
			t.Run(fmt.Sprintf("scrolls %v", scrolls), func(t *testing.T) {
				found, err := b.ObservedIn(b.ctx, scrolls, []stage.Ref{ref("1"), ref("3"), ref("9")})
				if err != nil {
					t.Fatal(err)
				}
				want := map[stage.Ref]map[int64]int64{ref("1"): {1: now - 5000}}
				if len(scrolls) > 1 {
					want[ref("3")] = map[int64]int64{2: now - 5000}
				}
				if diff := cmp.Diff(want, found); diff != "" {
					t.Errorf("readings by scroll (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestRecordsThatRepeatTheLibrary: what stages add to a record is not what its source said.
func TestRecordsThatRepeatTheLibrary(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		archive := func(scroll int64, rec stage.Record, spoken string) {
			t.Helper()
			batch := videos.Batch{ScrollID: scroll, Stage: "archive", At: now, Said: map[stage.Ref]stage.Record{rec.Ref: rec}}
			rec.Evidence = &stage.Evidence{Spoken: &spoken}
			batch.Records = []stage.Record{rec}
			err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
				_, _, err := b.Archive(ctx, tx, batch)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		known := clip("1", "a", 100)
		known.Metadata = json.RawMessage(`{"caption":"first"}`)
		archive(1, known, "stop doing this")
		later, other, foreign := known, known, known
		later.Metrics.ObservedAt = ptr(int64(now + 1000))
		other.Metadata = json.RawMessage(`{"caption":"second"}`)
		foreign.Platform = "youtube"
		numbers := stage.Record{Ref: known.Ref, Metrics: known.Metrics}
		stranger := stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "9"}, Metrics: known.Metrics}
		_, repeats, err := b.LastObserved(b.ctx, []*stage.Record{&known, &later, &other, &foreign, &numbers, &stranger, &known})
		if diff := cmp.Diff([]bool{true, true, false, false, true, false, true}, repeats); err != nil || diff != "" {
			t.Errorf("error %v; repeats (-want +got):\n%s", err, diff)
		}
		archive(2, known, "now with other words")
		if hooks := b.all(lists.Page{List: lists.Hooks}).Hooks; len(hooks) != 1 || hooks[0].Spoken == nil || *hooks[0].Spoken != "now with other words" {
			t.Errorf("got the hooks %+v, want one with the words that a stage found last", hooks)
		}
	})
}

func TestRenewAddsNoObservation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		one := clip("1", "a", 100)
		one.Metadata = json.RawMessage(`{"caption":"first","hashtags":["x"]}`)
		b.archive(1, now, one)
		renew := func(rec stage.Record) (changed int) {
			t.Helper()
			err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				changed, err = b.Renew(ctx, tx, videos.Batch{ScrollID: 9, At: now, Records: []stage.Record{rec, clip("stranger", "a", 5)}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return changed
		}
		if n := renew(one); n != 0 {
			t.Errorf("the same again: got %d videos changed, want 0", n)
		}
		better := one
		better.Metadata = json.RawMessage(`{"caption":"second","hashtags":["y"]}`)
		more := int64(999)
		better.Metrics = stage.Metrics{Views: &more}
		if n := renew(better); n != 1 {
			t.Errorf("a better one: got %d videos changed, want 1", n)
		}
		v := b.all(lists.Page{List: lists.Videos}).Videos[0]
		check(t, "metadata", string(v.Metadata), `{"caption":"second","hashtags":["y"]}`)
		check(t, "views", string(v.Metrics["views"]), "100")
		check(t, "observations", b.count("observations"), 1)
		check(t, "videos", b.count("videos"), 1)
	})
}
