package billing

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func TestSubscriptionLife(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := setup(t, db).subscriptions
		ctx := context.Background()
		end := time.UnixMilli(2_000_000_000_000)
		write := func(do func(ctx context.Context, tx *store.Tx) error) {
			t.Helper()
			if err := db.Write(ctx, do); err != nil {
				t.Fatal(err)
			}
		}
		want := func(step, plan, interval, status string, periodEnd time.Time) {
			t.Helper()
			got, err := s.Of(ctx, 5)
			if err != nil || got.Plan != plan || got.Interval != interval || got.Status != status || !got.PeriodEnd.Equal(periodEnd) {
				t.Errorf("%s: got %+v, %v, want %s, %s, %s until %v", step, got, err, plan, interval, status, periodEnd)
			}
			limits, err := s.Limits(ctx, 5)
			if err != nil || limits.Active != (status == StatusActive) || limits.Status != status || limits.Plan != plan {
				t.Errorf("%s: got the limits %+v, %v, want those of %s, %s", step, limits, err, plan, status)
			}
			active, err := s.Active(ctx, []int64{5, 6})
			if err != nil || active[5] != (status == StatusActive) || active[6] {
				t.Errorf("%s: got active %v, %v, want 5: %t and 6: false", step, active, err, status == StatusActive)
			}
		}
		grant := func(plan string) func(ctx context.Context, tx *store.Tx) error {
			return func(ctx context.Context, tx *store.Tx) error { return s.Grant(ctx, tx, 5, plan) }
		}
		activate := func(ctx context.Context, tx *store.Tx) error {
			return s.Activate(ctx, tx, 5, "standard", Monthly, end)
		}

		want("never had one", "", "", StatusNone, time.Time{})
		write(grant("pro"))
		want("granted", "pro", "", StatusActive, time.Time{})
		write(grant("standard"))
		want("granted another", "standard", "", StatusActive, time.Time{})
		write(activate)
		want("paid", "standard", Monthly, StatusActive, end)
		write(grant("pro"))
		want("granted to a payer", "standard", Monthly, StatusActive, end)
		const external = "sub_1"
		tell := func(status string) {
			t.Helper()
			write(func(ctx context.Context, tx *store.Tx) error {
				_, err := s.follow(ctx, tx, SubscriptionState{ID: external, Status: status}, db.NewID())
				return err
			})
		}
		write(func(ctx context.Context, tx *store.Tx) error {
			_, err := s.adopt(ctx, tx, 5, "standard", Monthly, SubscriptionState{ID: external, Status: StatusActive, PeriodEnd: end})
			return err
		})
		for _, status := range []string{StatusActive, StatusPastDue, StatusActive} {
			tell(status)
			want(status, "standard", Monthly, status, end)
			write(grant("pro"))
			want("granted to one who is charged", "standard", Monthly, status, end)
			if sub, err := s.Of(ctx, 5); err != nil || sub.External != external {
				t.Errorf("%s, after the grant: got %+v, error %v; want the provider's subscription %v", status, sub, err, external)
			}
		}
		tell(StatusCancelled)
		want("cancelled", "standard", Monthly, StatusCancelled, end)
		write(grant("pro"))
		want("granted after the end", "pro", "", StatusActive, time.Time{})

		if err := db.Write(ctx, grant("gold")); err == nil {
			t.Error("an unknown plan was granted, want an error")
		}
	})
}

func TestPeriodEnd(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"2026-01-15", Monthly, "2026-02-15"},
		{"2026-01-31", Monthly, "2026-02-28"},
		{"2028-01-30", Monthly, "2028-02-29"},
		{"2026-12-31", Monthly, "2027-01-31"},
		{"2028-02-29", Annual, "2029-02-28"},
		{"2026-08-31", Monthly, "2026-09-30"},
		{"2026-03-01", Annual, "2027-03-01"},
	} {
		t.Run(c[1]+" from "+c[0], func(t *testing.T) {
			from, err := time.Parse(time.DateOnly, c[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := periodEnd(from, c[1]).Format(time.DateOnly); got != c[2] {
				t.Errorf("got %s, want %s", got, c[2])
			}
		})
	}
}

func TestPricing(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	resp, err := b.getPricing(context.Background(), &pb.GetPricingRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		plan            *pb.Plan
		key             string
		month, year, eq float64
		feed            int32
	}{
		//lint:ignore SA1019 the contract still returns the deprecated alias
		{resp.GetPlan(), "standard", 39, 390, 32.5, 250},
		{resp.GetPlans().GetStandard(), "standard", 39, 390, 32.5, 250},
		{resp.GetPlans().GetPro(), "pro", 99, 990, 82.5, 1000},
	} {
		t.Run(c.key, func(t *testing.T) {
			p := c.plan
			if p.GetId() != PlanID || p.GetPlanKey() != c.key || p.GetMonthlyPrice() != c.month || p.GetAnnualPrice() != c.year ||
				p.GetAnnualMonthlyEquivalent() != c.eq || p.GetMaxFeedSize() != c.feed || p.GetWorkspaces() != 1 || p.GetLabel() == "" {
				t.Errorf("%v, want Id %v, PlanKey %v, MonthlyPrice %v, AnnualPrice %v, AnnualMonthlyEquivalent %v, MaxFeedSize %v, Workspaces 1 and Label not empty", p, PlanID, c.key, c.month, c.year, c.eq, c.feed)
			}
		})
	}
	if got := (Plan{AnnualCents: 10000}).annualMonthlyCents(); got != 833 {
		t.Errorf("100 dollars a year are %d cents a month, want 833", got)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if err := Defaults().Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no base":        func(c *Config) { c.BaseURL = "" },
		"slash":          func(c *Config) { c.BaseURL = "https://a.b/" },
		"no scheme":      func(c *Config) { c.BaseURL = "a.b" },
		"a query":        func(c *Config) { c.BaseURL = "https://a.b?c" },
		"no lifetime":    func(c *Config) { c.CheckoutTTL = 0 },
		"a wrong key":    func(c *Config) { c.Pro.Key = "standard" },
		"no feed":        func(c *Config) { c.Standard.MaxFeedSize = 0 },
		"negative price": func(c *Config) { c.Pro.AnnualCents = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Defaults()
			spoil(&cfg)
			if cfg.Validate() == nil {
				t.Error("got no error, want a refusal")
			}
		})
	}
	cfg := Defaults()
	for asked, want := range map[[2]string][2]int64{
		{"standard", ""}: {5000, 75000}, {"pro", ""}: {20000, 300000}, {"", ""}: {5000, 75000},
		{"pro", "daily_units=7 max_videos=12"}: {7, 300000}, {"", "monthly_units=9"}: {5000, 9},
	} {
		plan := asked[0]
		t.Run(fmt.Sprintf("plan %q", asked), func(t *testing.T) {
			if daily, monthly := cfg.Budget(plan, asked[1]); daily != want[0] || monthly != want[1] {
				t.Errorf("plan %q: got %d, %d, want %v", plan, daily, monthly, want)
			}
		})
	}
}
