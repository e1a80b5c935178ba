package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// ledger grants until it is empty, and remembers who asked for what.
type ledger struct {
	mu    sync.Mutex
	left  int64
	asked []string
	err   error
}

var renewal = time.Now().Add(time.Hour).Truncate(time.Millisecond)

func (p *ledger) Spend(_ context.Context, plugin string, a stage.Allowance, units int64, item string) (bool, time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, fmt.Sprintf("%s %s of %d a %s: %d %s", plugin, a.Name, a.Limit, a.Window, units, item))
	if p.err != nil || units > p.left {
		return false, renewal, p.err
	}
	p.left -= units
	return true, time.Time{}, nil
}

func (p *ledger) GiveBack(_ context.Context, plugin string, a stage.Allowance, units int64, _ time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, fmt.Sprintf("%s %s back: %d", plugin, a.Name, units))
	p.left += units
	return p.err
}

func withQuota(p *ledger, daily string) func(*host.Config) {
	return func(c *host.Config) {
		c.Quotas = p
		c.Settings = map[string]map[string]string{"probe": {"daily": daily}}
	}
}

func TestSpend(t *testing.T) {
	t.Parallel()
	for daily, limit := range map[string]string{"": "100", "250": "250", "-1": "100", "many": "100"} {
		t.Run(fmt.Sprintf("%q sets a limit of %s", daily, limit), func(t *testing.T) {
			p := &ledger{left: 9}
			records, err := setup(t, withQuota(p, daily)).probe(t.Context(), "probe", "spend:units,3;units,5;tags,espresso;units,7")
			if err != nil || len(records) != 4 {
				t.Fatalf("got %d records, error %v; want 4", len(records), err)
			}
			// Nothing is left of the first three or less is than the last wants, in
			// whatever order they came.
			slices.Sort(p.asked)
			want := []string{
				"probe tags of 30 a week: 1 espresso", "probe units of " + limit + " a pacific_day: 3 ",
				"probe units of " + limit + " a pacific_day: 5 ", "probe units of " + limit + " a pacific_day: 7 ",
			}
			if !slices.Equal(p.asked, want) {
				t.Errorf("asked for %q, want %q", p.asked, want)
			}
			granted := int64(0)
			for _, r := range records {
				switch text := found(t, r); text {
				case "ok":
					granted += map[string]int64{"units,3": 3, "units,5": 5, "units,7": 7, "tags,espresso": 1}[r.ExternalID]
				case "quota units is used up", "quota tags is used up":
				default:
					t.Errorf("%s: got %q, want ok or that the quota is used up", r.ExternalID, text)
				}
			}
			if granted != 9-p.left {
				t.Errorf("got %d granted to the stage, want the %d that the ledger gave", granted, 9-p.left)
			}
		})
	}
}

func TestSpendEndsACallThatReturnsIt(t *testing.T) {
	t.Parallel()
	b := setup(t, withQuota(&ledger{}, ""))
	_, err := b.probe(t.Context(), "probe", "spent:units")
	failure := wantFailure(t, err, stage.SourceQuota)
	if failure.RetryAt == nil || *failure.RetryAt != renewal.UnixMilli() {
		t.Errorf("%+v, want a retry at the renewal", failure)
	}
}

func TestSpendWithoutALedger(t *testing.T) {
	t.Parallel()
	if text := setup(t, nil).found(t, "probe", "spend:units,1000000"); text != "ok" {
		t.Errorf("got %q, want %q", text, "ok")
	}
}

// What a stage may not ask for is its own mistake, whether or not there is a ledger.
func TestSpendOfWhatIsNotDeclared(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*host.Config){nil, withQuota(&ledger{left: 1000}, "")} {
		for _, wish := range []string{"others,1", "units,0", "units,-4", "tags," + strings.Repeat("x", 501)} {
			_, err := setup(t, change).probe(t.Context(), "probe", "spend:"+wish)
			wantFailure(t, err, stage.StageProtocol)
		}
	}
}

func TestSpendWhenTheLedgerFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no database")
	_, err := setup(t, withQuota(&ledger{err: broken}, "")).probe(t.Context(), "probe", "spend:units,1")
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the ledger's own error", err)
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	b := setup(t, withQuota(&ledger{}, "7"))
	want := []host.Quota{
		{Plugin: "probe", Allowance: stage.Allowance{Name: "units", Limit: 7, Setting: "daily", Window: stage.PacificDay}},
		{Plugin: "probe", Allowance: stage.Allowance{Name: "tags", Limit: 30, Window: stage.Week}},
		{Plugin: "online", Allowance: stage.Allowance{Name: "cost", Limit: 3_000_000, Setting: "budget", Window: stage.UTCDay, Cost: stage.Cost{Handle: 7000, Term: 7000}, Money: true}},
		{Plugin: "paying", Allowance: stage.Allowance{Name: "units", Limit: 100, Setting: "daily", Window: stage.UTCDay}},
	}
	if got := b.Quotas(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if online, _ := b.Find("online"); online.Docs != "https://acme.example.com/docs" {
		t.Errorf("docs %q, want the page that the plugin names", online.Docs)
	}
}
