-- +goose Up
-- add column "basis" to table: "verdicts"
ALTER TABLE `verdicts` ADD COLUMN `basis` text NULL;
-- add column "language" to table: "video_docs"
ALTER TABLE `video_docs` ADD COLUMN `language` text NULL;
