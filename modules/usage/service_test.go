package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

func TestEventsAreTheCallingKeysOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		mine, sister, stranger := caller(1, 11), caller(1, 12), caller(2, 21)
		for i := range 5 {
			for _, who := range []*viewer.Viewer{mine, sister, stranger, nil} {
				e := api.Event{Op: fmt.Sprintf("op%d", i), Status: "ok", Viewer: who, At: time.UnixMilli(int64(1000 + i))}
				if err := b.recorder.Record(context.Background(), e); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, who := range []*viewer.Viewer{mine, sister, stranger} {
			t.Run(fmt.Sprintf("key %d sees all", who.KeyID), func(t *testing.T) {
				if got := ops(t, b, who, 50); !slices.Equal(got, []string{"op4", "op3", "op2", "op1", "op0"}) {
					t.Errorf("key %d: got %v, want all, op4 first", who.KeyID, got)
				}
			})
		}
		for _, who := range []*viewer.Viewer{caller(2, 11), caller(1, 21), caller(3, 0)} {
			t.Run(fmt.Sprintf("key %d of account %d sees none", who.KeyID, who.AccountID), func(t *testing.T) {
				if got := ops(t, b, who, 50); len(got) != 0 {
					t.Errorf("key %d of account %d sees %v, want 0", who.KeyID, who.AccountID, got)
				}
			})
		}
		if _, _, err := b.service.Events(context.Background(), 5, ""); err == nil {
			t.Error("nobody sees events, want an error")
		}
	})
}

func ops(t *testing.T, b *bundle, who *viewer.Viewer, limit int) (out []string) {
	t.Helper()
	events, next, err := b.service.Events(as(who), limit, "")
	if err != nil || next != "" {
		t.Fatalf("got the next page %q, %v, want none and no error", next, err)
	}
	for _, e := range events {
		out = append(out, e.Op)
	}
	return out
}

func TestEventsComeInPages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		who, all := caller(1, 11), 205
		rows := make([]event, all)
		for i := range rows {
			rows[i] = event{accountID: 1, keyID: 11, op: "getHooks", status: "ok", at: time.UnixMilli(int64(i))}
		}
		b.insert(t, rows)
		for _, limit := range []int{1, 41, 100} {
			t.Run(fmt.Sprintf("pages of %d", limit), func(t *testing.T) {
				next, seen := "", []int64{}
				for {
					events, after, err := b.service.Events(as(who), limit, next)
					if err != nil || len(events) > limit {
						t.Fatalf("got %d events, %v, want at most %d", len(events), err, limit)
					}
					for _, e := range events {
						seen = append(seen, e.At)
					}
					if next = after; next == "" {
						break
					}
				}
				if len(seen) != all || seen[0] != int64(all-1) || !slices.IsSortedFunc(seen, func(a, b int64) int { return int(b - a) }) {
					t.Errorf("pages of %d: got %v, want %d from %d down", limit, seen, all, all-1)
				}
			})
		}
		for _, limit := range []int{0, 101, -1} {
			t.Run(fmt.Sprintf("limit %d is refused", limit), func(t *testing.T) {
				if _, _, err := b.service.Events(as(who), limit, ""); !apierr.Is(err, apierr.InvalidRequest) {
					t.Errorf("limit %d, want %v: %v", limit, apierr.InvalidRequest, err)
				}
			})
		}
		for _, text := range []string{"x", "AAAAAAAAAAA", "_________58", "AAAAAAAAAAE=", "AAAAAAAAAAF"} {
			t.Run(fmt.Sprintf("token %q is refused", text), func(t *testing.T) {
				if _, _, err := b.service.Events(as(who), 5, text); !apierr.Is(err, apierr.InvalidRequest) {
					t.Errorf("token %q, want %v: %v", text, apierr.InvalidRequest, err)
				}
			})
		}
	})
}

func TestUsageReport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
		b.service.now = func() time.Time { return at }
		who := caller(1, 11)
		report := func(who *viewer.Viewer) *pb.GetUsageResponse {
			t.Helper()
			resp, err := b.service.getUsage(as(who), &pb.GetUsageRequest{})
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		want := &pb.GetUsageResponse{
			Plan: "research_library", BillingInterval: proto.String("monthly"), Status: "active", Active: true,
			Usage: &pb.Usage{Daily: &pb.Budget{}, Monthly: &pb.Budget{}},
		}
		check := func(who *viewer.Viewer) {
			t.Helper()
			if got := report(who); !proto.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		check(who)
		charge(t, b, 1, 9)
		charge(t, b, 2, 1000) // another account's
		want.Usage.Daily.UsedPct, want.Usage.Monthly.UsedPct = 90, 9
		check(who)
		charge(t, b, 1, 1)
		want.Usage.Daily.UsedPct, want.Usage.Monthly.UsedPct = 100, 10
		check(who)
		at = at.AddDate(0, 0, 1)
		want.Usage.Daily.UsedPct = 0
		check(who)
		charge(t, b, 1, 500)
		want.Usage.Daily.UsedPct, want.Usage.Monthly.UsedPct = 100, 100
		check(who)
		at = at.AddDate(0, 1, 0)
		want.Usage.Daily.UsedPct, want.Usage.Monthly.UsedPct = 0, 0
		check(who)

		want.Status, want.Active = "past_due", false
		check(&viewer.Viewer{AccountID: 1, Plan: "pro", Interval: "monthly", Status: "past_due"})
		want.Status, want.BillingInterval = "none", nil
		check(&viewer.Viewer{AccountID: 3, Status: "none"})
		check(&viewer.Viewer{AccountID: 3})
	})
}

func charge(t *testing.T, b *bundle, account int64, units int) {
	t.Helper()
	err := b.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		return b.service.Charge(ctx, tx, account, units)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestChargeBelongsToItsTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		failed := errors.New("no")
		err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
			if err := b.service.Charge(ctx, tx, 1, 7); err != nil {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		charge(t, b, 1, 0)
		charge(t, b, 1, -5)
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_counters"); got != 0 {
			t.Errorf("%d counters, want 0", got)
		}
	})
}

func TestSweepForgetsOldEventsOnly(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		rows := make([]event, 2500)
		for i := range rows {
			rows[i] = event{op: "getHealth", status: "ok", at: time.Now()}
		}
		b.insert(t, rows)
		b.tables(t)
		sweep := func(want int64) {
			t.Helper()
			if err := b.service.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events"); got != want {
				t.Errorf("%d events left, want %d", got, want)
			}
		}
		sweep(2500)
		later := time.Now().Add(91 * 24 * time.Hour)
		b.service.now = func() time.Time { return later }
		b.service.cfg.KeepEvents = 0
		sweep(2500)
		b.service.cfg.KeepEvents = Defaults().KeepEvents
		sweep(0)
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if err := Defaults().Validate(); err != nil {
		t.Error(err)
	}
	if err := (Config{KeepEvents: -1}).Validate(); err == nil {
		t.Error("nothing was refused, want an error")
	}
}

func TestWaitIsOfTheTenantsOwnBudget(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.service.now = func() time.Time { return time.Date(2026, 3, 30, 22, 0, 0, 0, time.UTC) }
		err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
			return b.service.Charge(ctx, tx, 1, 100)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			account, daily, monthly int64
			want                    time.Duration
		}{{1, 101, 101, 0}, {1, 100, 101, 2 * time.Hour}, {1, 101, 100, 26 * time.Hour}, {2, 1, 1, 0}} {
			t.Run(fmt.Sprintf("account %d of %d a day, %d a month", c.account, c.daily, c.monthly), func(t *testing.T) {
				wait, err := b.service.Wait(viewer.As(context.Background(), c.account), Budget{c.daily, c.monthly})
				if err != nil || wait != c.want {
					t.Errorf("%+v: got a wait of %v, error %v; want %v", c, wait, err, c.want)
				}
			})
		}
	})
}
