-- +goose Up
-- create "collections" table
CREATE TABLE "collections" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "name" text NOT NULL, "note" text NOT NULL DEFAULT '', "videos" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("account_id", "id"));
-- create index "collection_account_id_name" to table: "collections"
CREATE UNIQUE INDEX "collection_account_id_name" ON "collections" ("account_id", "name");
-- create "collection_videos" table
CREATE TABLE "collection_videos" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "collection_id" bigint NOT NULL, "video_id" bigint NOT NULL, "position" bigint NOT NULL, "note" text NOT NULL DEFAULT '', "added_at" bigint NOT NULL, PRIMARY KEY ("account_id", "id"));
-- create index "collectionvideo_account_id_collection_id_position" to table: "collection_videos"
CREATE INDEX "collectionvideo_account_id_collection_id_position" ON "collection_videos" ("account_id", "collection_id", "position");
-- create index "collectionvideo_account_id_collection_id_video_id" to table: "collection_videos"
CREATE UNIQUE INDEX "collectionvideo_account_id_collection_id_video_id" ON "collection_videos" ("account_id", "collection_id", "video_id");
-- create index "collectionvideo_account_id_video_id_collection_id" to table: "collection_videos"
CREATE INDEX "collectionvideo_account_id_video_id_collection_id" ON "collection_videos" ("account_id", "video_id", "collection_id");
