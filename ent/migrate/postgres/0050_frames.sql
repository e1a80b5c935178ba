-- +goose Up
-- create "frames" table
CREATE TABLE "frames" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "video_id" bigint NOT NULL, "place" bigint NOT NULL, "at" bigint NOT NULL, "webp" bytea NOT NULL, PRIMARY KEY ("account_id", "id"));
-- create index "frame_account_id_place_id" to table: "frames"
CREATE INDEX "frame_account_id_place_id" ON "frames" ("account_id", "place", "id");
-- create index "frame_account_id_video_id_place" to table: "frames"
CREATE UNIQUE INDEX "frame_account_id_video_id_place" ON "frames" ("account_id", "video_id", "place");
