-- +goose Up
-- create "deleted_videos" table
CREATE TABLE `deleted_videos` (`id` integer NOT NULL, `account_id` integer NOT NULL, `deletion_id` integer NOT NULL, `creator` text NOT NULL, `handle` text NOT NULL, `sealed` blob NOT NULL, PRIMARY KEY (`id`));
-- create index "deletedvideo_account_id_deletion_id_id" to table: "deleted_videos"
CREATE INDEX `deletedvideo_account_id_deletion_id_id` ON `deleted_videos` (`account_id`, `deletion_id`, `id`);
-- create index "deletedvideo_account_id_creator" to table: "deleted_videos"
CREATE INDEX `deletedvideo_account_id_creator` ON `deleted_videos` (`account_id`, `creator`);
-- create index "deletedvideo_account_id_handle" to table: "deleted_videos"
CREATE INDEX `deletedvideo_account_id_handle` ON `deleted_videos` (`account_id`, `handle`);
-- create "deletions" table
CREATE TABLE `deletions` (`id` integer NOT NULL, `account_id` integer NOT NULL, `status` text NOT NULL, `origin` text NOT NULL, `what` text NOT NULL, `target` blob NOT NULL, `videos` integer NOT NULL DEFAULT (0), `readings` integer NOT NULL DEFAULT (0), `undo_until` integer NOT NULL DEFAULT (0), `created_at` integer NOT NULL, `updated_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "deletion_account_id_id" to table: "deletions"
CREATE INDEX `deletion_account_id_id` ON `deletions` (`account_id`, `id`);
-- create index "deletion_status_undo_until_id" to table: "deletions"
CREATE INDEX `deletion_status_undo_until_id` ON `deletions` (`status`, `undo_until`, `id`);
-- create "tombstones" table
CREATE TABLE `tombstones` (`id` integer NOT NULL, `account_id` integer NOT NULL, `hash` text NOT NULL, `deletion_id` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "tombstone_account_id_hash" to table: "tombstones"
CREATE UNIQUE INDEX `tombstone_account_id_hash` ON `tombstones` (`account_id`, `hash`);
-- create index "tombstone_account_id_deletion_id_id" to table: "tombstones"
CREATE INDEX `tombstone_account_id_deletion_id_id` ON `tombstones` (`account_id`, `deletion_id`, `id`);
-- create "unscored_libraries" table
CREATE TABLE `unscored_libraries` (`id` integer NOT NULL, `account_id` integer NOT NULL, `changes` integer NOT NULL DEFAULT (1), PRIMARY KEY (`id`));
-- create index "unscoredlibrary_account_id" to table: "unscored_libraries"
CREATE UNIQUE INDEX `unscoredlibrary_account_id` ON `unscored_libraries` (`account_id`);
