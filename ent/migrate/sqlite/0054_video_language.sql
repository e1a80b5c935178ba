-- +goose Up
-- add column "language" to table: "video_docs"
ALTER TABLE `video_docs` ADD COLUMN `language` text NULL;
