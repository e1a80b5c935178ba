-- +goose Up
-- create "frames" table
CREATE TABLE `frames` (`id` integer NOT NULL, `account_id` integer NOT NULL, `video_id` integer NOT NULL, `place` integer NOT NULL, `at` integer NOT NULL, `webp` blob NOT NULL, PRIMARY KEY (`id`));
-- create index "frame_account_id_id" to table: "frames"
CREATE INDEX `frame_account_id_id` ON `frames` (`account_id`, `id`);
-- create index "frame_account_id_video_id_place" to table: "frames"
CREATE UNIQUE INDEX `frame_account_id_video_id_place` ON `frames` (`account_id`, `video_id`, `place`);
-- create index "frame_account_id_place_id" to table: "frames"
CREATE INDEX `frame_account_id_place_id` ON `frames` (`account_id`, `place`, `id`);
