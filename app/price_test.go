package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/quota"
	"github.com/scrollery/scrollery/plugins/stage"
)

// toll is a source of another author that pays for each seed.
const toll = "toll"

// tollSource returns for a seed such as `3 of it` three videos, and says what they cost. `3 of it at 7`
// costs 7 whatever comes, `silent` has no outcome, and `wait` returns a video and does not end.
func tollSource() stage.Spec {
	return stage.Spec{
		ID: toll, Version: "1", Kind: stage.SourceKind, Platforms: []string{"tiktok"}, Docs: "https://toll.example.com/docs",
		Price: stage.Price{Call: 100, Record: 10, Budget: 100_000},
		Collect: func(ctx context.Context, _ *stage.Call, seeds []stage.Seed, emit func(stage.Record) error) (outcomes []stage.Outcome, err error) {
			for _, seed := range seeds {
				o := stage.Outcome{Seed: seed.Text(), Platform: "tiktok", Status: stage.OK}
				words := strings.Fields(seed.Term)
				if words[0] == "silent" {
					continue
				}
				if words[0] == "fail" {
					return outcomes, stage.Busyf(0, "the provider is down")
				}
				if words[0] == "wait" {
					err := emit(stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Seed: seed.Term})
					<-ctx.Done()
					return outcomes, errors.Join(err, ctx.Err())
				}
				o.Returned, _ = strconv.Atoi(words[0])
				for n := range o.Returned {
					if err := emit(stage.Record{Ref: stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprint(seed.Term, n)}, Seed: seed.Term}); err != nil {
						return outcomes, err
					}
				}
				if len(words) == 5 {
					cost, _ := strconv.ParseInt(words[4], 10, 64)
					o.Cost = &cost
				}
				outcomes = append(outcomes, o)
			}
			return outcomes, nil
		},
		Refresh: func(_ context.Context, _ *stage.Call, refs []stage.Ref, emit func(stage.Record) error) (outcomes []stage.Outcome, err error) {
			for _, ref := range refs {
				outcomes = append(outcomes, stage.Outcome{Seed: ref.ExternalID, Platform: ref.Platform, Status: stage.OK, Returned: 1})
				if err := emit(stage.Record{Ref: ref}); err != nil {
					return outcomes, err
				}
			}
			return outcomes, nil
		},
	}
}

// ledger is the real one as the host has it.
type ledger struct{ *quota.Service }

func (l ledger) Spend(ctx context.Context, plugin string, a stage.Allowance, units int64, item string) (bool, time.Time, error) {
	answer, err := l.Service.Spend(ctx, ofHost(plugin, a), units, item)
	return answer.Granted, answer.RetryAt, err
}

func (l ledger) GiveBack(ctx context.Context, plugin string, a stage.Allowance, units int64, since time.Time) error {
	return l.Service.GiveBack(ctx, ofHost(plugin, a), units, since)
}

func ofHost(plugin string, a stage.Allowance) quota.Allowance {
	return quota.Allowance{Plugin: plugin, Name: a.Name, Limit: a.Limit, Window: quota.Window(a.Window)}
}

// cutShort is the ledger of calls that may be cancelled while they ask it.
type cutShort struct{ ledger }

type cutKey struct{}

func (c cutShort) Spend(ctx context.Context, plugin string, a stage.Allowance, units int64, item string) (bool, time.Time, error) {
	cancel, cut := ctx.Value(cutKey{}).(context.CancelFunc)
	if !cut {
		return c.ledger.Spend(ctx, plugin, a, units, item)
	}
	var cancelled sync.WaitGroup
	cancelled.Go(cancel)
	defer cancelled.Wait()
	return c.ledger.Spend(ctx, plugin, a, units, item)
}

// tolled is a host with the source and a ledger on a database, and what the ledger has.
func tolled(t *testing.T, db *store.DB, budget string) (h *host.Host, used func() int64) {
	t.Helper()
	service, err := quota.New(db)
	if err != nil {
		t.Fatal(err)
	}
	h, err = host.New(host.Config{
		Builtins: []stage.Spec{tollSource()}, Together: []string{toll}, ScratchDir: t.TempDir(), Quotas: cutShort{ledger{service}},
		Settings: map[string]map[string]string{toll: {"budget": budget}},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, func() int64 {
		quotas := h.QuotasOf(toll, nil)
		if len(quotas) != 1 || !quotas[0].Money {
			t.Fatalf("quotas %+v, want the money of the price", quotas)
		}
		status, err := service.Status(t.Context(), ofHost(toll, quotas[0].Allowance))
		if err != nil {
			t.Fatal(err)
		}
		return status.Used
	}
}

func terms(texts ...string) (seeds []stage.Seed) {
	for _, text := range texts {
		seeds = append(seeds, stage.Seed{Kind: "niche", Platform: "tiktok", Term: text, Limit: 10})
	}
	return seeds
}

// TestWhatAPluginOfAnotherAuthorPays: a seed of 10 videos may cost 0.0002 USD, which the host takes
// before the call; what an outcome did not cost can be spent again.
func TestWhatAPluginOfAnotherAuthorPays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget   string
		seeds    []stage.Seed
		statuses string
		used     int64
		failed   stage.Failure
	}{
		"the price of what came":                {"0.01", terms("3 of it"), "ok", 130, ""},
		"what the outcome says":                 {"0.01", terms("3 of it at 7", "0 of it at 0"), "ok ok", 7, ""},
		"no outcome costs what was held":        {"0.01", terms("silent", "3 of it"), "ok", 330, ""},
		"more than the price is refused":        {"0.01", terms("3 of it at 201"), "", 200, stage.StageProtocol},
		"a call that breaks off costs it all":   {"0.01", terms("3 of it", "fail", "3 of that"), "", 530, stage.SourceUnavailable},
		"a budget that is used up":              {"0.01", terms(slices.Repeat([]string{"10 of it"}, 60)...), strings.Repeat("ok ", 50) + strings.TrimSpace(strings.Repeat("quota ", 10)), 10_000, ""},
		"what came back covers more":            {"0.01", terms(slices.Repeat([]string{"0 of it at 100"}, 60)...), strings.TrimSpace(strings.Repeat("ok ", 60)), 6_000, ""},
		"a limit that the budget never covers":  {"0.01", []stage.Seed{{Kind: "niche", Platform: "tiktok", Term: "1 of it", Limit: 2000}}, "quota", 0, ""},
		"a seed without a limit is thought one": {"0.01", []stage.Seed{{Kind: "niche", Term: "1 of it"}}, "ok", 110, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, used := tolled(t, storetest.SQLite(t), c.budget)
			outcomes, err := h.Collect(viewer.As(t.Context(), 1), toll, stage.Run{Number: 1}, c.seeds, func([]stage.Record) error { return nil })
			var statuses []string
			for _, o := range outcomes {
				statuses = append(statuses, string(o.Status))
			}
			if got := strings.Join(statuses, " "); got != c.statuses && c.failed == "" {
				t.Errorf("outcomes %q, want %q", got, c.statuses)
			}
			if got := failureOf(err); got != c.failed {
				t.Errorf("failed %q (%v), want %q", got, err, c.failed)
			}
			if got := used(); got != c.used {
				t.Errorf("%d in the ledger, want %d", got, c.used)
			}
		})
	}
}

func failureOf(err error) stage.Failure {
	if failed, is := err.(*stage.CallError); is {
		return failed.Failure
	}
	return ""
}

// TestVideosReadAgainAreCounted as seeds of one video.
func TestVideosReadAgainAreCounted(t *testing.T) {
	t.Parallel()
	h, used := tolled(t, storetest.SQLite(t), "0.01")
	var refs []stage.Ref
	for n := range 95 {
		refs = append(refs, stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprint(n)})
	}
	outcomes, err := h.Refresh(viewer.As(t.Context(), 1), toll, stage.Run{Number: 1}, refs, func([]stage.Record) error { return nil })
	if err != nil || len(outcomes) != 95 || outcomes[89].Status != stage.OK || outcomes[90].Status != stage.Quota || outcomes[90].Seed != "90" || used() != 9_900 {
		t.Errorf("%d outcomes, error %v, %d used: %+v; want 90 of 95 videos for 9,900", len(outcomes), err, used(), outcomes)
	}
}

// TestRacingCallsOfOthersNeverOverspend: 1,000 calls of many accounts and processes race for a budget
// that serves a part of them, and the ledger has what the outcomes cost.
func TestRacingCallsOfOthersNeverOverspend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const scrolls, each, budget = 25, 40, 40_000
		h, used := tolled(t, db, "0.04")
		var all sync.WaitGroup
		var spent, served, refused atomic.Int64
		for n := range int64(scrolls) {
			all.Go(func() {
				session := h.Session()
				defer session.Close()
				ctx := viewer.As(context.Background(), n%10+1)
				for call := range each {
					outcomes, err := session.Collect(ctx, toll, stage.Run{Number: 1}, terms(fmt.Sprintf("%d of %d", call%5, n)), func([]stage.Record) error { return nil })
					if err != nil || len(outcomes) != 1 {
						t.Errorf("%+v, error %v; want an outcome", outcomes, err)
						return
					}
					if outcomes[0].Status == stage.Quota {
						refused.Add(1)
						continue
					}
					served.Add(1)
					spent.Add(100 + 10*int64(outcomes[0].Returned))
				}
			})
		}
		all.Wait()
		if used() != spent.Load() || spent.Load() > budget {
			t.Errorf("%d in the ledger, %d spent; want the same, at most %d", used(), spent.Load(), budget)
		}
		if served.Load() < budget/200 || refused.Load() == 0 || served.Load()+refused.Load() != scrolls*each {
			t.Errorf("%d served, %d refused; want all of %d, and some of both", served.Load(), refused.Load(), scrolls*each)
		}
	})
}

// TestACancelledCallCostsWhatItMayHaveSpent: nothing if the source was not asked for anything yet, and
// all that was held if it was.
func TestACancelledCallCostsWhatItMayHaveSpent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, used := tolled(t, db, "1")
		collect := func(ctx context.Context, session *host.Session, seeds []stage.Seed, emit func([]stage.Record) error) error {
			_, err := session.Collect(ctx, toll, stage.Run{Number: 1}, seeds, emit)
			return err
		}
		var all sync.WaitGroup
		for n := range int64(8) {
			all.Go(func() {
				session, tenant := h.Session(), viewer.As(context.Background(), n+1)
				defer session.Close()
				for call := range 12 {
					if call == 6 { // from here on the session has a process
						if err := collect(tenant, session, terms("0 of it at 0"), func([]stage.Record) error { return nil }); err != nil {
							t.Error(err)
						}
					}
					ctx, cancel := context.WithCancel(tenant)
					ctx = context.WithValue(ctx, cutKey{}, cancel)
					err := collect(ctx, session, terms("3 of it", "3 of that")[:1+call%2], func([]stage.Record) error { return nil })
					if !errors.Is(err, context.Canceled) {
						t.Errorf("call %d: error %v, want that it was cancelled", call, err)
					}
				}
			})
		}
		all.Wait()
		if got := used(); got != 0 {
			t.Errorf("%d in the ledger of calls that never began, want 0", got)
		}
		for n := range int64(8) {
			all.Go(func() {
				ctx, cancel := context.WithCancel(viewer.As(context.Background(), n+1))
				session := h.Session()
				defer session.Close()
				err := collect(ctx, session, terms("wait"), func([]stage.Record) error {
					cancel()
					return nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want that it was cancelled", err)
				}
			})
		}
		all.Wait()
		if got := used(); got != 8*200 {
			t.Errorf("%d in the ledger of 8 calls that were cancelled as they worked, want what was held for them, 1600", got)
		}
	})
}

// TestAPriceIsShown where the operator looks.
func TestAPriceIsShown(t *testing.T) {
	t.Parallel()
	h, _ := tolled(t, storetest.SQLite(t), "0.04")
	plugin, _ := h.Find(toll)
	if plugin.Docs != "https://toll.example.com/docs" {
		t.Errorf("docs %q, want the plugin's page", plugin.Docs)
	}
	quotas, _ := json.Marshal(h.QuotasOf(toll, nil))
	if want := `"Limit":40000,"Setting":"budget","Window":"utc_day","Cost":{"Handle":600,"Term":600},"Money":true`; !strings.Contains(string(quotas), want) {
		t.Errorf("%s, want %s", quotas, want)
	}
}
