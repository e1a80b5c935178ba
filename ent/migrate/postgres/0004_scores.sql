-- +goose Up
-- modify "creators" table
ALTER TABLE "creators" DROP COLUMN "thin";
-- modify "libraries" table
ALTER TABLE "libraries" ADD COLUMN "method" text NOT NULL DEFAULT '', ADD COLUMN "rescored_to" bigint NOT NULL DEFAULT 0, ADD COLUMN "rescore_step" bigint NOT NULL DEFAULT 0;
-- drop index "observation_scroll_id_video_id" from table: "observations"
DROP INDEX "observation_scroll_id_video_id";
-- modify "observations" table
ALTER TABLE "observations" ADD COLUMN "semantics" text NOT NULL DEFAULT '';
-- create index "observation_account_id_scroll_id_video_id_observed_at" to table: "observations"
CREATE UNIQUE INDEX "observation_account_id_scroll_id_video_id_observed_at" ON "observations" ("account_id", "scroll_id", "video_id", "observed_at");
-- create index "observation_account_id_video_id_observed_at" to table: "observations"
CREATE INDEX "observation_account_id_video_id_observed_at" ON "observations" ("account_id", "video_id", "observed_at");
-- modify "trend_windows" table
ALTER TABLE "trend_windows" DROP COLUMN "scrolls", DROP COLUMN "all_videos", ADD COLUMN "newest_at" bigint NOT NULL DEFAULT 0, ADD COLUMN "span" bigint NOT NULL DEFAULT 0, ADD COLUMN "recent" bigint NOT NULL DEFAULT 0, ADD COLUMN "earlier" bigint NOT NULL DEFAULT 0;
-- drop index "trend_account_id_subject_with_archived_place" from table: "trends"
DROP INDEX "trend_account_id_subject_with_archived_place";
-- modify "trends" table
ALTER TABLE "trends" ADD COLUMN "listed" bigint NOT NULL DEFAULT 1, ADD COLUMN "recent" bytea NULL;
-- create index "trend_account_id_subject_with_archived_listed_place" to table: "trends"
CREATE INDEX "trend_account_id_subject_with_archived_listed_place" ON "trends" ("account_id", "subject", "with_archived", "listed", "place");
-- drop index "video_account_id_creator_id" from table: "videos"
DROP INDEX "video_account_id_creator_id";
-- drop index "video_account_id_platform_posted_at_id" from table: "videos"
DROP INDEX "video_account_id_platform_posted_at_id";
-- modify "videos" table
ALTER TABLE "videos" ADD COLUMN "growth_kind" text NOT NULL DEFAULT '', ADD COLUMN "duration" bigint NULL, ADD COLUMN "handle" text NOT NULL DEFAULT '', ADD COLUMN "handle_only" bigint NOT NULL DEFAULT 0, ADD COLUMN "usable_likes" bigint NULL, ADD COLUMN "peers" bigint NOT NULL DEFAULT 0, ADD COLUMN "own_views" bigint NOT NULL DEFAULT 0, ADD COLUMN "by_niche" bigint NOT NULL DEFAULT 0, ADD COLUMN "twice_baseline" bigint NOT NULL DEFAULT 0, ADD COLUMN "sample_count" bigint NOT NULL DEFAULT 0, ADD COLUMN "doubtful" bigint NOT NULL DEFAULT 0, ADD COLUMN "score" double precision NOT NULL DEFAULT 0, ADD COLUMN "hook_changed_at" bigint NOT NULL DEFAULT 0, ADD COLUMN "opening" text NOT NULL DEFAULT '';
-- create index "video_account_id_creator_id_opening" to table: "videos"
CREATE INDEX "video_account_id_creator_id_opening" ON "videos" ("account_id", "creator_id", "opening");
-- create index "video_account_id_growth_kind_by_niche_posted_at_id" to table: "videos"
CREATE INDEX "video_account_id_growth_kind_by_niche_posted_at_id" ON "videos" ("account_id", "growth_kind", "by_niche", "posted_at", "id");
-- create index "video_account_id_growth_kind_posted_at_id" to table: "videos"
CREATE INDEX "video_account_id_growth_kind_posted_at_id" ON "videos" ("account_id", "growth_kind", "posted_at" DESC, "id");
-- create index "video_account_id_platform_handle_handle_only_creator_id" to table: "videos"
CREATE INDEX "video_account_id_platform_handle_handle_only_creator_id" ON "videos" ("account_id", "platform", "handle", "handle_only", "creator_id");
-- create "library_runs" table
CREATE TABLE "library_runs" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "subject" text NOT NULL, "scroll_id" bigint NOT NULL, "first_at" bigint NOT NULL, "last_at" bigint NOT NULL, "usable_at" bigint NULL, PRIMARY KEY ("id"));
-- create index "libraryrun_account_id_scroll_id" to table: "library_runs"
CREATE UNIQUE INDEX "libraryrun_account_id_scroll_id" ON "library_runs" ("account_id", "scroll_id");
-- create index "libraryrun_account_id_subject_last_at" to table: "library_runs"
CREATE INDEX "libraryrun_account_id_subject_last_at" ON "library_runs" ("account_id", "subject", "last_at");
-- create "niches" table
CREATE TABLE "niches" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "kind" text NOT NULL, "dirty" bigint NOT NULL DEFAULT 0, "dirty_from" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "niche_account_id_kind" to table: "niches"
CREATE UNIQUE INDEX "niche_account_id_kind" ON "niches" ("account_id", "kind");
