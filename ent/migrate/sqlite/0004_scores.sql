-- +goose Up
-- disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- create "new_creators" table
CREATE TABLE `new_creators` (`id` integer NOT NULL, `account_id` integer NOT NULL, `platform` text NOT NULL, `key` text NOT NULL, `handle` text NOT NULL, `dirty` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- copy rows from old table "creators" to new temporary table "new_creators"
INSERT INTO `new_creators` (`id`, `account_id`, `platform`, `key`, `handle`, `dirty`) SELECT `id`, `account_id`, `platform`, `key`, `handle`, `dirty` FROM `creators`;
-- drop "creators" table after copying rows
DROP TABLE `creators`;
-- rename temporary table "new_creators" to "creators"
ALTER TABLE `new_creators` RENAME TO `creators`;
-- create index "creator_account_id_platform_key" to table: "creators"
CREATE UNIQUE INDEX `creator_account_id_platform_key` ON `creators` (`account_id`, `platform`, `key`);
-- create index "creator_account_id_dirty_id" to table: "creators"
CREATE INDEX `creator_account_id_dirty_id` ON `creators` (`account_id`, `dirty`, `id`);
-- create "new_libraries" table
CREATE TABLE `new_libraries` (`id` integer NOT NULL, `account_id` integer NOT NULL, `revision` integer NOT NULL DEFAULT (0), `videos` integer NOT NULL DEFAULT (0), `method` text NOT NULL DEFAULT (''), `rescored_to` integer NOT NULL DEFAULT (0), `rescore_step` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- copy rows from old table "libraries" to new temporary table "new_libraries"
INSERT INTO `new_libraries` (`id`, `account_id`, `revision`, `videos`) SELECT `id`, `account_id`, `revision`, `videos` FROM `libraries`;
-- drop "libraries" table after copying rows
DROP TABLE `libraries`;
-- rename temporary table "new_libraries" to "libraries"
ALTER TABLE `new_libraries` RENAME TO `libraries`;
-- create index "library_account_id" to table: "libraries"
CREATE UNIQUE INDEX `library_account_id` ON `libraries` (`account_id`);
-- create "new_observations" table
CREATE TABLE `new_observations` (`id` integer NOT NULL, `account_id` integer NOT NULL, `video_id` integer NOT NULL, `scroll_id` integer NOT NULL, `stage` text NOT NULL, `views` integer NULL, `likes` integer NULL, `comments` integer NULL, `shares` integer NULL, `saves` integer NULL, `observed_at` integer NOT NULL, `semantics` text NOT NULL DEFAULT (''), PRIMARY KEY (`id`));
-- copy rows from old table "observations" to new temporary table "new_observations"
INSERT INTO `new_observations` (`id`, `account_id`, `video_id`, `scroll_id`, `stage`, `views`, `likes`, `comments`, `shares`, `saves`, `observed_at`) SELECT `id`, `account_id`, `video_id`, `scroll_id`, `stage`, `views`, `likes`, `comments`, `shares`, `saves`, `observed_at` FROM `observations`;
-- drop "observations" table after copying rows
DROP TABLE `observations`;
-- rename temporary table "new_observations" to "observations"
ALTER TABLE `new_observations` RENAME TO `observations`;
-- create index "observation_account_id_scroll_id_video_id_observed_at" to table: "observations"
CREATE UNIQUE INDEX `observation_account_id_scroll_id_video_id_observed_at` ON `observations` (`account_id`, `scroll_id`, `video_id`, `observed_at`);
-- create index "observation_account_id_video_id_observed_at" to table: "observations"
CREATE INDEX `observation_account_id_video_id_observed_at` ON `observations` (`account_id`, `video_id`, `observed_at`);
-- create "new_trends" table
CREATE TABLE `new_trends` (`id` integer NOT NULL, `account_id` integer NOT NULL, `subject` text NOT NULL, `with_archived` integer NOT NULL, `key` text NOT NULL, `label` text NOT NULL, `place` blob NOT NULL, `listed` integer NOT NULL DEFAULT (1), `head` text NOT NULL, `video_count` integer NOT NULL, `example1` integer NULL, `example2` integer NULL, `example3` integer NULL, `members` blob NULL, `recent` blob NULL, PRIMARY KEY (`id`));
-- copy rows from old table "trends" to new temporary table "new_trends"
INSERT INTO `new_trends` (`id`, `account_id`, `subject`, `with_archived`, `key`, `label`, `place`, `head`, `video_count`, `example1`, `example2`, `example3`, `members`) SELECT `id`, `account_id`, `subject`, `with_archived`, `key`, `label`, `place`, `head`, `video_count`, `example1`, `example2`, `example3`, `members` FROM `trends`;
-- drop "trends" table after copying rows
DROP TABLE `trends`;
-- rename temporary table "new_trends" to "trends"
ALTER TABLE `new_trends` RENAME TO `trends`;
-- create index "trend_account_id_subject_with_archived_key" to table: "trends"
CREATE UNIQUE INDEX `trend_account_id_subject_with_archived_key` ON `trends` (`account_id`, `subject`, `with_archived`, `key`);
-- create index "trend_account_id_subject_with_archived_listed_place" to table: "trends"
CREATE INDEX `trend_account_id_subject_with_archived_listed_place` ON `trends` (`account_id`, `subject`, `with_archived`, `listed`, `place`);
-- create "new_trend_windows" table
CREATE TABLE `new_trend_windows` (`id` integer NOT NULL, `account_id` integer NOT NULL, `subject` text NOT NULL, `newest_at` integer NOT NULL DEFAULT (0), `span` integer NOT NULL DEFAULT (0), `videos` integer NOT NULL, `recent` integer NOT NULL DEFAULT (0), `earlier` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- copy rows from old table "trend_windows" to new temporary table "new_trend_windows"
INSERT INTO `new_trend_windows` (`id`, `account_id`, `subject`, `videos`) SELECT `id`, `account_id`, `subject`, `videos` FROM `trend_windows`;
-- drop "trend_windows" table after copying rows
DROP TABLE `trend_windows`;
-- rename temporary table "new_trend_windows" to "trend_windows"
ALTER TABLE `new_trend_windows` RENAME TO `trend_windows`;
-- create index "trendwindow_account_id_subject" to table: "trend_windows"
CREATE UNIQUE INDEX `trendwindow_account_id_subject` ON `trend_windows` (`account_id`, `subject`);
-- create "new_videos" table
CREATE TABLE `new_videos` (`id` integer NOT NULL, `account_id` integer NOT NULL, `platform` text NOT NULL, `external_id` text NOT NULL, `creator_id` integer NULL, `kind` text NOT NULL DEFAULT (''), `growth_kind` text NOT NULL DEFAULT (''), `duration` integer NULL, `handle` text NOT NULL DEFAULT (''), `handle_only` integer NOT NULL DEFAULT (0), `subject` text NOT NULL, `scroll_id` integer NOT NULL, `posted_at` integer NULL, `first_seen_at` integer NOT NULL, `observed_at` integer NOT NULL, `gone_at` integer NULL, `usable_views` integer NULL, `usable_at` integer NULL, `usable_likes` integer NULL, `peers` integer NOT NULL DEFAULT (0), `own_views` integer NOT NULL DEFAULT (0), `by_niche` integer NOT NULL DEFAULT (0), `twice_baseline` integer NOT NULL DEFAULT (0), `sample_count` integer NOT NULL DEFAULT (0), `doubtful` integer NOT NULL DEFAULT (0), `score` real NOT NULL DEFAULT (0), `digest` integer NOT NULL, `archived` integer NOT NULL DEFAULT (0), `hook_archived` integer NOT NULL DEFAULT (0), `hook_hidden` integer NOT NULL DEFAULT (0), `seen_order` blob NOT NULL, `hook_order` blob NULL, `hook_changed_at` integer NOT NULL DEFAULT (0), `opening` text NOT NULL DEFAULT (''), `outlier_order` blob NULL, PRIMARY KEY (`id`));
-- copy rows from old table "videos" to new temporary table "new_videos"
INSERT INTO `new_videos` (`id`, `account_id`, `platform`, `external_id`, `creator_id`, `kind`, `subject`, `scroll_id`, `posted_at`, `first_seen_at`, `observed_at`, `gone_at`, `usable_views`, `usable_at`, `digest`, `archived`, `hook_archived`, `hook_hidden`, `seen_order`, `hook_order`, `outlier_order`) SELECT `id`, `account_id`, `platform`, `external_id`, `creator_id`, `kind`, `subject`, `scroll_id`, `posted_at`, `first_seen_at`, `observed_at`, `gone_at`, `usable_views`, `usable_at`, `digest`, `archived`, `hook_archived`, `hook_hidden`, `seen_order`, `hook_order`, `outlier_order` FROM `videos`;
-- drop "videos" table after copying rows
DROP TABLE `videos`;
-- rename temporary table "new_videos" to "videos"
ALTER TABLE `new_videos` RENAME TO `videos`;
-- create index "video_account_id_platform_external_id" to table: "videos"
CREATE UNIQUE INDEX `video_account_id_platform_external_id` ON `videos` (`account_id`, `platform`, `external_id`);
-- create index "video_account_id_creator_id_opening" to table: "videos"
CREATE INDEX `video_account_id_creator_id_opening` ON `videos` (`account_id`, `creator_id`, `opening`);
-- create index "video_account_id_platform_handle_handle_only_creator_id" to table: "videos"
CREATE INDEX `video_account_id_platform_handle_handle_only_creator_id` ON `videos` (`account_id`, `platform`, `handle`, `handle_only`, `creator_id`);
-- create index "video_account_id_growth_kind_posted_at_id" to table: "videos"
CREATE INDEX `video_account_id_growth_kind_posted_at_id` ON `videos` (`account_id`, `growth_kind`, `posted_at` DESC, `id`);
-- create index "video_account_id_growth_kind_by_niche_posted_at_id" to table: "videos"
CREATE INDEX `video_account_id_growth_kind_by_niche_posted_at_id` ON `videos` (`account_id`, `growth_kind`, `by_niche`, `posted_at`, `id`);
-- create index "video_account_id_hook_hidden_hook_order" to table: "videos"
CREATE INDEX `video_account_id_hook_hidden_hook_order` ON `videos` (`account_id`, `hook_hidden`, `hook_order`);
-- create index "video_account_id_archived_outlier_order" to table: "videos"
CREATE INDEX `video_account_id_archived_outlier_order` ON `videos` (`account_id`, `archived`, `outlier_order`);
-- create index "video_account_id_archived_kind_outlier_order" to table: "videos"
CREATE INDEX `video_account_id_archived_kind_outlier_order` ON `videos` (`account_id`, `archived`, `kind`, `outlier_order`);
-- create index "video_account_id_archived_kind_seen_order" to table: "videos"
CREATE INDEX `video_account_id_archived_kind_seen_order` ON `videos` (`account_id`, `archived`, `kind`, `seen_order`);
-- create index "video_account_id_archived_platform_kind_seen_order" to table: "videos"
CREATE INDEX `video_account_id_archived_platform_kind_seen_order` ON `videos` (`account_id`, `archived`, `platform`, `kind`, `seen_order`);
-- create "library_runs" table
CREATE TABLE `library_runs` (`id` integer NOT NULL, `account_id` integer NOT NULL, `subject` text NOT NULL, `scroll_id` integer NOT NULL, `first_at` integer NOT NULL, `last_at` integer NOT NULL, `usable_at` integer NULL, PRIMARY KEY (`id`));
-- create index "libraryrun_account_id_scroll_id" to table: "library_runs"
CREATE UNIQUE INDEX `libraryrun_account_id_scroll_id` ON `library_runs` (`account_id`, `scroll_id`);
-- create index "libraryrun_account_id_subject_last_at" to table: "library_runs"
CREATE INDEX `libraryrun_account_id_subject_last_at` ON `library_runs` (`account_id`, `subject`, `last_at`);
-- create "niches" table
CREATE TABLE `niches` (`id` integer NOT NULL, `account_id` integer NOT NULL, `kind` text NOT NULL, `dirty` integer NOT NULL DEFAULT (0), `dirty_from` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- create index "niche_account_id_kind" to table: "niches"
CREATE UNIQUE INDEX `niche_account_id_kind` ON `niches` (`account_id`, `kind`);
-- enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
