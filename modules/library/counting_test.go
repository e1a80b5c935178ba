package library

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/ent"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/scoring"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// tagged are a scroll's records of creators who use some of a few hashtags each.
func tagged(r *rand.Rand, run int64, creators int) (records []stage.Record) {
	for c := range creators {
		for _, record := range clips(2, fmt.Sprint("creator", c), 1000*(run+1)) {
			var tags []string
			for tag := range 8 {
				if r.IntN(3) == 0 {
					tags = append(tags, fmt.Sprintf(`"Tag%d"`, tag))
				}
			}
			record.Metadata = []byte(`{"hashtags":[` + strings.Join(tags, ",") + `]}`)
			records = append(records, record)
		}
	}
	return fresh(run, records)
}

// tagLibrary has two scrolls of each of two subjects, all of the same videos.
func tagLibrary(t *testing.T, db *store.DB, creators int) *bundle {
	b := setup(t, db)
	for _, b.runs.subject = range []string{"website:b.com", "website:a.com"} {
		for run := range int64(2) {
			scroll := 10*int64(b.runs.subject[8]) + run
			b.scroll(scroll, now+run*day, tagged(rand.New(rand.NewPCG(1, 2)), run, creators)...)
		}
	}
	return b
}

// stored are all trends, without their ids.
func (b *bundle) stored() (all []ent.Trend) {
	b.t.Helper()
	rows, err := b.db.Ent().Trend.Query().Order(enttrend.BySubject(), enttrend.ByWithArchived(), enttrend.ByKey()).All(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, row := range rows {
		all = append(all, ent.Trend{
			Subject: row.Subject, WithArchived: row.WithArchived, Key: row.Key, Label: row.Label, Place: row.Place, Listed: row.Listed, Head: row.Head,
			VideoCount: row.VideoCount, Example1: row.Example1, Example2: row.Example2, Example3: row.Example3, Members: row.Members, Recent: row.Recent,
		})
	}
	return all
}

// checkCounted compares the stored trends with those that a scroll would measure.
func (b *bundle) checkCounted() {
	b.t.Helper()
	if n := b.count("uncounted_videos"); n != 0 {
		b.t.Errorf("got %d videos that are still to be counted, want none", n)
	}
	got := b.stored()
	for _, subject := range []string{"website:a.com", "website:b.com"} {
		if err := b.MeasureTrends(b.ctx, subject, 0); err != nil {
			b.t.Fatal(err)
		}
	}
	check(b.t, "trends", got, b.stored())
}

// TestArchivedVideosAreCountedAsScrollsDo archives and restores videos, and compares with
// what is measured from the beginning.
func TestArchivedVideosAreCountedAsScrollsDo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := tagLibrary(t, db, 9)
		all, r := b.all(lists.Page{List: lists.Videos}).Videos, rand.New(rand.NewPCG(2, 3))
		different := map[string]bool{}
		for range 12 {
			for range 1 + r.IntN(6) {
				if _, err := b.edits.ArchiveVideo(b.ctx, all[r.IntN(len(all))].ID, r.IntN(5) == 0, r.IntN(3) > 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.CountAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.checkCounted()
			different[fmt.Sprint(b.all(lists.Page{List: lists.Trends}).Trends)] = true
		}
		if len(different) < 5 {
			t.Errorf("the test tests little: got %d different lists, want at least 5", len(different))
		}
	})
}

// TestReadsCountWhatWasArchived: who archives a video and reads trends sees what it changed.
func TestReadsCountWhatWasArchived(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := tagLibrary(t, db, 4)
		before := b.all(lists.Page{List: lists.Trends})
		if len(before.Trends) == 0 {
			t.Fatal("the test tests nothing: got no trends, want some")
		}
		first := b.all(lists.Page{List: lists.Trends, Limit: 1})
		check(t, "the first trend", first.Trends[0], before.Trends[0])
		flip := func(archived bool) {
			for _, v := range b.all(lists.Page{List: lists.Videos, WithArchived: true}).Videos {
				if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, false, archived); err != nil {
					t.Fatal(err)
				}
			}
		}
		flip(true)
		if n := b.count("uncounted_videos"); n == 0 {
			t.Error("the test tests nothing: got no video to be counted, want some")
		}
		check(t, "trends with archived videos", b.all(lists.Page{List: lists.Trends, WithArchived: true}), before)
		check(t, "trends of archived videos", len(b.all(lists.Page{List: lists.Trends}).Trends), 0)
		flip(false)
		check(t, "trends of restored videos", b.all(lists.Page{List: lists.Trends}), before)
		b.checkCounted()

		err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := b.ArchiveSubject(ctx, tx, "website:b.com") // which had them first
			return err
		})
		check(t, "error of archiving a subject", err, nil)
		check(t, "trends of an archived subject", len(b.all(lists.Page{List: lists.Trends}).Trends), 0)
		b.checkCounted()
	})
}

func TestCountingBesideEverythingElse(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := tagLibrary(t, db, 6)
		all := b.all(lists.Page{List: lists.Videos}).Videos
		var group sync.WaitGroup
		run := func(times int, do func(i int) error) {
			group.Go(func() {
				for i := range times {
					if err := do(i); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for half := range 2 {
			run(30, func(i int) error {
				_, err := b.edits.ArchiveVideo(b.ctx, all[(7*i+half)%len(all)].ID, false, i%3 > 0)
				return err
			})
			run(15, func(int) error { return b.CountTrends(b.ctx) })
			run(10, func(int) error {
				_, err := b.View(b.ctx, "trends")
				return err
			})
		}
		run(3, func(int) error { return b.Score(b.ctx, 10*'a'+1) })
		group.Wait()
		if err := b.CountTrends(b.ctx); err != nil {
			t.Fatal(err)
		}
		b.checkCounted()
	})
}

// TestCountingBeginsAgainAfterOthers has counting overtaken when it has counted, before it lists.
func TestCountingBeginsAgainAfterOthers(t *testing.T) {
	for name, overtake := range map[string]func(b *bundle, other string) error{
		"another count": func(b *bundle, other string) error {
			_, err := b.edits.ArchiveVideo(b.ctx, other, false, true)
			return errors.Join(err, b.CountTrends(b.ctx))
		},
		"a scroll": func(b *bundle, other string) error {
			_, err := b.edits.ArchiveVideo(b.ctx, other, false, true)
			return errors.Join(err, b.MeasureTrends(b.ctx, b.db.Ent().TrendWindow.Query().AllX(b.ctx)[0].Subject, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := tagLibrary(t, db, 9)
				example := b.all(lists.Page{List: lists.Trends}).Trends[0].Examples
				if _, err := b.edits.ArchiveVideo(b.ctx, example[0].ID, false, true); err != nil {
					t.Fatal(err)
				}
				rows, err := db.Ent().UncountedVideo.Query().All(b.ctx)
				if err != nil {
					t.Fatal(err)
				}
				parts, err := b.CountParts(b.ctx, rows)
				listing := slices.IndexFunc(parts, func(p scoring.CountPart) bool { return p.Bytes == 0 })
				if err != nil || listing < 1 {
					t.Fatalf("got %d parts that read keys, error %v; want at least 1", listing, err)
				}
				if err := b.WriteParts(b.ctx, parts[:listing]); err != nil {
					t.Fatal(err)
				}
				if err := overtake(b, example[1].ID); err != nil {
					t.Fatal(err)
				}
				if err := b.WriteParts(b.ctx, parts[listing:]); !errors.Is(err, videos.ErrChanged) {
					t.Errorf("got error %v, want %v", err, videos.ErrChanged)
				}
				if err := b.CountTrends(b.ctx); err != nil {
					t.Fatal(err)
				}
				b.checkCounted()
			})
		})
	}
}
