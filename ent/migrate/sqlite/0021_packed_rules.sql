-- +goose Up
-- add column "packed" to table: "rulesets"
ALTER TABLE `rulesets` ADD COLUMN `packed` blob NULL;
