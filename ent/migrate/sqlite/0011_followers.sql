-- +goose Up
-- add column "followers" to table: "creators"
ALTER TABLE `creators` ADD COLUMN `followers` integer NULL;
-- add column "followers_at" to table: "creators"
ALTER TABLE `creators` ADD COLUMN `followers_at` integer NULL;
