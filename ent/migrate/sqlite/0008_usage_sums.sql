-- +goose Up
-- add column "count" to table: "usage_events"
ALTER TABLE `usage_events` ADD COLUMN `count` integer NULL;
