package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// addSums writes a row for each sum.
func (r rows) addSums(ctx context.Context, counts map[sumKey]int64, at time.Time) error {
	maps.DeleteFunc(counts, func(_ sumKey, count int64) bool { return count == 0 })
	for keys := range slices.Chunk(slices.Collect(maps.Keys(counts)), 500) {
		err := r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			creates := make([]*ent.UsageEventCreate, len(keys))
			for i, key := range keys {
				creates[i] = tx.Ent().UsageEvent.Create().SetID(r.db.NewID()).SetOp(key.op).SetStatus(key.status).
					SetCostCents(0).SetTs(at.UnixMilli()).SetCount(counts[key])
				if key.accountID != 0 {
					creates[i].SetAccountID(key.accountID).SetKeyID(key.keyID)
				}
			}
			return tx.Ent().UsageEvent.CreateBulk(creates...).Exec(ctx)
		})
		if err != nil {
			return fmt.Errorf("write %d sums: %w", len(keys), err)
		}
	}
	return nil
}
