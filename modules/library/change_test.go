package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// spoken gives clips evidence and a hashtag.
func spoken(records []stage.Record) []stage.Record {
	for i := range records {
		records[i].Evidence = &stage.Evidence{Spoken: ptr("hello")}
		records[i].Metadata = json.RawMessage(`{"hashtags":["Espresso"]}`)
	}
	return records
}

// fresh has records posted a day before the first run, and read at each run's time.
func fresh(run int64, records []stage.Record) []stage.Record {
	for i := range records {
		records[i].PostedAt, records[i].Metrics.ObservedAt = ptr(now-day), ptr(now+run*day)
	}
	return records
}

func TestArchiveVideoAndHook(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, spoken(clips(3, "a", 100))...)
		id := b.all(lists.Page{List: lists.Hooks}).Hooks[0].Video.ID
		shown := func(withArchived bool) (n [2]int) {
			return [2]int{len(b.all(lists.Page{List: lists.Hooks, WithArchived: withArchived}).Hooks), len(b.all(lists.Page{List: lists.Videos, WithArchived: withArchived}).Videos)}
		}
		for _, step := range []struct {
			hook, archived bool
			want           [2]int
		}{
			{true, true, [2]int{2, 3}}, {true, true, [2]int{2, 3}}, {false, true, [2]int{2, 2}}, {true, false, [2]int{2, 2}}, {false, false, [2]int{3, 3}},
		} {
			t.Run(fmt.Sprintf("%+v", step), func(t *testing.T) {
				outcome, err := b.edits.ArchiveVideo(b.ctx, id, step.hook, step.archived)
				if err != nil {
					t.Fatal(err)
				}
				check(t, "outcome", outcome, videos.Updated)
				check(t, fmt.Sprintf("%+v", step), shown(false), step.want)
				check(t, fmt.Sprintf("%+v, archived too", step), shown(true), [2]int{3, 3})
			})
		}
		for _, unknown := range []string{"x", "vid_0000000000001", strings.ToUpper(id)} {
			outcome, err := b.edits.ArchiveVideo(b.ctx, unknown, false, true)
			check(t, "outcome of "+unknown, outcome, videos.NotFound)
			check(t, "error", err, nil)
		}
		b.runs.none = true
		outcome, err := b.edits.ArchiveVideo(b.ctx, id, false, true)
		check(t, "error without a workspace", err, nil)
		check(t, "outcome without a workspace", outcome, videos.WorkspaceRequired)
	})
}

func TestArchiveSubject(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for run := range int64(2) {
			b.scroll(run+1, now+run*day, fresh(run, append(spoken(clips(2, "a", 100*(run+1))), append(spoken(clips(1, "b", 300*(run+1))), spoken(clips(1, "c", 500*(run+1)))...)...))...)
		}
		got := b.all(lists.Page{List: lists.Trends})
		check(t, "trends", len(got.Trends), 1)
		check(t, "label", got.Trends[0].Label, "#Espresso")
		check(t, "growth", got.Trends[0].Metrics.MedianGrowthMultiple, 2.0)
		var count int
		err := db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			count, err = b.ArchiveSubject(ctx, tx, "website:a.com")
			return err
		})
		check(t, "error", err, nil)
		check(t, "archived", count, 4)
		check(t, "videos", len(b.all(lists.Page{List: lists.Videos}).Videos), 0)
		check(t, "trends", len(b.all(lists.Page{List: lists.Trends}).Trends), 0)
		check(t, "trends with archived", len(b.all(lists.Page{List: lists.Trends, WithArchived: true}).Trends), 1)
		b.runs.subject = "website:new.com"
		check(t, "status of another subject", b.all(lists.Page{List: lists.Trends, WithArchived: true}).Status, "insufficient_history")
	})
}

// everywhere are the records of a scroll that every list has something of: three creators
// use one hashtag, and one of their videos has far more views than the others.
func everywhere(run int64) []stage.Record {
	records := slices.Concat(spoken(clips(3, "a", 100*(run+1))), spoken(clips(3, "b", 300*(run+1))), spoken(clips(3, "c", 500*(run+1))))
	records[0].Metrics.Views = ptr(90_000 * (run + 1))
	return fresh(run, records)
}

// listed is how many items all lists have, archived ones too.
func (b *bundle) listed() (n map[string]int) {
	b.t.Helper()
	n = map[string]int{}
	for _, l := range []lists.List{lists.Hooks, lists.Outliers, lists.Trends, lists.Videos} {
		a := b.all(lists.Page{List: l, WithArchived: true})
		n[string(rune(l))] = len(a.Hooks) + len(a.Outliers) + len(a.Trends) + len(a.Videos)
	}
	return n
}

func TestTenantsDoNotMeet(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for run := range int64(2) {
			b.scroll(run+1, now+run*day, everywhere(run)...)
		}
		for l, n := range b.listed() {
			if n == 0 {
				t.Errorf("list %s of the owner: got no item, want some", l)
			}
		}
		before := b.all(lists.Page{List: lists.Videos, WithArchived: true})
		other := b.as(8)
		other.runs.subject, other.runs.completed, other.runs.subjects = "website:a.com", b.runs.completed, b.runs.subjects
		id := before.Videos[0].ID
		for l, n := range other.listed() {
			check(t, "items of list "+l+" seen by another", n, 0)
		}
		outcome, err := other.edits.ArchiveVideo(other.ctx, id, false, true)
		check(t, "error", err, nil)
		check(t, "archived by another", outcome, videos.NotFound)
		outcome, _, err = other.edits.Annotate(other.ctx, id, json.RawMessage(`{"a":"b"}`))
		check(t, "error", err, nil)
		check(t, "annotated by another", outcome, videos.NotFound)
		known, err := other.Known(other.ctx, []stage.Ref{{Platform: "tiktok", ExternalID: before.Videos[0].ExternalID}})
		check(t, "error", err, nil)
		check(t, "known to another", len(known), 0)
		added, _ := other.archive(9, now, clips(2, "a", 5)...)
		check(t, "added by another", added, 2)
		check(t, "what the first sees", b.all(lists.Page{List: lists.Videos, WithArchived: true}), before)
	})
}

func TestArchivingWhileScoring(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.scroll(1, now, everywhere(0)...)
		b.archive(2, now+day, everywhere(1)...)
		all := b.all(lists.Page{List: lists.Videos}).Videos
		var group sync.WaitGroup
		for _, v := range all {
			if !strings.HasSuffix(v.ExternalID, "-2") { // one of each creator
				continue
			}
			group.Go(func() {
				if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, false, true); err != nil {
					t.Error(err)
				}
			})
		}
		for range 2 {
			group.Go(func() {
				if err := b.Score(b.ctx, 2); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		b.runs.completed = append(b.runs.completed, 2)
		lists := func() []answer {
			return []answer{b.all(lists.Page{List: lists.Trends}), b.all(lists.Page{List: lists.Outliers}), b.all(lists.Page{List: lists.Trends, WithArchived: true})}
		}
		concurrent := lists()
		for i, a := range concurrent {
			if len(a.Trends)+len(a.Outliers) == 0 {
				t.Errorf("list %d: got no item, want some", i)
			}
		}
		if err := b.Score(b.ctx, 2); err != nil {
			t.Fatal(err)
		}
		check(t, "scored again", lists(), concurrent)
	})
}

func TestTokensOfStrangers(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	for _, token := range []string{"x", "%", strings.Repeat("A", 200), lists.Hooks.Token(make([]byte, 16))} {
		t.Run(fmt.Sprintf("token %q is refused", token), func(t *testing.T) {
			_, err := b.reader.Read(b.ctx, lists.Page{List: lists.Videos, Limit: 5, Token: token})
			if f := apierr.As(err); f == nil || f.Kind != apierr.InvalidRequest || f.Issues[0].Path != "pageToken" {
				t.Errorf("got %v, want %s at pageToken", err, apierr.InvalidRequest)
			}
		})
	}
}

func TestPagesAreAsOfAdmissionInACallAndAsOfNowInAView(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.archive(1, now, spoken(clips(3, "a", 100))...)
		admitted := func() context.Context {
			revision, err := b.Revision(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			at := &viewer.AtAdmission{Workspace: true, Subject: b.runs.subject, LibraryRevision: revision}
			return viewer.NewContext(t.Context(), &viewer.Viewer{AccountID: account, AtAdmission: at})
		}
		hooksOf := func(ctx context.Context) string {
			made, err := b.reader.Read(ctx, lists.Page{List: lists.Hooks, Limit: lists.DefaultLimit})
			if err != nil {
				t.Fatal(err)
			}
			return string(made.Body)
		}
		first := admitted()
		before := hooksOf(first)
		if _, err := b.edits.ArchiveVideo(b.ctx, b.all(lists.Page{List: lists.Videos}).Videos[0].ID, false, true); err != nil {
			t.Fatal(err)
		}
		if got := hooksOf(first); got != before {
			t.Errorf("a call that was admitted before the change: got %s, want the page of then, %s", got, before)
		}
		after := hooksOf(admitted())
		if after == before {
			t.Errorf("the next call: got the page before the change, want the one after it: %s", after)
		}
		if got, err := b.View(first, "hooks"); err != nil || string(got) != after {
			t.Errorf("a view by a program that was admitted before the change: got %s, error %v; want %s", got, err, after)
		}
	})
}
