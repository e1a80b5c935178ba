package store_test

import (
	"context"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestStatement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		a, b := viewer.As(t.Context(), tenantA), viewer.As(t.Context(), tenantB)
		id := db.NewID()
		if err := db.Ent().Workspace.Create().SetID(id).SetAccountID(tenantA).SetCompetitors("[]").
			SetCreatedAt(5).SetUpdatedAt(6).Exec(a); err != nil {
			t.Fatal(err)
		}
		ids := func(ctx context.Context, s *store.Statement, args ...any) ([]int64, error) {
			rows, err := s.Query(ctx, args...)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			var out []int64
			for rows.Next() {
				var id int64
				if err := rows.Scan(&id); err != nil {
					return nil, err
				}
				out = append(out, id)
			}
			return out, rows.Err()
		}
		mine := db.Prepare("SELECT id FROM workspaces AS w WHERE w.created_at = $3 AND updated_at = $2 AND w.account_id = $1 LIMIT 10")
		for range 3 {
			if got, err := ids(a, mine, 6, 5); err != nil || len(got) != 1 || got[0] != id {
				t.Fatalf("the owner reads %v, err %v", got, err)
			}
		}
		if got, err := ids(b, mine, 6, 5); err != nil || len(got) != 0 {
			t.Errorf("another tenant reads %v, err %v", got, err)
		}
		if _, err := ids(t.Context(), mine, 6, 5); err == nil {
			t.Error("nobody reads")
		}
		if _, err := ids(viewer.System(t.Context()), mine, 6, 5); err == nil {
			t.Error("the system reads through a tenant's statement")
		}
		for _, query := range []string{
			"SELECT id FROM workspaces WHERE account_id = $10", "SELECT id FROM workspaces WHERE id = $1",
			"SELECT id FROM workspaces WHERE my_account_id = $1",
		} {
			if _, err := ids(a, db.Prepare(query), 1, 2, 3, 4, 5, 6, 7, 8, 9); err == nil {
				t.Errorf("accepted: %s", query)
			}
		}
		if _, err := ids(a, db.Prepare("SELECT nothing FROM workspaces WHERE account_id = $1")); err == nil {
			t.Error("a wrong statement gives no error")
		}
		if got, err := ids(t.Context(), db.PrepareSystem("SELECT id FROM workspaces WHERE created_at = $1"), 5); err != nil || len(got) != 1 {
			t.Errorf("the system's statement reads %v, err %v", got, err)
		}
	})
}
