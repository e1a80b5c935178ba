package schema

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	gen "github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/intercept"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// errNoTenant is the error of a query without a viewer.
var errNoTenant = errors.New("no viewer in the context: tenant data needs one")

// Tenant makes an entity tenant-private. It is the one rule that scopes every
// query and every change: rows of other accounts are not visible to the viewer.
type Tenant struct{ mixin.Schema }

// Fields of every tenant-private entity.
func (Tenant) Fields() []ent.Field {
	return []ent.Field{
		assignedID(),
		field.Int64("account_id").Immutable(),
	}
}

// owned is the tenant's predicate. For rows named by id it is one that no index serves, see viewer.ByIDs.
func owned(ctx context.Context, account int64) func(*sql.Selector) {
	if !viewer.IsByIDs(ctx) {
		return sql.FieldEQ("account_id", account)
	}
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) { b.WriteString("+" + s.C("account_id") + " = ").Arg(account) }))
	}
}

// Interceptors add the tenant's predicate to every query.
func (Tenant) Interceptors() []ent.Interceptor {
	return []ent.Interceptor{
		intercept.TraverseFunc(func(ctx context.Context, query intercept.Query) error {
			account, all, ok := viewer.Tenant(ctx)
			if !ok {
				return errNoTenant
			}
			if !all {
				query.WhereP(owned(ctx, account))
			}
			return nil
		}),
	}
}

// Hooks add the tenant's predicate to every change, and refuse rows for others.
func (Tenant) Hooks() []ent.Hook {
	type scoped interface {
		ent.Mutation
		Client() *gen.Client
		AccountID() (int64, bool)
		WhereP(...func(*sql.Selector))
	}
	return []ent.Hook{
		func(next ent.Mutator) ent.Mutator {
			return ent.MutateFunc(func(ctx context.Context, mutation ent.Mutation) (ent.Value, error) {
				account, all, ok := viewer.Tenant(ctx)
				if !ok {
					return nil, errNoTenant
				}
				m, isScoped := mutation.(scoped)
				if !isScoped {
					return nil, fmt.Errorf("%s has no account_id", mutation.Type())
				}
				switch {
				case all:
				case m.Op().Is(ent.OpCreate):
					if owner, set := m.AccountID(); set && owner != account {
						return nil, fmt.Errorf("create %s: the row belongs to another account", m.Type())
					}
				case m.Op().Is(ent.OpUpdateOne) && len(m.Fields())+len(m.AddedFields())+len(m.ClearedFields()) == 0:
					// Ent would only read the row, and by its id alone.
					return nil, fmt.Errorf("update %s: nothing to change", m.Type())
				default:
					m.WhereP(owned(ctx, account))
				}
				return next.Mutate(ctx, mutation)
			})
		},
	}
}
