package oauth

import (
	"context"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestOldAuthorizationsAreRemoved: with them goes the address of who began one.
func TestOldAuthorizationsAreRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		kept, now := rows{db}, time.Now()
		for _, began := range []time.Duration{0, formTTL + KeepEnded - time.Minute, formTTL + KeepEnded + time.Minute} {
			err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				return kept.add(ctx, tx, secret.New(), "ana@example.com", request{clientID: "https://example.com/a", scopes: []string{"rules:read"}}, now.Add(-began))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := sweep(t.Context(), kept, now); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Count(t, db, "SELECT count(*) FROM authorizations"); n != 2 {
			t.Errorf("%d authorizations are left, want 2", n)
		}
	})
}
