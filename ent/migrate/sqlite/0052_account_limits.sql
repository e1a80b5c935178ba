-- +goose Up
-- add column "limits" to table: "subscriptions"
ALTER TABLE `subscriptions` ADD COLUMN `limits` text NULL;
