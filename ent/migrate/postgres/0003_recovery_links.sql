-- +goose Up
-- modify "codes" table
ALTER TABLE "codes" ADD COLUMN "askers" bytea NULL, ADD COLUMN "link_hash" bytea NULL, ADD COLUMN "link_expires_at" bigint NULL;
-- create index "code_link_hash" to table: "codes"
CREATE UNIQUE INDEX "code_link_hash" ON "codes" ("link_hash");
