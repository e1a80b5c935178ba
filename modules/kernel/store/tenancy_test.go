package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode"

	entschema "entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/migrate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// withoutTenantRule are the entities that the rule does not scope, each with the
// reason. A new entity that is not here must have the mixin.
func withoutTenantRule() map[string]string {
	return map[string]string{
		"Account":       "is the tenant itself; read at admission and recovery only, before anybody is known",
		"Authorization": "begins before it is known who signs in; found by the hash of its secret",
		"Checkout":      "begins before there is an account; found by the hash of its claim token",
		"Code":          "is asked for by a visitor who has lost the key; found by address",
		"Job":           "belongs to the queue, which works for all",
		"Erasure":       "is the operator's, and names a creator by a hash; what it deletes is deleted as each tenant",
		"Suppression":   "is a hash that keeps an erased creator out of the libraries of all tenants; only whether it is there is asked",
		"PaymentEvent":  "is a provider's event, which nobody owns; only whether it was seen is ever asked",
		"QuotaEntry":    "is what the operator may ask of a site; only sums of all tenants are ever read",
		"RemovalFile":   "is how far the database knows the log of removals, which is of all tenants",
		"RemovalLine":   "is a line for the log of removals, which names accounts by hashes; only the log reads it",
		"SourcePage":    "is a public page of a site; it says nothing of who asked for it",
		"UsageEvent":    "may belong to nobody, for a public call; read by the id of a key",
	}
}

const tenantA, tenantB = int64(101), int64(202)

// TestTenancy walks every entity of the client: another tenant finds its rows
// nowhere, whatever is tried.
func TestTenancy(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		allowed, seen := withoutTenantRule(), 0
		clients := reflect.ValueOf(db.Ent()).Elem()
		for i := range clients.NumField() {
			name := clients.Type().Field(i).Name
			client := clients.Field(i)
			if !client.CanInterface() || !hasMethod(client, "Query") {
				continue // the schema, the embedded configuration
			}
			seen++
			if _, ok := allowed[name]; ok {
				delete(allowed, name)
				continue
			}
			t.Run(name, func(t *testing.T) { tenantPrivate(t, db, client) })
		}
		if seen != len(migrate.Tables) {
			t.Errorf("got %d entities, want one for each of %d tables", seen, len(migrate.Tables))
		}
		for name := range allowed {
			t.Errorf("%s is exempt, want only what exists", name)
		}
	})
}

func tenantPrivate(t *testing.T, db *store.DB, client reflect.Value) {
	a, b := viewer.As(t.Context(), tenantA), viewer.As(t.Context(), tenantB)
	id := db.NewID()
	table := tableOf(t, client)
	if err := create(a, client, table, id, tenantA); err != nil {
		t.Fatalf("create: %v", err)
	}
	if err := create(b, client, table, db.NewID(), tenantA); err == nil {
		t.Error("another tenant creates a row for this one, want an error")
	}
	count := func(ctx context.Context) int {
		n, err := call(call1(client, "Query"), "Count", ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n.Interface().(int)
	}
	if n := count(a); n != 1 {
		t.Fatalf("the owner counts %d rows, want 1", n)
	}

	if n := count(b); n != 0 {
		t.Errorf("another tenant counts %d rows, want 0", n)
	}
	if rows, err := call(call1(client, "Query"), "All", b); err != nil || rows.Len() != 0 {
		t.Errorf("another tenant reads: got %v, error %v; want no row", rows, err)
	}
	if ids, err := call(call1(client, "Query"), "IDs", b); err != nil || ids.Len() != 0 {
		t.Errorf("another tenant lists: got ids %v, error %v; want none", ids, err)
	}
	if found, err := call(call1(client, "Query"), "Exist", b); err != nil || found.Bool() {
		t.Errorf("another tenant asks whether the row exists: got %v, %v, want false", found, err)
	}
	if row, err := call(client, "Get", b, id); !ent.IsNotFound(err) {
		t.Errorf("another tenant: got %v, %v, want not found", row, err)
	}
	if changed, err := call(touched(call1(client, "Update"), table), "Save", b); err != nil || changed.Int() != 0 {
		t.Errorf("another tenant updates: got %v rows, error %v; want none", changed, err)
	}
	if row, err := call(touched(call1(client, "UpdateOneID", id), table), "Save", b); err == nil {
		t.Errorf("another tenant updates the row: %v, want an error", row)
	}
	if row, err := call(call1(client, "UpdateOneID", id), "Save", b); err == nil {
		t.Errorf("another tenant reads the row by changing nothing: %v, want an error", row)
	}
	if gone, err := call(call1(client, "Delete"), "Exec", b); err != nil || gone.Int() != 0 {
		t.Errorf("another tenant deletes: got %v rows, error %v; want none", gone, err)
	}
	if err := callErr(call1(client, "DeleteOneID", id), "Exec", b); !ent.IsNotFound(err) {
		t.Errorf("another tenant deletes the row: got %v, want not found", err)
	}
	if n := count(a); n != 1 {
		t.Errorf("the owner counts %d rows afterwards, want 1", n)
	}

	nobody := t.Context()
	if _, err := call(call1(client, "Query"), "Count", nobody); err == nil {
		t.Error("nobody counts, want an error")
	}
	if _, err := call(call1(client, "Delete"), "Exec", nobody); err == nil {
		t.Error("nobody deletes, want an error")
	}
	if err := create(nobody, client, table, db.NewID(), tenantA); err == nil {
		t.Error("nobody creates, want an error")
	}
	if n := count(viewer.System(t.Context())); n != 1 {
		t.Errorf("the system counts %d rows, want 1", n)
	}
}

// create makes a row with a value in every column that must have one.
func create(ctx context.Context, client reflect.Value, table *entschema.Table, id, account int64) error {
	builder := call1(client, "Create")
	mutation := call1(builder, "Mutation").Interface().(ent.Mutation)
	for _, column := range table.Columns {
		switch {
		case column.Name == "id":
			call1(builder, "SetID", id)
		case column.Name == "account_id":
			if err := mutation.SetField(column.Name, account); err != nil {
				return err
			}
		case !column.Nullable && column.Default == nil:
			if err := mutation.SetField(column.Name, anyValue(column.Type)); err != nil {
				return err
			}
		}
	}
	return callErr(builder, "Exec", ctx)
}

// touched sets one column that may change, if there is one.
func touched(builder reflect.Value, table *entschema.Table) reflect.Value {
	for _, column := range table.Columns {
		if setter := "Set" + pascal(column.Name); column.Name != "account_id" && hasMethod(builder, setter) {
			mutation := call1(builder, "Mutation").Interface().(ent.Mutation)
			if mutation.SetField(column.Name, anyValue(column.Type)) == nil {
				return builder
			}
		}
	}
	return builder
}

func anyValue(kind field.Type) any {
	switch kind {
	case field.TypeInt:
		return 1
	case field.TypeInt64:
		return int64(1)
	case field.TypeFloat64:
		return 1.0
	case field.TypeBool:
		return true
	case field.TypeBytes:
		return []byte{1}
	default:
		return "x"
	}
}

// tableOf finds the entity's table: its name in snake case and the plural.
func tableOf(t *testing.T, client reflect.Value) *entschema.Table {
	t.Helper()
	var snake strings.Builder
	for i, letter := range strings.TrimSuffix(client.Type().Elem().Name(), "Client") {
		if i > 0 && unicode.IsUpper(letter) {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(letter))
	}
	for _, table := range migrate.Tables {
		// An entity cannot be named import, which is a word of Go.
		if name := strings.TrimPrefix(snake.String(), "file_"); table.Name == name+"s" || table.Name == strings.TrimSuffix(name, "y")+"ies" {
			return table
		}
	}
	t.Fatalf("got no table for %s, want one", snake.String())
	return nil
}

func pascal(name string) string {
	var out strings.Builder
	for _, word := range strings.Split(name, "_") {
		switch word {
		case "id", "url", "json", "api":
			out.WriteString(strings.ToUpper(word))
		default:
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}

func hasMethod(value reflect.Value, name string) bool { return value.MethodByName(name).IsValid() }

// call calls a method with one result and an error; call1 one with a result only;
// callErr one with an error only.
func call(value reflect.Value, name string, args ...any) (reflect.Value, error) {
	out := value.MethodByName(name).Call(values(args))
	err, _ := out[1].Interface().(error)
	return out[0], err
}

func call1(value reflect.Value, name string, args ...any) reflect.Value {
	return value.MethodByName(name).Call(values(args))[0]
}

func callErr(value reflect.Value, name string, args ...any) error {
	err, _ := call1(value, name, args...).Interface().(error)
	return err
}

func values(args []any) []reflect.Value {
	out := make([]reflect.Value, len(args))
	for i, arg := range args {
		out[i] = reflect.ValueOf(arg)
	}
	return out
}
