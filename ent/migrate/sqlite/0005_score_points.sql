-- +goose Up
-- create "score_points" table
CREATE TABLE `score_points` (`id` integer NOT NULL, `account_id` integer NOT NULL, `scroll_id` integer NOT NULL, `video_id` integer NOT NULL, `method` text NOT NULL, `growth_kind` text NOT NULL, `posted_at` integer NULL, `observed_at` integer NOT NULL, `views` integer NOT NULL, `twice_baseline` integer NOT NULL, `sample_count` integer NOT NULL, `peers` integer NOT NULL, `by_niche` integer NOT NULL, `doubtful` integer NOT NULL, `listed` integer NOT NULL, `flag` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- create index "scorepoint_account_id_scroll_id_video_id" to table: "score_points"
CREATE UNIQUE INDEX `scorepoint_account_id_scroll_id_video_id` ON `score_points` (`account_id`, `scroll_id`, `video_id`);
-- create index "scorepoint_account_id_video_id_scroll_id" to table: "score_points"
CREATE INDEX `scorepoint_account_id_video_id_scroll_id` ON `score_points` (`account_id`, `video_id`, `scroll_id`);
