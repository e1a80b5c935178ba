-- +goose Up
-- add column "blocked_at" to table: "accounts"
ALTER TABLE `accounts` ADD COLUMN `blocked_at` integer NULL;
