package admission

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The numbers of the counters of every moment.
const day, month = 20260310, 20260300

// theKey is the text of the key that setup stores; badText cannot be a key.
const theKey, badText = "the key", ""

// keys is the need of keys, without sessions.
type keys struct{}

func (keys) Digest(text string) (hash []byte, session, ok bool) {
	sum := sha256.Sum256([]byte(text))
	return sum[:], false, text != badText
}

func (keys) Check(key Key, at time.Time) error {
	if !key.Found || key.RevokedAt != nil || key.ExpiresAt != nil && *key.ExpiresAt <= at.UnixMilli() {
		return apierr.New(apierr.Unauthorized, "no")
	}
	return nil
}

// plans is the need of plans.
type plans struct{}

func (plans) Budget(plan, _ string) (daily, monthly int64) {
	if plan == "pro" {
		return 100, 1000
	}
	return 10, 100
}

// counts is the need of usage.
type counts struct {
	unstored, wait int64 // units, milliseconds
	asked          int   // how often Wait was
}

func (c *counts) Counters(time.Time) (int, int)            { return day, month }
func (c *counts) Unstored(int64, time.Time) (int64, int64) { return c.unstored, c.unstored }
func (c *counts) Wait(context.Context, int64, int64) (time.Duration, error) {
	c.asked++
	return time.Duration(c.wait) * time.Millisecond, nil
}

type bundle struct {
	*Service
	db      *store.DB
	usage   *counts
	account int64
}

// setup is admission on a database in which account has the key theKey, a subscription,
// counters of 7 units, a workspace and a library of revision 3. With account 0 they are
// stored first.
func setup(t testing.TB, db *store.DB, account int64) *bundle {
	t.Helper()
	usage := &counts{}
	service, err := New(db, keys{}, plans{}, usage)
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{Service: service, db: db, usage: usage, account: account}
	if account != 0 {
		return b
	}
	b.account = db.NewID()
	hash, _, _ := keys{}.Digest(theKey)
	err = db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		client, at := tx.Ent(), time.Now().UnixMilli()
		client.Account.Create().SetID(b.account).SetCreatedAt(at).ExecX(ctx)
		client.Key.Create().SetID(db.NewID()).SetAccountID(b.account).SetHash(hash).SetScopes("library:read rules:read").SetHint("DEFG").SetCreatedAt(at).ExecX(ctx)
		client.Subscription.Create().SetID(db.NewID()).SetAccountID(b.account).SetPlan("pro").SetInterval("annual").SetStatus("active").SetCreatedAt(at).SetUpdatedAt(at).ExecX(ctx)
		for _, number := range []int{day, month} {
			client.UsageCounter.Create().SetID(db.NewID()).SetAccountID(b.account).SetDay(number).SetUnits(7).ExecX(ctx)
		}
		client.Workspace.Create().SetID(db.NewID()).SetAccountID(b.account).SetCompetitors("[]").SetCanonicalID("website:example.com").
			SetCreatedAt(at).SetUpdatedAt(at).ExecX(ctx)
		client.Library.Create().SetID(db.NewID()).SetAccountID(b.account).SetRevision(3).ExecX(ctx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// both runs a test with two processes on each database.
func both(t *testing.T, test func(t *testing.T, here, there *bundle)) {
	t.Helper()
	for name, config := range map[string]func(testing.TB) store.Config{"sqlite": storetest.SQLiteConfig, "postgres": storetest.PostgresConfig} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			here := setup(t, storetest.Open(t, cfg), 0)
			test(t, here, setup(t, storetest.Open(t, cfg), here.account))
		})
	}
}
