package usage

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// BenchmarkHot compares the statements of hot.go with the same rows by Ent, a
// group at a time. Both commit to the disk.
func BenchmarkHot(b *testing.B) {
	for dialect, open := range map[string]func(testing.TB) *store.DB{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for _, size := range []int{1, 64} {
			events := make([]event, size)
			for i := range events {
				events[i] = event{accountID: int64(i%8 + 1), keyID: int64(i + 1), op: "getHooks", status: "ok", units: 1, at: time.Now()}
			}
			add := rows.insert
			if dialect == "sqlite" {
				add = rows.addNew
			}
			for way, write := range map[string]func(rows, context.Context, []event) error{"hot": add, "ent": rows.addByEnt} {
				b.Run(fmt.Sprintf("%s/%d/%s", dialect, size, way), func(b *testing.B) {
					r := newRows(open(b), NewPending())
					for b.Loop() {
						if err := write(r, b.Context(), events); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func (r rows) addNew(ctx context.Context, events []event) error {
	for i := range events {
		events[i].id = r.db.NewID()
	}
	return r.add(ctx, events)
}

func (r rows) addByEnt(ctx context.Context, events []event) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		creates := make([]*ent.UsageEventCreate, len(events))
		for i, e := range events {
			creates[i] = tx.Ent().UsageEvent.Create().SetID(r.db.NewID()).SetAccountID(e.accountID).SetKeyID(e.keyID).
				SetOp(e.op).SetStatus(e.status).SetCostCents(0).SetTs(e.at.UnixMilli())
		}
		if err := tx.Ent().UsageEvent.CreateBulk(creates...).Exec(ctx); err != nil {
			return err
		}
		for _, account := range events[:min(len(events), 8)] {
			if err := r.charge(ctx, tx, account.accountID, int64(max(1, len(events)/8)), account.at); err != nil {
				return err
			}
		}
		return nil
	})
}
