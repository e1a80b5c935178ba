-- +goose Up
-- add column "digest" to table: "rule_items"
ALTER TABLE `rule_items` ADD COLUMN `digest` integer NOT NULL DEFAULT 0;
-- create index "ruleitem_account_id_digest" to table: "rule_items"
CREATE INDEX `ruleitem_account_id_digest` ON `rule_items` (`account_id`, `digest`);
-- add column "archived_items" to table: "rulesets"
ALTER TABLE `rulesets` ADD COLUMN `archived_items` integer NULL;
