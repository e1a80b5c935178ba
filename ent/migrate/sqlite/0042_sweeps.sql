-- +goose Up
-- modify "libraries" table
ALTER TABLE `libraries` ADD COLUMN `swept` text NOT NULL DEFAULT ('');
-- create index "observation_account_id_stage_observed_at_video_id" to table: "observations"
CREATE INDEX `observation_account_id_stage_observed_at_video_id` ON `observations` (`account_id`, `stage`, `observed_at`, `video_id`);
