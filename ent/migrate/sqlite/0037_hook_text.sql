-- +goose Up
-- modify "video_docs" table
ALTER TABLE `video_docs` ADD COLUMN `hook_text` text NULL;
-- Videos that are stored get theirs from the job that stores their words.
INSERT INTO `unindexed_libraries` SELECT `account_id`, '', '' FROM `libraries` WHERE true ON CONFLICT (`account_id`) DO UPDATE SET `platform` = '', `external_id` = '';
