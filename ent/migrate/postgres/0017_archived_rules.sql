-- +goose Up
-- modify "rule_items" table
ALTER TABLE "rule_items" ADD COLUMN "digest" bigint NOT NULL DEFAULT 0;
-- create index "ruleitem_account_id_digest" to table: "rule_items"
CREATE INDEX "ruleitem_account_id_digest" ON "rule_items" ("account_id", "digest");
-- modify "rulesets" table
ALTER TABLE "rulesets" ADD COLUMN "archived_items" bigint NULL;
