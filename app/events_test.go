package app_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

type event struct {
	Op, Status string
	CostCents  float64
	Ts         float64
}

func eventsOf(t *testing.T, caller *apptest.Caller) []event {
	t.Helper()
	var got struct{ Events []event }
	caller.Get(t, "GET /v1/events?limit=100", &got)
	return got.Events
}

// TestEveryOperationRecordsAnEvent calls each operation that REST has with nothing
// in it, which most refuse: every one leaves an event of its own.
func TestEveryOperationRecordsAnEvent(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	methods := restMethods()
	if len(methods) < 50 {
		t.Fatalf("got %d operations, want all, which are more than 50", len(methods))
	}
	for call, method := range methods {
		row := proto.GetExtension(method.Options(), scrolleryv1.E_Operation).(*scrolleryv1.Operation)
		if row.GetPath() == "" || row.GetId() == "listEvents" {
			continue
		}
		t.Run(row.GetId(), func(t *testing.T) {
			t.Parallel()
			account := running.Account(t, "standard")
			if row.GetMethod() != http.MethodGet {
				call += " {}"
			}
			answer := account.Do(t, call, "")
			events := eventsOf(t, account)
			if len(events) != 1 {
				t.Fatalf("events %+v, want 1", events)
			}
			want := event{Op: row.GetId(), Status: statusOf(answer), Ts: events[0].Ts}
			if events[0] != want || want.Ts < 1.7e12 {
				t.Errorf("event %+v, want %+v", events[0], want)
			}
		})
	}
}

// statusOf is how an event names what an answer says.
func statusOf(answer *apptest.Answer) string {
	switch answer.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "forbidden"
	case http.StatusTooManyRequests:
		return "rate_limited"
	case http.StatusPaymentRequired:
		if strings.Contains(string(answer.Body), "subscription_required") {
			return "subscription_required"
		}
	case http.StatusOK, http.StatusAccepted:
		return "ok"
	}
	return "error"
}

func TestRefusedCallsAreEventsToo(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "standard")
	reader := order(t, running, account, 0, "usage:read", "library:read")
	for _, c := range []struct{ call, op, status string }{
		{setRules, "putRules", "forbidden"},
		{"GET /v1/hooks?limit=0", "getHooks", "error"},
		{"GET /v1/hooks", "getHooks", "ok"},
		{"GET /v1/pricing", "getPricing", "ok"},
		{"GET /v1/health?x=1", "getHealth", "error"},
	} {
		t.Run(c.call+" is "+c.status, func(t *testing.T) {
			reader.Do(t, c.call, "")
			if got := withoutListing(eventsOf(t, reader))[0]; got.Op != c.op || got.Status != c.status {
				t.Errorf("%s: %+v, want %s %s", c.call, got, c.op, c.status)
			}
		})
	}
	lapse(t, running, account)
	reader.Do(t, "GET /v1/hooks", "")
	if got := withoutListing(eventsOf(t, reader))[0]; got.Status != "subscription_required" {
		t.Errorf(`lapsed: %+v, want "subscription_required"`, got)
	}
	if other := withoutListing(eventsOf(t, account)); len(other) != 0 {
		t.Errorf("another key of the account sees %+v, want none", other)
	}
}

func withoutListing(events []event) []event {
	var kept []event
	for _, e := range events {
		if e.Op != "listEvents" {
			kept = append(kept, e)
		}
	}
	return kept
}

// TestBudget spends a small one to its end.
func TestBudget(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Billing.Standard.DailyUnits, cfg.Billing.Standard.MonthlyUnits = 10, 1000 })
	account := running.Account(t, "standard")
	percents := func() (daily, monthly int) {
		var got struct {
			Usage struct{ Daily, Monthly struct{ UsedPct int } }
		}
		account.Get(t, "GET /v1/usage", &got)
		return got.Usage.Daily.UsedPct, got.Usage.Monthly.UsedPct
	}
	want := func(daily, monthly int) {
		t.Helper()
		if d, m := percents(); d != daily || m != monthly {
			t.Errorf("used %d%% and %d%%, want %d%% and %d%%", d, m, daily, monthly)
		}
	}
	want(0, 0)
	account.Get(t, setBrief, &struct{}{}) // 2
	want(20, 0)
	account.Do(t, `PUT /v1/rules {}`, "") // refused: nothing
	want(20, 0)
	for range 7 {
		account.Get(t, "GET /v1/rules", &struct{}{}) // 1 each
	}
	want(90, 0)
	account.Get(t, setRules, &struct{}{}) // the last unit, and one more
	want(100, 1)
	for _, call := range []string{"GET /v1/rules", setRules, `POST /v1/scrolls {}`} {
		t.Run(call, func(t *testing.T) {
			answer := account.Do(t, call, "")
			if answer.WantError(t, "rate_limited"); answer.Status != 429 || answer.Header.Get("Retry-After") == "" {
				t.Errorf("%s answered %d, %v, want Status 429 and Retry-After not empty", call, answer.Status, answer.Header)
			}
		})
	}
	want(100, 1)
	if events := withoutListing(eventsOf(t, account)); events[0].Op != "getUsage" || events[1].Status != "rate_limited" {
		t.Errorf(`events %+v, want Op "getUsage" and Status "rate_limited"`, events[:2])
	}
}
