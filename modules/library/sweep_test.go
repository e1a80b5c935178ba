package library

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/removal"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// by archives readings of a source, on a day of the moved clock, by a scroll of their own.
func (b *bundle) by(source string, onDay int64, ids ...string) {
	b.t.Helper()
	scroll := 100 + onDay
	b.runs.subjects[scroll] = b.runs.subject
	var records []stage.Record
	for _, id := range ids {
		r := clip(id, "maker-"+id, 1000+onDay)
		r.Metrics.ObservedAt = ptr(now + onDay*day)
		r.Metadata = []byte(`{"caption":"canary` + id + `","durationSeconds":9}`)
		r.Evidence = &stage.Evidence{Spoken: ptr("hooked " + id)}
		records = append(records, r)
	}
	for part := range slices.Chunk(records, 150) {
		err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := b.Archive(ctx, tx, videos.Batch{ScrollID: scroll, Subject: b.runs.subject, Stage: source, At: now + onDay*day, Records: part})
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bundle) sweep(onDay int64) {
	b.t.Helper()
	if err := b.removal.Sweep(b.t.Context(), time.UnixMilli(now+onDay*day)); err != nil {
		b.t.Fatalf("day %d: %v", onDay, err)
	}
}

// has are the videos that the account lists, in the order of their names.
func (b *bundle) has() string {
	var ids []string
	for _, v := range b.all(lists.Page{List: lists.Videos, WithArchived: true}).Videos {
		ids = append(ids, v.ExternalID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// TestSweepsFollowTheClock moves the clock by 80 days, and compares what is there with what the
// policy says, day by day. Only what the source with an end has read goes.
func TestSweepsFollowTheClock(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(8)
		last := map[string]int64{} // when api read a video last
		api := func(onDay int64, ids ...string) {
			b.by("api", onDay, ids...)
			for _, id := range ids {
				last[id] = onDay
			}
		}
		api(0, "once", "often", "archived", "mixed", "imported")
		b.by("import", 0, "file")
		b.by("import", 1, "imported")
		b.by("feed", 0, "folder")
		other.by("api", 3, "theirs")
		if _, err := b.edits.ArchiveVideo(b.ctx, b.idOf("archived"), false, true); err != nil {
			t.Fatal(err)
		}
		kept := []string{"file", "folder", "imported", "mixed"}
		for onDay := int64(1); onDay <= 80; onDay++ {
			switch {
			case onDay == 3:
				b.by("feed", onDay, "mixed")
			case onDay%20 == 0 && onDay < 60:
				api(onDay, "often")
			case onDay == 45: // what was deleted is seen again
				api(onDay, "once")
			}
			b.sweep(onDay)
			want := map[string]bool{}
			for _, id := range kept {
				want[id] = true
			}
			for id, at := range last {
				if onDay < at+30 {
					want[id] = true
				}
			}
			if got, want := b.has(), strings.Join(slices.Sorted(maps.Keys(want)), " "); got != want {
				t.Fatalf("day %d: got %s, want %s", onDay, got, want)
			}
			if got, want := other.has() == "theirs", onDay < 33; got != want {
				t.Fatalf("day %d: got the other tenant's video %t, want %t", onDay, got, want)
			}
		}
		if n := b.count("observations WHERE stage = 'api'") + b.count("tombstones") + b.count("deleted_videos"); n != 0 {
			t.Errorf("got %d readings of the source, tombstones and kept videos, want 0", n)
		}
		b.counted()
		if n := b.count("videos WHERE external_id = 'mixed' AND usable_views = 1003 AND account_id = 7"); n != 1 {
			t.Error("what another source has read too has not its reading")
		}
		b.settled()
		b.sweep(81) // there is nothing to do
	})
}

// TestASweepIsShortFairAndResumed sweeps many due videos of one tenant and few of another, cut in
// between: no transaction deletes more than its bound, the other tenant does not wait for the
// first one's many, and the next sweep goes on without looking at what was done.
func TestASweepIsShortFairAndResumed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(8)
		const many = 330
		var ids, few []string
		for i := range many {
			ids = append(ids, fmt.Sprintf("many-%03d", i))
		}
		for i := range 30 {
			few = append(few, fmt.Sprintf("few-%02d", i))
		}
		b.by("api", 0, ids[:200]...) // at one moment
		b.by("api", 1, ids[200:]...)
		other.by("api", 2, few...)
		b.by("api", 40, "young")
		ctx := cutAt(b, 8, "DELETE FROM videos")
		if err := b.removal.Sweep(ctx, time.UnixMilli(now+50*day)); err == nil {
			t.Fatal("a sweep that is cut: got no error")
		}
		if mine, theirs := b.count("videos WHERE account_id = 7"), b.count("videos WHERE account_id = 8"); mine <= many-5*videos.SweptAtOnce || theirs != 0 {
			t.Errorf("when it was cut: got %d and %d videos, want more than %d and 0", mine, theirs, many-5*videos.SweptAtOnce)
		}
		before := b.count("videos WHERE account_id = 7")
		steps := 0
		for done := false; !done; steps++ {
			begun := time.Now()
			n, readings, end, err := b.Sweep(b.ctx, retention[0], time.UnixMilli(now+50*day))
			if err != nil || n > videos.SweptAtOnce || readings > 2*n {
				t.Fatalf("a step: got %d videos and %d readings, %v; want at most %d", n, readings, err, videos.SweptAtOnce)
			}
			t.Logf("a step of %d videos took %v", n, time.Since(begun).Round(10*time.Microsecond))
			done = end
		}
		if want := (before-1+videos.SweptAtOnce-1)/videos.SweptAtOnce + 1; steps > want {
			t.Errorf("got %d steps for %d videos, want at most %d", steps, before-1, want)
		}
		if got := b.has(); got != "young" {
			t.Errorf("got %s, want what is not due", got)
		}
		if db.Dialect() != store.SQLite {
			return
		}
		for _, s := range db.Hots() { // each reading is looked at by an index of its own
			if !strings.Contains(s.Text(), "EXISTS (SELECT 1 FROM observations l") {
				continue
			}
			query, values, err := s.Expand(b.ctx, "api", 0, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range values {
				query = strings.Replace(query, "?", fmt.Sprintf("'%v'", value), 1)
			}
			plan := ""
			b.rows("EXPLAIN QUERY PLAN "+query, func(line string) { plan += line + "\n" })
			if !strings.Contains(plan, "stage=? AND (observed_at,video_id)>(?,?)") || !strings.Contains(plan, "video_id=? AND observed_at>?") || strings.Contains(plan, "B-TREE") {
				t.Errorf("got the plan\n%s\nwant the readings of the source in their order, and of each video its own", plan)
			}
		}
	})
}

// TestWhatAnUndoBringsBackIsSweptToo: the sweep has passed the time of its readings by then.
func TestWhatAnUndoBringsBackIsSweptToo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.by("api", 0, "deleted")
		b.by("api", 1, "other")
		b.by("feed", 1, "stays")
		d := b.remove(removal.Order{VideoID: b.idOf("deleted")})
		b.sweep(40)
		b.undo(d.ID)
		if got := b.has(); got != "deleted stays" {
			t.Fatalf("after the undo: got %s, want the video back", got)
		}
		if b.sweep(40); b.has() != "stays" {
			t.Errorf("got %s, want what is due gone", b.has())
		}
	})
}

// TestTextsGoAlone is the policy of an operator who accepted an amendment: what the source has not
// read again keeps its numbers, and texts come back with the next reading.
func TestTextsGoAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		rule := retention[0]
		rule.Texts = true
		b.by("api", 0, "old", "again", "both")
		b.by("import", 1, "both")
		b.by("api", 20, "again")
		b.complete(100)
		steps := func(onDay int64) {
			t.Helper()
			for done := false; !done; {
				var err error
				if _, _, done, err = b.Sweep(b.ctx, rule, time.UnixMilli(now+onDay*day)); err != nil {
					t.Fatal(err)
				}
			}
		}
		shows := func() map[string]string {
			texts := map[string]string{}
			for _, v := range b.all(lists.Page{List: lists.Videos}).Videos {
				texts[v.ExternalID] = string(v.Metadata) + " " + string(v.Metrics["views"])
			}
			for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
				texts[h.Video.ExternalID] += " " + *h.Spoken
			}
			return texts
		}
		whole := func(id string, views int) string {
			return fmt.Sprintf(`{"caption":"canary%s","durationSeconds":9} %d hooked %s`, id, views, id)
		}
		steps(29)
		want := map[string]string{"old": whole("old", 1000), "again": whole("again", 1020), "both": whole("both", 1001)}
		if diff := cmp.Diff(want, shows()); diff != "" {
			t.Errorf("before the end (-want +got):\n%s", diff)
		}
		steps(31)
		want["old"] = `{"durationSeconds":9} 1000`
		if diff := cmp.Diff(want, shows()); diff != "" {
			t.Errorf("after the end (-want +got):\n%s", diff)
		}
		b.rows("SELECT id, doc, hook, hook_text, keys FROM video_docs", func(line string) {
			if strings.Contains(line, "canaryold") || strings.Contains(line, "hooked old") {
				t.Errorf("a document has the text: %s", line)
			}
		})
		if found := b.all(lists.Page{List: lists.Videos, Filter: lists.Filter{Terms: "canaryold"}}).Videos; len(found) != 0 {
			t.Errorf("a search finds %d videos by the text, want 0", len(found))
		}
		b.settled()
		b.by("api", 33, "old")
		want["old"] = whole("old", 1033)
		if diff := cmp.Diff(want, shows()); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}

// TestOperatorsSeeWhatIsDue: the earliest of all libraries, and how many are late.
func TestOperatorsSeeWhatIsDue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		other := b.as(account + 1)
		wants := func(onDay, hours, next int64, overdue int) {
			t.Helper()
			got, err := b.removal.Due(t.Context(), time.UnixMilli(now+onDay*day).Add(time.Duration(hours)*time.Hour))
			if err != nil || len(got) != 1 || got[0].Source != "api" || got[0].Overdue != overdue || got[0].Next.IsZero() != (next == 0) || next != 0 && got[0].Next.UnixMilli() != now+next*day {
				t.Errorf("day %d: got %+v, error %v; want day %d and %d overdue", onDay, got, err, next, overdue)
			}
		}
		wants(0, 0, 0, 0)
		b.by("feed", 0, "folder")
		b.by("api", 3, "old")
		other.by("api", 2, "older")
		wants(4, 0, 32, 0)
		wants(32, 1, 32, 0)
		wants(32, 3, 32, 1)
		wants(33, 3, 32, 2)
		b.sweep(32)
		wants(33, 1, 33, 0)
		b.sweep(34)
		wants(34, 0, 0, 0)
	})
}

// TestWhatIsDueIsRefreshedFirst: from the 25th to the 30th day, the oldest first, without what is
// gone and what was read since.
func TestWhatIsDueIsRefreshedFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.by("api", 0, "past")
		b.by("api", 3, "second", "gone", "renewed")
		b.by("api", 2, "first")
		b.by("api", 8, "young", "renewed")
		b.by("feed", 3, "folder")
		err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := b.Gone(ctx, tx, []stage.Ref{{Platform: "tiktok", ExternalID: "gone"}}, now+4*day)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			platform string
			limit    int
			want     string
		}{{"tiktok", 10, "first second "}, {"tiktok", 1, "first "}, {"youtube", 10, ""}} {
			refs, err := b.Due(b.ctx, c.platform, time.UnixMilli(now+31*day), c.limit)
			got := ""
			for _, ref := range refs {
				got += ref.ExternalID + " "
			}
			if err != nil || got != c.want {
				t.Errorf("%s, at most %d: got %q, %v; want %q", c.platform, c.limit, got, err, c.want)
			}
		}
		for names, want := range map[string]int64{"first second renewed": 32, "renewed": 38, "folder": 0, "folder second": 33} {
			var ids []int64
			for name := range strings.FieldsSeq(names) {
				id, _ := publicid.Parse(publicid.Video, b.idOf(name))
				ids = append(ids, id)
			}
			got, err := b.KeptUntil(b.ctx, ids)
			if err != nil || got.IsZero() != (want == 0) || want != 0 && got.UnixMilli() != now+want*day {
				t.Errorf("%s are kept until %v, error %v; want day %d", names, got, err, want)
			}
		}
	})
}
