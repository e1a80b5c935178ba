-- +goose Up
-- create "deleted_videos" table
CREATE TABLE "deleted_videos" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "deletion_id" bigint NOT NULL, "creator" text NOT NULL, "handle" text NOT NULL, "sealed" bytea NOT NULL, PRIMARY KEY ("id", "account_id"));
-- create index "deletedvideo_account_id_creator" to table: "deleted_videos"
CREATE INDEX "deletedvideo_account_id_creator" ON "deleted_videos" ("account_id", "creator");
-- create index "deletedvideo_account_id_deletion_id_id" to table: "deleted_videos"
CREATE INDEX "deletedvideo_account_id_deletion_id_id" ON "deleted_videos" ("account_id", "deletion_id", "id");
-- create index "deletedvideo_account_id_handle" to table: "deleted_videos"
CREATE INDEX "deletedvideo_account_id_handle" ON "deleted_videos" ("account_id", "handle");
-- create "deletions" table
CREATE TABLE "deletions" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "status" text NOT NULL, "origin" text NOT NULL, "what" text NOT NULL, "target" bytea NOT NULL, "videos" bigint NOT NULL DEFAULT 0, "readings" bigint NOT NULL DEFAULT 0, "undo_until" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("account_id", "id"));
-- create index "deletion_status_undo_until_id" to table: "deletions"
CREATE INDEX "deletion_status_undo_until_id" ON "deletions" ("status", "undo_until", "id");
-- create "tombstones" table
CREATE TABLE "tombstones" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "hash" text NOT NULL, "deletion_id" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id", "account_id"));
-- create index "tombstone_account_id_deletion_id_id" to table: "tombstones"
CREATE INDEX "tombstone_account_id_deletion_id_id" ON "tombstones" ("account_id", "deletion_id", "id");
-- create index "tombstone_account_id_hash" to table: "tombstones"
CREATE UNIQUE INDEX "tombstone_account_id_hash" ON "tombstones" ("account_id", "hash");
-- create "unscored_libraries" table
CREATE TABLE "unscored_libraries" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "changes" bigint NOT NULL DEFAULT 1, PRIMARY KEY ("id", "account_id"));
-- create index "unscoredlibrary_account_id" to table: "unscored_libraries"
CREATE UNIQUE INDEX "unscoredlibrary_account_id" ON "unscored_libraries" ("account_id");
