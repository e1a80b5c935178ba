-- +goose Up
-- create "rates" table: what processes share of request rates. It is no Ent table, as
-- SQLite has one process. Losing it in a crash only fills all allowances.
CREATE UNLOGGED TABLE "rates" ("id" text NOT NULL, "spent_until" bigint NOT NULL DEFAULT 0, "times" bigint[] NOT NULL DEFAULT '{}', "granted" integer NOT NULL, PRIMARY KEY ("id"));
-- create index "rates_spent_until" to table: "rates"
CREATE INDEX "rates_spent_until" ON "rates" ("spent_until");
