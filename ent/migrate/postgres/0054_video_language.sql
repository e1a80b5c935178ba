-- +goose Up
-- modify "video_docs" table
ALTER TABLE "video_docs" ADD COLUMN "language" text NULL;
