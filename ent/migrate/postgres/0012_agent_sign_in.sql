-- +goose Up
-- modify "codes" table
ALTER TABLE "codes" ADD COLUMN "purpose" text NULL;
-- create "authorizations" table
CREATE TABLE "authorizations" ("id" bigint NOT NULL, "secret_hash" bytea NOT NULL, "step" text NOT NULL, "email" text NOT NULL, "client_id" text NOT NULL, "redirect_uri" text NOT NULL, "state" text NOT NULL, "scopes" text NOT NULL, "challenge" text NOT NULL, "resource" text NOT NULL, "account_id" bigint NULL, "parent_id" bigint NULL, "key_id" bigint NULL, "created_at" bigint NOT NULL, "verified_at" bigint NULL, "expires_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "authorization_account_id_id" to table: "authorizations"
CREATE INDEX "authorization_account_id_id" ON "authorizations" ("account_id", "id");
-- create index "authorization_expires_at" to table: "authorizations"
CREATE INDEX "authorization_expires_at" ON "authorizations" ("expires_at");
-- create index "authorization_secret_hash" to table: "authorizations"
CREATE UNIQUE INDEX "authorization_secret_hash" ON "authorizations" ("secret_hash");
