-- +goose Up
-- create "erasures" table
CREATE TABLE `erasures` (`id` integer NOT NULL, `hash` text NOT NULL, `names` blob NOT NULL, `platform` text NOT NULL, `reason` text NOT NULL, `accounts` integer NOT NULL DEFAULT (0), `videos` integer NOT NULL DEFAULT (0), `readings` integer NOT NULL DEFAULT (0), `created_at` integer NOT NULL, `finished_at` integer NOT NULL DEFAULT (0), PRIMARY KEY (`id`));
-- create index "erasure_hash_finished_at_id" to table: "erasures"
CREATE INDEX `erasure_hash_finished_at_id` ON `erasures` (`hash`, `finished_at`, `id`);
-- create "suppressions" table
CREATE TABLE `suppressions` (`id` integer NOT NULL, `hash` text NOT NULL, `erasure_id` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "suppression_hash" to table: "suppressions"
CREATE UNIQUE INDEX `suppression_hash` ON `suppressions` (`hash`);
