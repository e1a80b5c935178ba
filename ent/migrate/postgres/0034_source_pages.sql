-- +goose Up
-- create "source_pages" table
CREATE TABLE "source_pages" ("id" bigint NOT NULL, "plugin" text NOT NULL, "name" text NOT NULL, "page" bytea NOT NULL, "read_at" bigint NOT NULL, "claimed_until" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "sourcepage_claimed_until_id" to table: "source_pages"
CREATE INDEX "sourcepage_claimed_until_id" ON "source_pages" ("claimed_until", "id");
-- create index "sourcepage_plugin_name" to table: "source_pages"
CREATE UNIQUE INDEX "sourcepage_plugin_name" ON "source_pages" ("plugin", "name");
