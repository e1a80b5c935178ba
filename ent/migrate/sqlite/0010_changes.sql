-- +goose Up
-- create "feeds" table
CREATE TABLE `feeds` (`id` integer NOT NULL, `account_id` integer NOT NULL, `seq` integer NOT NULL, `floor` integer NOT NULL DEFAULT (0), `trim_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "feed_account_id" to table: "feeds"
CREATE UNIQUE INDEX `feed_account_id` ON `feeds` (`account_id`);
-- create index "feed_trim_at" to table: "feeds"
CREATE INDEX `feed_trim_at` ON `feeds` (`trim_at`);
-- create "webhooks" table
CREATE TABLE `webhooks` (`id` integer NOT NULL, `account_id` integer NOT NULL, `url` text NOT NULL, `types` text NOT NULL, `secret` blob NOT NULL, `prior_secret` blob NULL, `prior_until` integer NOT NULL DEFAULT (0), `status` text NOT NULL, `cursor` integer NOT NULL, `failures` integer NOT NULL DEFAULT (0), `next_at` integer NOT NULL, `turn` integer NOT NULL DEFAULT (0), `lease_until` integer NOT NULL DEFAULT (0), `created_at` integer NOT NULL, `updated_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "webhook_account_id_id" to table: "webhooks"
CREATE INDEX `webhook_account_id_id` ON `webhooks` (`account_id`, `id`);
-- create index "webhook_status_next_at" to table: "webhooks"
CREATE INDEX `webhook_status_next_at` ON `webhooks` (`status`, `next_at`);
-- create "webhook_deliveries" table
CREATE TABLE `webhook_deliveries` (`id` integer NOT NULL, `account_id` integer NOT NULL, `webhook_id` integer NOT NULL, `message_id` text NOT NULL, `kind` text NOT NULL, `attempt` integer NOT NULL, `outcome` text NOT NULL, `status_code` integer NOT NULL DEFAULT (0), `took` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "webhookdelivery_account_id_webhook_id_id" to table: "webhook_deliveries"
CREATE INDEX `webhookdelivery_account_id_webhook_id_id` ON `webhook_deliveries` (`account_id`, `webhook_id`, `id`);
-- create "changes" table: the entries of feeds. It is no Ent table, as its key is the account and the number, and it has no other index.
CREATE TABLE `changes` (`account_id` integer NOT NULL, `seq` integer NOT NULL, `at` integer NOT NULL, `kind` text NOT NULL, `video_id` integer NULL, `scroll_id` integer NULL, `subject_id` integer NULL, `word` text NULL, `was` real NULL, `became` real NULL, PRIMARY KEY (`account_id`, `seq`)) WITHOUT ROWID;
