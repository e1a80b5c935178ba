-- +goose Up
-- modify "verdicts" table
ALTER TABLE "verdicts" ADD COLUMN "basis" text NULL;
-- modify "video_docs" table
ALTER TABLE "video_docs" ADD COLUMN "language" text NULL;
