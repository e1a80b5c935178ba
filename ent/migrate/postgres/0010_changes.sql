-- +goose Up
-- create "feeds" table
CREATE TABLE "feeds" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "seq" bigint NOT NULL, "floor" bigint NOT NULL DEFAULT 0, "trim_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "feed_account_id" to table: "feeds"
CREATE UNIQUE INDEX "feed_account_id" ON "feeds" ("account_id");
-- create index "feed_trim_at" to table: "feeds"
CREATE INDEX "feed_trim_at" ON "feeds" ("trim_at");
-- create "webhooks" table
CREATE TABLE "webhooks" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "url" text NOT NULL, "types" text NOT NULL, "secret" bytea NOT NULL, "prior_secret" bytea NULL, "prior_until" bigint NOT NULL DEFAULT 0, "status" text NOT NULL, "cursor" bigint NOT NULL, "failures" bigint NOT NULL DEFAULT 0, "next_at" bigint NOT NULL, "turn" bigint NOT NULL DEFAULT 0, "lease_until" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "webhook_account_id_id" to table: "webhooks"
CREATE INDEX "webhook_account_id_id" ON "webhooks" ("account_id", "id");
-- create index "webhook_status_next_at" to table: "webhooks"
CREATE INDEX "webhook_status_next_at" ON "webhooks" ("status", "next_at");
-- create "webhook_deliveries" table
CREATE TABLE "webhook_deliveries" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "webhook_id" bigint NOT NULL, "message_id" text NOT NULL, "kind" text NOT NULL, "attempt" bigint NOT NULL, "outcome" text NOT NULL, "status_code" bigint NOT NULL DEFAULT 0, "took" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "webhookdelivery_account_id_webhook_id_id" to table: "webhook_deliveries"
CREATE INDEX "webhookdelivery_account_id_webhook_id_id" ON "webhook_deliveries" ("account_id", "webhook_id", "id");
-- create "changes" table: the entries of feeds. It is no Ent table, as its key is the account and the number, and it has no other index.
CREATE TABLE "changes" ("account_id" bigint NOT NULL, "seq" bigint NOT NULL, "at" bigint NOT NULL, "kind" text NOT NULL, "video_id" bigint NULL, "scroll_id" bigint NULL, "subject_id" bigint NULL, "word" text NULL, "was" double precision NULL, "became" double precision NULL, PRIMARY KEY ("account_id", "seq"));
