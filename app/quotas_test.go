package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

// TestTenantsShareWhatASiteAllows: confined plugins of two tenants ask the ledger
// before they ask the site, 3 units for 50 Shorts, and the site is never asked more
// often than the operator may.
func TestTenantsShareWhatASiteAllows(t *testing.T) {
	t.Parallel()
	const limit = 10
	p := newPlatforms(t)
	channel := &p.youtube.Channels[0]
	for i := len(channel.Shorts); i < 50; i++ {
		id := fmt.Sprintf("short%06d", i)
		p.youtube.Videos[id] = youtubetest.Video{
			ID: id, Title: "A kettle", Channel: channel.ID, Duration: "PT20S", Counts: map[string]any{"viewCount": "5"},
		}
		channel.Shorts = append(channel.Shorts, id)
	}
	running := apptest.Start(t, p.configure, func(cfg *app.Config) {
		cfg.Plugins.Settings["youtube"]["units_per_day"] = fmt.Sprint(limit)
	})
	first, second := running.Account(t, "pro"), running.Account(t, "pro")
	for _, account := range []*apptest.Caller{first, second} {
		account.Get(t, `POST /v1/workspace {"description":"kettle","competitors":["youtube:kettle.co"]}`, &struct{}{})
	}
	for i, turn := range []struct {
		account *apptest.Caller
		outcome string
		used    int64
		tenants int
		left    int64
	}{{first, "ok", 3, 1, 10}, {first, "ok", 6, 1, 7}, {second, "ok", 9, 2, 4}, {second, "quota", 10, 2, 1}} {
		t.Run(fmt.Sprintf("scroll %d is %s", i, turn.outcome), func(t *testing.T) {
			estimated := estimatedUnits(t, turn.account)
			scroll := turn.account.Scroll(t, `{"template":"competitors"}`)
			var got struct {
				Scroll struct{ Progress struct{ Coverage []told } }
			}
			turn.account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
			c := on(t, got.Scroll.Progress.Coverage, "youtube")["kettle.co"]
			units := quotaNamed(t, running, "units")
			if c.Outcome != turn.outcome || (turn.outcome == "ok") != (c.Returned == 50) {
				t.Errorf("scroll %d (%s): got %+v, want %q, with 50 records where it is ok and not otherwise", i, scroll.Status, c, turn.outcome)
			}
			if turn.outcome == "quota" && (c.RetryAt == nil || *c.RetryAt != units.RenewsAt.UnixMilli() || time.Until(units.RenewsAt) <= 0 || time.Until(units.RenewsAt) > 25*time.Hour) {
				t.Errorf("scroll %d: got another try at %v (milliseconds), want it at the renewal %v, within the next 25 hours", i, c.RetryAt, units.RenewsAt)
			}
			if want := []int64{3, turn.left}; !slices.Equal(estimated, want) {
				t.Errorf("scroll %d: estimated to need and left: %v, want %v", i, estimated, want)
			}
			if units.Used != turn.used || units.Limit != limit || units.Tenants != turn.tenants {
				t.Errorf("scroll %d: %+v, want %d used by %d", i, units, turn.used, turn.tenants)
			}
			// Refreshes by the statistics method have an allowance of their own.
			if asked := int64(len(p.youtube.Asked()) - p.youtube.Count("videos:batchGetStats")); asked != turn.used {
				t.Errorf("scroll %d: the site was asked %d times, want one for each of the %d units that were granted", i, asked, turn.used)
			}
		})
	}
	if search := quotaNamed(t, running, "search"); search.Used != 0 || search.Limit != 100 {
		t.Errorf("searches: %+v, want Used 0 and Limit 100", search)
	}
}

// quotaNamed is where a quota of the youtube source stands, as the operator sees it.
func quotaNamed(t *testing.T, running *apptest.Running, name string) operator.Quota {
	t.Helper()
	all, err := running.Operator().Quotas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		if q.Plugin == "youtube" && q.Name == name {
			return q
		}
	}
	t.Fatalf("got the quotas %+v, want one of youtube with the name %s", all, name)
	return operator.Quota{}
}

// estimatedUnits is what the next scroll would need of YouTube's units, and what is left.
func estimatedUnits(t *testing.T, account *apptest.Caller) (found []int64) {
	t.Helper()
	var got struct {
		Sources []struct {
			Source string
			Quotas []struct {
				Name         string
				Needed, Left int64
			}
		}
	}
	account.Get(t, `POST /v1/scrolls/estimate {"template":"competitors"}`, &got)
	for _, source := range got.Sources {
		for _, q := range source.Quotas {
			if source.Source == "youtube" && q.Name == "units" {
				found = append(found, q.Needed, q.Left)
			}
		}
	}
	return found
}
