package scrolls

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestVerdictsStayWithTheVideos(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		now := time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)
		w.service.now = func() time.Time { return now }
		dropped := "No thirds"
		w.screen = func(rec stage.Record) stage.Verdict {
			n, _ := strconv.Atoi(strings.TrimPrefix(rec.ExternalID, "v"))
			said := stage.Verdict{Ref: rec.Ref, Rank: float64(n), Reason: "number " + strconv.Itoa(n)}
			if n%3 == 0 {
				said.DroppedBy, said.RuleID, said.Reason, said.Rank = dropped, "rule_3", "dropped: a third", 0
			}
			return said
		}
		list := func(filter VerdictFilter, size int) (all []Verdict) {
			t.Helper()
			for token, pages := "", 0; ; pages++ {
				page, next, err := w.service.Verdicts(tenant(), filter, size, token)
				if err != nil || len(page) > size || pages > 50 {
					t.Fatalf("got a page of %d, the %d after the first, %v; want at most %d on a page, and 50 pages", len(page), pages, err, size)
				}
				if all = append(all, page...); next == "" {
					return all
				}
				token = next
			}
		}
		first := w.complete(w.create(Start{}).ID) // 25 videos
		if all := list(VerdictFilter{}, 7); len(all) != 25 {
			t.Fatalf("%d verdicts, want 25", len(all))
		}
		yes, no := true, false
		id := publicid.Format(publicid.Scroll, first.ID)
		for _, c := range []struct {
			name   string
			filter VerdictFilter
			want   int
		}{
			{"dropped", VerdictFilter{Dropped: &yes}, 8},
			{"kept", VerdictFilter{Dropped: &no}, 17},
			{"of the scroll", VerdictFilter{Scroll: id}, 25},
			{"of an unknown scroll", VerdictFilter{Scroll: "scr_0"}, 0},
			{"of a video", VerdictFilter{ExternalID: "v0006"}, 1},
			{"kept, of a dropped video", VerdictFilter{ExternalID: "v0006", Dropped: &no}, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				if got := list(c.filter, 100); len(got) != c.want {
					t.Errorf("%+v: %d verdicts, want %d", c.filter, len(got), c.want)
				}
			})
		}
		one := func(video string) string {
			v := list(VerdictFilter{ExternalID: video}, 2)[0]
			return fmt.Sprintf("%s %s: %q %q %g %q by %d at %d", v.Platform, v.ExternalID, v.DroppedBy, v.RuleID, v.Rank, v.Reason, v.ScrollID, v.JudgedAt)
		}
		at := now.UnixMilli()
		if got, want := one("v0006"), fmt.Sprintf(`tiktok v0006: "No thirds" "rule_3" 0 "dropped: a third" by %d at %d`, first.ID, at); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		kept := fmt.Sprintf(`tiktok v0007: "" "" 7 "number 7" by %d at %d`, first.ID, at)
		if got := one("v0007"); got != kept {
			t.Errorf("%s, want %s", got, kept)
		}
		if other, _, err := w.service.Verdicts(viewer.As(context.Background(), account+1), VerdictFilter{}, 10, ""); err != nil || len(other) > 0 {
			t.Errorf("another tenant: got %d verdicts, error %v; want none", len(other), err)
		}

		// What was dropped is judged again, what is in the library is not.
		now, dropped = now.Add(day), "No thirds at all"
		second := w.complete(w.create(Start{}).ID)
		if got, want := one("v0006"), fmt.Sprintf(`tiktok v0006: "No thirds at all" "rule_3" 0 "dropped: a third" by %d at %d`, second.ID, now.UnixMilli()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := one("v0007"); got != kept {
			t.Errorf("%s, want %s", got, kept)
		}
		if all := list(VerdictFilter{}, 100); len(all) != 25 {
			t.Errorf("%d verdicts after the second, want 25", len(all))
		}

		for _, c := range []struct {
			days, want int
		}{{89, 25}, {2, 17}, {1000, 17}} {
			t.Run(fmt.Sprintf("%d days later", c.days), func(t *testing.T) {
				now = now.Add(time.Duration(c.days) * day)
				if err := w.service.SweepVerdicts(context.Background()); err != nil {
					t.Fatal(err)
				}
				if all := list(VerdictFilter{}, 100); len(all) != c.want {
					t.Errorf("%d verdicts at %v, want %d", len(all), now, c.want)
				}
			})
		}
		if _, _, err := w.service.Verdicts(tenant(), VerdictFilter{}, 10, "nonsense"); err == nil {
			t.Error("a made-up token is taken, want an error")
		}
	})
}
