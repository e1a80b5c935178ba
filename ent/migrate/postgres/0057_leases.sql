-- +goose Up
-- What processes hold; by hand, as it is of no Ent type. An earlier version made node_numbers
-- beside its migrations.
CREATE TABLE IF NOT EXISTS "node_numbers" ("number" integer PRIMARY KEY, "used_until" bigint NOT NULL);
CREATE TABLE "leases" ("name" text PRIMARY KEY, "holder" text NOT NULL, "until" timestamptz NOT NULL);
