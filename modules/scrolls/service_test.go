package scrolls

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func publicID(id int64) string { return publicid.Format(publicid.Scroll, id) }

func TestCreateRaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.setLimits(Limits{Active: true, ActiveScrolls: 3})
		race := func(key *string) (created, existing, refused int, ids map[int64]bool) {
			var mu sync.Mutex
			var all sync.WaitGroup
			ids = map[int64]bool{}
			for range 16 {
				all.Go(func() {
					scroll, fresh, err := w.service.Create(tenant(), Start{IdempotencyKey: key})
					mu.Lock()
					defer mu.Unlock()
					switch {
					case apierr.Is(err, apierr.ScrollActiveLimit):
						refused++
					case err != nil:
						t.Errorf("got %v, want a scroll or %v", err, apierr.ScrollActiveLimit)
					case fresh:
						created++
						ids[scroll.ID] = true
					default:
						existing++
						ids[scroll.ID] = true
					}
				})
			}
			all.Wait()
			return created, existing, refused, ids
		}
		if created, existing, _, ids := race(ptr("the-same-key")); created != 1 || existing != 15 || len(ids) != 1 {
			t.Errorf("one key: %d created, %d existing, %d scrolls, want created 1, existing 15 and 1 id", created, existing, len(ids))
		}
		if created, _, refused, _ := race(nil); created != 2 || refused != 14 {
			t.Errorf("no key: %d created, %d refused, want created 2 and refused 14", created, refused)
		}
		if n := w.count("scrolls"); n != 3 {
			t.Errorf("%d scrolls, want 3", n)
		}
	})
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	for _, name := range []string{"nobody-knows", importTemplate, ""} {
		t.Run(fmt.Sprintf("template %q", name), func(t *testing.T) {
			_, _, err := w.service.Create(tenant(), Start{Template: &name})
			if got := apierr.As(err); got == nil || got.Kind != apierr.InvalidRequest || got.Issues[0].Path != "template" {
				t.Errorf(`template %q: want %s at template, got %v`, name, apierr.InvalidRequest, err)
			}
		})
	}
	first, _, err := w.service.Create(tenant(), Start{IdempotencyKey: ptr("key-12345"), Template: ptr("niche"), Prompt: ptr("latte")})
	if err != nil || *first.Template != "niche" {
		t.Fatalf(`create: got %+v, error %v; want the template niche`, first, err)
	}
	if _, _, err := w.service.Create(tenant(), Start{}); !apierr.Is(err, apierr.ScrollActiveLimit) {
		t.Errorf("second active scroll: %v, want %v", err, apierr.ScrollActiveLimit)
	}
	w.briefed = false
	again, created, err := w.service.Create(tenant(), Start{IdempotencyKey: ptr("key-12345")})
	if err != nil || created || again.ID != first.ID {
		t.Errorf("the same key: got %+v, created: %t, %v; want scroll %d again", again, created, err, first.ID)
	}
	if _, _, err := w.service.Create(tenant(), Start{}); !apierr.Is(err, apierr.WorkspaceRequired) {
		t.Errorf("without a workspace: %v, want %v", err, apierr.WorkspaceRequired)
	}
	// Another tenant knows neither the key nor the scroll.
	other := viewer.As(context.Background(), account+1)
	if scroll, err := w.service.Get(other, publicID(first.ID)); err != nil || scroll != nil {
		t.Errorf("another tenant's read: got %+v, error %v; want no scroll", scroll, err)
	}
	if scroll, err := w.service.Cancel(other, publicID(first.ID)); err != nil || scroll != nil {
		t.Errorf("another tenant's cancel: got %+v, error %v; want no scroll", scroll, err)
	}
	w.briefed = true
	if scroll, created, err := w.service.Create(other, Start{IdempotencyKey: ptr("key-12345")}); err != nil || !created || scroll.ID == first.ID {
		t.Errorf("another tenant with the key: got %+v, created: %t, %v; want a scroll of its own", scroll, created, err)
	}
}

func TestGetAndList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.setLimits(Limits{Active: true, ActiveScrolls: 10})
		var made []*Scroll
		for range 5 {
			made = append(made, w.create(Start{Schedule: ptr(2)}))
		}
		got, err := w.service.Get(tenant(), publicID(made[2].ID))
		if err != nil || !equal(got, made[2]) {
			t.Errorf("get: %+v, want %+v, %v", got, made[2], err)
		}
		for _, id := range []string{"", "scr_", "nonsense", publicID(1), "vid_" + publicID(made[0].ID)[4:]} {
			t.Run(fmt.Sprintf("id %q", id), func(t *testing.T) {
				if got, err := w.service.Get(tenant(), id); err != nil || got != nil {
					t.Errorf("get %q: got %+v, error %v; want no scroll", id, got, err)
				}
			})
		}
		var listed []int64
		for token, pages := "", 0; ; pages++ {
			scrolls, next, err := w.service.List(tenant(), 2, token)
			if err != nil || pages > 3 {
				t.Fatalf("list: got error %v after %d pages, want at most 3 pages", err, pages)
			}
			for _, s := range scrolls {
				listed = append(listed, s.ID)
			}
			if token = next; next == "" {
				break
			}
		}
		want := []int64{made[4].ID, made[3].ID, made[2].ID, made[1].ID, made[0].ID}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("listed, newest first (-want +got):\n%s", diff)
		}
		if _, _, err := w.service.List(tenant(), 2, "scr_nonsense"); !apierr.Is(err, apierr.InvalidRequest) {
			t.Errorf("a made-up token: %v, want %v", err, apierr.InvalidRequest)
		}
	})
}

func TestWatchFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		scroll := w.create(Start{})
		seen := make(chan *Scroll, 1000)
		ended := make(chan error, 1)
		go func() {
			ended <- w.service.Watch(tenant(), publicID(scroll.ID), func(s *Scroll) error { seen <- s; return nil })
		}()
		if first := <-seen; first.Status != Queued {
			t.Errorf("first: %+v, want %v", first, Queued)
		}
		var running sync.WaitGroup
		running.Go(func() { w.complete(scroll.ID) })
		err := <-ended
		running.Wait()
		if err != nil {
			t.Fatal(err)
		}
		close(seen)
		var last *Scroll
		for s := range seen {
			if last != nil && s.Progress.Percent < last.Progress.Percent {
				t.Errorf("got %v percent after %v, want it never to fall", s.Progress.Percent, last.Progress.Percent)
			}
			last = s
		}
		if last == nil || last.Status != Completed || last.Progress.Percent != 100 {
			t.Errorf("last: %+v, want last not nil, Status %v and Percent 100", last, Completed)
		}
		if err := w.service.Watch(tenant(), "scr_nonsense", nil); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("watch of nothing: %v, want %v", err, apierr.NotFound)
		}
		// A watcher of another process finds out by looking.
		again := w.create(Start{})
		go func() { _, _ = w.service.Cancel(tenant(), publicID(again.ID)) }()
		var status string
		err = w.another(quick()).Watch(tenant(), publicID(again.ID), func(s *Scroll) error { status = s.Status; return nil })
		if err != nil || status != Cancelled {
			t.Errorf("watched from elsewhere: got %s, error %v; want %s", status, err, Cancelled)
		}
	})
}

func TestCancelSubject(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	w.setLimits(Limits{Active: true, ActiveScrolls: 3})
	old := w.create(Start{})
	w.subject = "website:tea.co"
	fresh := w.create(Start{})
	err := w.db.Write(tenant(), func(ctx context.Context, tx *store.Tx) error {
		return w.history.CancelSubject(ctx, tx, "website:beans.co")
	})
	if err != nil || w.load(old.ID).Status != Cancelled || w.load(fresh.ID).Status != Queued {
		t.Errorf("got error %v, the old scroll %s and the new one %s; want %s and %s", err, w.load(old.ID).Status, w.load(fresh.ID).Status, Cancelled, Queued)
	}
	if done := w.complete(fresh.ID); done.Status != Completed {
		t.Errorf("%+v, want %v", done, Completed)
	}
	if subject, found, err := w.history.SubjectOf(tenant(), fresh.ID); err != nil || !found || subject != "website:tea.co" {
		t.Errorf(`subject: got %q, found %t, error %v; want website:tea.co`, subject, found, err)
	}
	if subject, found, err := w.history.SubjectOf(tenant(), fresh.ID+1); err != nil || found || subject != "" {
		t.Errorf(`subject of a scroll that is gone: got %q, found %t, error %v; want none`, subject, found, err)
	}
}

func TestRecurrence(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		now := time.Date(2026, 3, 28, 23, 59, 59, 0, time.UTC)
		w.service.now = func() time.Time { return now }
		due := func(days int, want int) {
			t.Helper()
			now = now.Add(time.Duration(days) * day)
			if err := w.service.StartDue(context.Background()); err != nil {
				t.Fatal(err)
			}
			if n := w.count("scrolls"); n != want {
				t.Errorf("%d scrolls at %v, want %d", n, now, want)
			}
		}
		w.complete(w.create(Start{Schedule: ptr(2), Prompt: ptr("latte"), Template: ptr("niche")}).ID)
		due(0, 1)
		due(1, 1)
		due(1, 2)
		scrolls, _, err := w.service.List(tenant(), 1, "")
		if err != nil || scrolls[0].Status != Queued || *scrolls[0].Template != "niche" || *scrolls[0].Schedule != 2 {
			t.Errorf(`repeated: got %+v, error %v; want it %s with the template niche, every 2 days`, scrolls[0], err, Queued)
		}
		if n := w.number("SELECT sum(units) FROM fake_charges WHERE units = 100"); n != 100 {
			t.Errorf("%d units for the start, want 100", n)
		}
		due(2, 2) // one is active
		w.complete(scrolls[0].ID)
		due(1, 2) // skipped, not queued up
		due(1, 3)
		scrolls, _, _ = w.service.List(tenant(), 1, "")
		w.complete(scrolls[0].ID)
		w.setLimits(Limits{MaxFeedSize: 250, ActiveScrolls: 1})
		due(2, 3) // not paid
		w.setLimits(Limits{Active: true, MaxFeedSize: 250, ActiveScrolls: 1})
		charged := w.count("fake_charges")
		w.setSpent(true)
		due(2, 3) // nothing left to spend
		if n := w.count("fake_charges"); n != charged {
			t.Errorf("a skipped start is charged: got %v, want %v", n, charged)
		}
		w.setSpent(false)
		due(5, 4) // after a long sleep, one run and no more
		due(0, 4)
		scrolls, _, _ = w.service.List(tenant(), 1, "")
		w.complete(scrolls[0].ID)
		if next := w.number("SELECT next_at / 1000 FROM recurrences"); time.Unix(int64(next), 0).UTC().Hour() != 23 {
			t.Errorf("next at %v, want 23", time.Unix(int64(next), 0).UTC())
		}
		w.complete(w.create(Start{Schedule: ptr(7)}).ID)
		if n := w.number("SELECT every_days FROM recurrences"); n != 7 || w.count("recurrences") != 1 {
			t.Errorf("replaced: got every %d days, in %d schedules; want 7, in one", n, w.count("recurrences"))
		}
		shown, err := w.service.Schedule(tenant())
		if err != nil || shown == nil || shown.EveryDays != 7 || shown.Prompt != nil || shown.NextAt <= now.UnixMilli() || shown.CreatedAt != now.UnixMilli() {
			t.Errorf("schedule: got %+v, %v; want every 7 days, set now", shown, err)
		}
		if other, err := w.service.Schedule(viewer.As(context.Background(), account+1)); err != nil || other != nil {
			t.Errorf("schedule of another tenant: got %+v, %v; want none", other, err)
		}
		if stopped, err := w.service.StopSchedule(viewer.As(context.Background(), account+1)); err != nil || stopped {
			t.Errorf("another tenant stops the schedule: got %t, %v, want none stopped and no error", stopped, err)
		}
		for _, want := range []bool{true, false} {
			t.Run(fmt.Sprintf("a schedule is there: %v", want), func(t *testing.T) {
				if stopped, err := w.service.StopSchedule(tenant()); err != nil || stopped != want {
					t.Errorf("stopped: %v, %v, want %v", stopped, err, want)
				}
			})
		}
		due(30, 5)
	})
}

// TestSchedulesHaveNoCeiling: two processes start all that is due in one call each, and
// none of it twice.
func TestSchedulesHaveNoCeiling(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		const tenants = 2*dueBatch + 50
		for i := range tenants {
			w.exec("INSERT INTO recurrences (id, account_id, every_days, next_at, created_at) VALUES ($1, $2, 1, $3, 0)", i+1, 1000+i, i/3)
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if err := w.another(quick()).StartDue(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n, own := w.count("scrolls"), w.number("SELECT count(DISTINCT account_id) FROM scrolls"); n != tenants || own != tenants {
			t.Errorf("%d scrolls of %d accounts, want %d of %d", n, own, tenants, tenants)
		}
		if n := w.number("SELECT count(*) FROM recurrences WHERE next_at > $1", time.Now().UnixMilli()); n != tenants {
			t.Errorf("%d recurrences moved on, want %d", n, tenants)
		}
	})
}

func TestSchedulesAreSpreadOverTheirHour(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 28, 9, 0, 0, 0, time.UTC)
	var minutes [60]int
	for account := int64(1); account <= 6000; account++ {
		next := time.UnixMilli(nextTime(account, begin.UnixMilli(), 2, begin)).UTC()
		if want := begin.Add(2 * day); next.Before(want) || !next.Before(want.Add(time.Hour)) {
			t.Fatalf("account %d: next at %v, want within an hour of %v", account, next, want)
		}
		minutes[next.Minute()]++
		if again := nextTime(account, next.UnixMilli(), 2, next); again != next.Add(2*day).UnixMilli() {
			t.Fatalf("account %d: after %v comes %v, want two days later", account, next, time.UnixMilli(again).UTC())
		}
	}
	for minute, n := range minutes {
		if n < 50 || n > 200 {
			t.Errorf("minute %d has %d of 6000 schedules, want about 100", minute, n)
		}
	}
}
