package billing

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// replace buys another subscription for an account that has one.
func (s *shop) replace(t testing.TB, name string) (session string) {
	t.Helper()
	account, _ := publicid.Parse(publicid.Account, name)
	owner := viewer.NewContext(context.Background(), &viewer.Viewer{AccountID: account, KeyID: 1, Scopes: viewer.AllScopes()})
	url, token, err := s.Subscribe(owner, "standard", Annual)
	if err != nil {
		t.Fatal(err)
	}
	session = stripetest.SessionOf(url)
	s.Pay(session, "Another@Example.com")
	if claim, err := s.ClaimSubscription(context.Background(), token); err != nil || claim.AccountID != name {
		t.Fatalf("got %+v, error %v; want account %v", claim, err, name)
	}
	return session
}

// work runs the module's jobs until one has run.
func work(t testing.TB, db *store.DB, s *Service) {
	t.Helper()
	worker, ran := Ender(s), make(chan struct{}, 8)
	end := worker.Work
	worker.Work = func(ctx context.Context, args json.RawMessage) error {
		defer func() { ran <- struct{}{} }()
		return end(ctx, args)
	}
	queue, err := jobs.NewQueue(db, []jobs.Worker{worker}, nil, storetest.Log(t))
	if err == nil {
		err = queue.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ran:
	case <-time.After(2 * time.Minute):
		t.Error("got no run of the job within 2 min, want one")
	}
	if err := queue.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// A process without the Stripe key leaves the end of a replaced subscription to
// one that has it, and the job is not given up while a wrong key is set right.
func TestAReplacedSubscriptionIsEndedAfterAll(t *testing.T) {
	t.Parallel()
	const (
		table = "jobs WHERE kind = 'billing.end' AND attempt = 0 AND lease_until = 0 AND run_at > $1"
		river = "river_job WHERE kind = 'billing.end' AND attempt = 0 AND state = 'scheduled' AND scheduled_at > to_timestamp($1::bigint / 1000)"
	)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		old, account, _ := s.subscription(t)
		current := s.Text(s.replace(t, account), "subscription")
		all, waiting := "jobs", table
		hasten := "UPDATE jobs SET run_at = 0"
		if db.Dialect() == "postgres" {
			all, waiting = "river_job", river
			hasten = "UPDATE river_job SET state = 'available', scheduled_at = now()"
		}
		want := int64(jobs.AttemptsOver(endWithin))
		if most := storetest.Count(t, db, "SELECT max_attempts FROM "+all); most != want || endWithin < 24*time.Hour {
			t.Errorf("%d attempts, want %d over %v", most, want, endWithin)
		}
		for range 3 {
			work(t, db, setup(t, db).Service) // without a key
			if n := storetest.Count(t, db, "SELECT count(*) FROM "+waiting, time.Now().Add(keyWait/2).UnixMilli()); n != 1 {
				t.Fatalf("without a key, the job does not wait for one: got %v, want 1", n)
			}
			err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Exec(ctx, hasten)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		work(t, db, s.Service)
		if was, is := s.Text(old, "status"), s.Text(current, "status"); was != "canceled" || is != "active" {
			t.Errorf(`the old subscription is %s, the new one %s, want was "canceled" and is "active"`, was, is)
		}
	})
}
