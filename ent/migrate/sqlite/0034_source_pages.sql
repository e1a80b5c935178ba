-- +goose Up
-- create "source_pages" table
CREATE TABLE `source_pages` (`id` integer NOT NULL, `plugin` text NOT NULL, `name` text NOT NULL, `page` blob NOT NULL, `read_at` integer NOT NULL, `claimed_until` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "sourcepage_plugin_name" to table: "source_pages"
CREATE UNIQUE INDEX `sourcepage_plugin_name` ON `source_pages` (`plugin`, `name`);
-- create index "sourcepage_claimed_until_id" to table: "source_pages"
CREATE INDEX `sourcepage_claimed_until_id` ON `source_pages` (`claimed_until`, `id`);
