package main

import (
	"slices"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"

	"github.com/scrollery/scrollery/ent/migrate"
)

// wholeTables are those of tenants that are not divided by account on PostgreSQL.
var wholeTables = []string{
	migrate.KeysTable.Name,          // a key is looked up before its account is known
	migrate.CreditEntriesTable.Name, // a payment counts once, for one account
	migrate.QuotaEntriesTable.Name,  // what a site allows is spent by all accounts together
}

// tablesOf are the tables of the schema as a database has them. On PostgreSQL the account is in
// the primary key of each tenant's table: what divides tables by account, native partitions or
// Citus, asks for it in every unique key. SQLite keeps id alone, which is the number of its row.
//
// The id comes first, but where an index of the account and the id was there anyway, for pages
// in the order of ids: the key is that index then, and the only one that pages can be read by.
// Elsewhere a primary key that begins with the account would serve every condition on the
// account; the planner, which takes an account that is newer than its statistics for an empty
// one, chose it in place of the index that was meant, and read all rows of the account for each.
func tablesOf(name string) []*schema.Table {
	if name != dialect.Postgres {
		return migrate.Tables
	}
	tables := slices.Clone(migrate.Tables)
	for i, table := range tables {
		at := slices.IndexFunc(table.Columns, func(c *schema.Column) bool { return c.Name == "account_id" && !c.Nullable })
		if at < 0 || slices.Contains(wholeTables, table.Name) {
			continue
		}
		divided, account := *table, table.Columns[at]
		byID := func(index *schema.Index) bool {
			return slices.Equal(index.Columns, append([]*schema.Column{account}, table.PrimaryKey...))
		}
		if slices.ContainsFunc(table.Indexes, byID) {
			divided.PrimaryKey = append([]*schema.Column{account}, table.PrimaryKey...)
			divided.Indexes = slices.DeleteFunc(slices.Clone(table.Indexes), byID)
		} else {
			divided.PrimaryKey = append(slices.Clone(table.PrimaryKey), account)
		}
		tables[i] = &divided
	}
	return tables
}
