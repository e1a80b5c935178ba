-- +goose Up
-- add column "repeats" to table: "library_runs"
ALTER TABLE `library_runs` ADD COLUMN `repeats` integer NULL;
