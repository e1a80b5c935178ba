package library

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
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
				refs, n, err := b.Archive(ctx, tx, Batch{ScrollID: scroll, Stage: "archive", At: when, Once: true, Records: records})
				added, again = len(refs), n
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return added, again
		}
		archive(1, now, at(now-5000, "1", "2"))
		if added, again := archive(2, now, at(now-5000, "1", "2", "3")); added != 1 || again != 0 || b.count("observations") != 3 {
			t.Errorf("the same reading: %d added, %d again, %d observations, want added 1, again 0 and count 3", added, again, b.count("observations"))
		}
		if _, again := archive(3, now, at(now-1000, "1")); again != 1 || b.count("observations") != 4 {
			t.Errorf("a later reading: %d again, %d observations, want again 1 and count 4", again, b.count("observations"))
		}
		ref := func(id string) stage.Ref { return clip(id, "a", 1).Ref }
		last, err := b.LastObserved(b.ctx, []stage.Ref{ref("1"), ref("2"), ref("9")})
		if err != nil || len(last) != 2 || last[ref("1")] != now-1000 || last[ref("2")] != now-5000 {
			t.Errorf("last: %v, %v, want no error and of the two videos %v and %v", last, err, now-1000, now-5000)
		}
		for _, scrolls := range [][]int64{{1}, {1, 2}} {
			t.Run(fmt.Sprintf("scrolls %v", scrolls), func(t *testing.T) {
				found, err := b.ObservedIn(b.ctx, scrolls, []stage.Ref{ref("1"), ref("3"), ref("9")})
				want := len(scrolls)
				if err != nil || len(found) != want || found[ref("1")][1] != now-5000 || len(found[ref("1")]) != 1 {
					t.Errorf("in %v: %v, %v, want no error, %v found and for video 1 the reading of %v alone", scrolls, found, err, want, now-5000)
				}
			})
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
				changed, err = b.Renew(ctx, tx, Batch{ScrollID: 9, At: now, Records: []stage.Record{rec, clip("stranger", "a", 5)}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return changed
		}
		if n := renew(one); n != 0 {
			t.Errorf("the same again changes %d, want 0", n)
		}
		better := one
		better.Metadata = json.RawMessage(`{"caption":"second","hashtags":["y"]}`)
		more := int64(999)
		better.Metrics = stage.Metrics{Views: &more}
		if n := renew(better); n != 1 {
			t.Errorf("a better one changes %d, want 1", n)
		}
		v := b.all(page{list: videos}).Videos[0]
		check(t, "metadata", string(v.Metadata), `{"caption":"second","hashtags":["y"]}`)
		check(t, "views", string(v.Metrics["views"]), "100")
		if b.count("observations") != 1 || b.count("videos") != 1 {
			t.Errorf("%d observations, %d videos, want 1 of each", b.count("observations"), b.count("videos"))
		}
	})
}
