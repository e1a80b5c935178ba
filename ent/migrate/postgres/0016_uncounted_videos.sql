-- +goose Up
-- create "uncounted_videos" table
CREATE TABLE "uncounted_videos" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "video_id" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "uncountedvideo_account_id_id" to table: "uncounted_videos"
CREATE INDEX "uncountedvideo_account_id_id" ON "uncounted_videos" ("account_id", "id");
