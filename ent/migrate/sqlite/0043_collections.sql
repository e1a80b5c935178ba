-- +goose Up
-- create "collections" table
CREATE TABLE `collections` (`id` integer NOT NULL, `account_id` integer NOT NULL, `name` text NOT NULL, `note` text NOT NULL DEFAULT (''), `videos` integer NOT NULL DEFAULT (0), `created_at` integer NOT NULL, `updated_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "collection_account_id_id" to table: "collections"
CREATE INDEX `collection_account_id_id` ON `collections` (`account_id`, `id`);
-- create index "collection_account_id_name" to table: "collections"
CREATE UNIQUE INDEX `collection_account_id_name` ON `collections` (`account_id`, `name`);
-- create "collection_videos" table
CREATE TABLE `collection_videos` (`id` integer NOT NULL, `account_id` integer NOT NULL, `collection_id` integer NOT NULL, `video_id` integer NOT NULL, `position` integer NOT NULL, `note` text NOT NULL DEFAULT (''), `added_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "collectionvideo_account_id_id" to table: "collection_videos"
CREATE INDEX `collectionvideo_account_id_id` ON `collection_videos` (`account_id`, `id`);
-- create index "collectionvideo_account_id_collection_id_video_id" to table: "collection_videos"
CREATE UNIQUE INDEX `collectionvideo_account_id_collection_id_video_id` ON `collection_videos` (`account_id`, `collection_id`, `video_id`);
-- create index "collectionvideo_account_id_collection_id_position" to table: "collection_videos"
CREATE INDEX `collectionvideo_account_id_collection_id_position` ON `collection_videos` (`account_id`, `collection_id`, `position`);
-- create index "collectionvideo_account_id_video_id_collection_id" to table: "collection_videos"
CREATE INDEX `collectionvideo_account_id_video_id_collection_id` ON `collection_videos` (`account_id`, `video_id`, `collection_id`);
