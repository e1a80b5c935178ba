-- +goose Up
-- modify "unscored_libraries" table
ALTER TABLE `unscored_libraries` ADD COLUMN `wait_until` integer NOT NULL DEFAULT (0);
-- create "source_counts" table
CREATE TABLE `source_counts` (`id` integer NOT NULL, `account_id` integer NOT NULL, `source` text NOT NULL, `readings` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "sourcecount_account_id_source" to table: "source_counts"
CREATE UNIQUE INDEX `sourcecount_account_id_source` ON `source_counts` (`account_id`, `source`);
-- What was read before; one of the observations lends its id.
INSERT INTO `source_counts` (`id`, `account_id`, `source`, `readings`)
SELECT min(`id`), `account_id`, `stage`, count(*) FROM `observations` GROUP BY `account_id`, `stage`;
