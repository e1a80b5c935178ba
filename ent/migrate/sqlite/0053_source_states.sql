-- +goose Up
-- create "source_states" table
CREATE TABLE `source_states` (`id` integer NOT NULL, `account_id` integer NOT NULL, `plugin` text NOT NULL, `seed` text NOT NULL, `scroll_id` integer NOT NULL, `state` blob NOT NULL, `kept_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "sourcestate_account_id_plugin_seed_scroll_id" to table: "source_states"
CREATE UNIQUE INDEX `sourcestate_account_id_plugin_seed_scroll_id` ON `source_states` (`account_id`, `plugin`, `seed`, `scroll_id`);
-- create index "sourcestate_account_id_scroll_id_id" to table: "source_states"
CREATE INDEX `sourcestate_account_id_scroll_id_id` ON `source_states` (`account_id`, `scroll_id`, `id`);
-- create index "sourcestate_account_id_plugin_scroll_id_kept_at_id" to table: "source_states"
CREATE INDEX `sourcestate_account_id_plugin_scroll_id_kept_at_id` ON `source_states` (`account_id`, `plugin`, `scroll_id`, `kept_at`, `id`);
