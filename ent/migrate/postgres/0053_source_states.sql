-- +goose Up
-- create "source_states" table
CREATE TABLE "source_states" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "plugin" text NOT NULL, "seed" text NOT NULL, "scroll_id" bigint NOT NULL, "state" bytea NOT NULL, "kept_at" bigint NOT NULL, PRIMARY KEY ("id", "account_id"));
-- create index "sourcestate_account_id_plugin_scroll_id_kept_at_id" to table: "source_states"
CREATE INDEX "sourcestate_account_id_plugin_scroll_id_kept_at_id" ON "source_states" ("account_id", "plugin", "scroll_id", "kept_at", "id");
-- create index "sourcestate_account_id_plugin_seed_scroll_id" to table: "source_states"
CREATE UNIQUE INDEX "sourcestate_account_id_plugin_seed_scroll_id" ON "source_states" ("account_id", "plugin", "seed", "scroll_id");
-- create index "sourcestate_account_id_scroll_id_id" to table: "source_states"
CREATE INDEX "sourcestate_account_id_scroll_id_id" ON "source_states" ("account_id", "scroll_id", "id");
