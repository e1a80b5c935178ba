-- +goose Up
-- disable the enforcement of foreign-keys constraints
PRAGMA foreign_keys = off;
-- create "new_codes" table
CREATE TABLE `new_codes` (`id` integer NOT NULL, `email` text NOT NULL, `account_id` integer NULL, `hash` blob NOT NULL, `salt` blob NOT NULL, `created_at` integer NOT NULL, `expires_at` integer NOT NULL, `tries` integer NOT NULL DEFAULT (0), `used_at` integer NULL, `askers` blob NULL, `link_hash` blob NULL, `link_expires_at` integer NULL, PRIMARY KEY (`id`));
-- copy rows from old table "codes" to new temporary table "new_codes"
INSERT INTO `new_codes` (`id`, `email`, `account_id`, `hash`, `salt`, `created_at`, `expires_at`, `tries`, `used_at`) SELECT `id`, `email`, `account_id`, `hash`, `salt`, `created_at`, `expires_at`, `tries`, `used_at` FROM `codes`;
-- drop "codes" table after copying rows
DROP TABLE `codes`;
-- rename temporary table "new_codes" to "codes"
ALTER TABLE `new_codes` RENAME TO `codes`;
-- create index "code_email_id" to table: "codes"
CREATE INDEX `code_email_id` ON `codes` (`email`, `id`);
-- create index "code_link_hash" to table: "codes"
CREATE UNIQUE INDEX `code_link_hash` ON `codes` (`link_hash`);
-- enable back the enforcement of foreign-keys constraints
PRAGMA foreign_keys = on;
