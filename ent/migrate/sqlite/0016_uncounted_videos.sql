-- +goose Up
-- create "uncounted_videos" table
CREATE TABLE `uncounted_videos` (`id` integer NOT NULL, `account_id` integer NOT NULL, `video_id` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "uncountedvideo_account_id_id" to table: "uncounted_videos"
CREATE INDEX `uncountedvideo_account_id_id` ON `uncounted_videos` (`account_id`, `id`);
