-- +goose Up
-- create "score_points" table
CREATE TABLE "score_points" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "scroll_id" bigint NOT NULL, "video_id" bigint NOT NULL, "method" text NOT NULL, "growth_kind" text NOT NULL, "posted_at" bigint NULL, "observed_at" bigint NOT NULL, "views" bigint NOT NULL, "twice_baseline" bigint NOT NULL, "sample_count" bigint NOT NULL, "peers" bigint NOT NULL, "by_niche" bigint NOT NULL, "doubtful" bigint NOT NULL, "listed" bigint NOT NULL, "flag" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "scorepoint_account_id_scroll_id_video_id" to table: "score_points"
CREATE UNIQUE INDEX "scorepoint_account_id_scroll_id_video_id" ON "score_points" ("account_id", "scroll_id", "video_id");
-- create index "scorepoint_account_id_video_id_scroll_id" to table: "score_points"
CREATE INDEX "scorepoint_account_id_video_id_scroll_id" ON "score_points" ("account_id", "video_id", "scroll_id");
