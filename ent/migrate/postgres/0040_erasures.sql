-- +goose Up
-- create "erasures" table
CREATE TABLE "erasures" ("id" bigint NOT NULL, "hash" text NOT NULL, "names" bytea NOT NULL, "platform" text NOT NULL, "reason" text NOT NULL, "accounts" bigint NOT NULL DEFAULT 0, "videos" bigint NOT NULL DEFAULT 0, "readings" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "finished_at" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "erasure_hash_finished_at_id" to table: "erasures"
CREATE INDEX "erasure_hash_finished_at_id" ON "erasures" ("hash", "finished_at", "id");
-- create "suppressions" table
CREATE TABLE "suppressions" ("id" bigint NOT NULL, "hash" text NOT NULL, "erasure_id" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "suppression_hash" to table: "suppressions"
CREATE UNIQUE INDEX "suppression_hash" ON "suppressions" ("hash");
