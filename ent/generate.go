// Package ent is the generated data access of every room; only ent/schema is
// written by hand.
package ent

//go:generate go tool ent generate --template file=schema/template/client.tmpl --feature intercept,schema/snapshot,sql/upsert,sql/versioned-migration ./schema
