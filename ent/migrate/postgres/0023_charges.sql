-- +goose Up
-- create "charges" table
CREATE TABLE "charges" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "kind" text NOT NULL, "fee" bigint NOT NULL, "runs" bigint NOT NULL DEFAULT 0, "held" bigint NOT NULL DEFAULT 0, "ran" boolean NOT NULL DEFAULT false, "beat_at" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id", "account_id"), CONSTRAINT "charge_held_not_negative" CHECK (held >= 0));
-- create index "charge_beat_at_id" to table: "charges"
CREATE INDEX "charge_beat_at_id" ON "charges" ("beat_at", "id");
-- The open calls move; no older process may begin one meanwhile.
-- +goose StatementBegin
DO $$ BEGIN
LOCK TABLE "sandbox_calls" IN ACCESS EXCLUSIVE MODE;
END $$;
-- +goose StatementEnd
INSERT INTO "charges" ("id", "account_id", "kind", "fee", "runs", "held", "ran", "beat_at", "created_at") SELECT "id", "account_id", 'agent', "fee", "runs", "held", "ran", "beat_at", "created_at" FROM "sandbox_calls";
DROP TABLE "sandbox_calls";
