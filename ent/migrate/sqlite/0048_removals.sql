-- +goose Up
-- create "removal_files" table
CREATE TABLE `removal_files` (`id` integer NOT NULL, `name` text NOT NULL, `position` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "removalfile_name" to table: "removal_files"
CREATE UNIQUE INDEX `removalfile_name` ON `removal_files` (`name`);
-- create "removal_lines" table
CREATE TABLE `removal_lines` (`id` integer NOT NULL, `line` text NOT NULL, PRIMARY KEY (`id`));
