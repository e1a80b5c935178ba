-- +goose Up
-- add column "purpose" to table: "codes"
ALTER TABLE `codes` ADD COLUMN `purpose` text NULL;
-- create "authorizations" table
CREATE TABLE `authorizations` (`id` integer NOT NULL, `secret_hash` blob NOT NULL, `step` text NOT NULL, `email` text NOT NULL, `client_id` text NOT NULL, `redirect_uri` text NOT NULL, `state` text NOT NULL, `scopes` text NOT NULL, `challenge` text NOT NULL, `resource` text NOT NULL, `account_id` integer NULL, `parent_id` integer NULL, `key_id` integer NULL, `created_at` integer NOT NULL, `verified_at` integer NULL, `expires_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "authorization_secret_hash" to table: "authorizations"
CREATE UNIQUE INDEX `authorization_secret_hash` ON `authorizations` (`secret_hash`);
-- create index "authorization_account_id_id" to table: "authorizations"
CREATE INDEX `authorization_account_id_id` ON `authorizations` (`account_id`, `id`);
-- create index "authorization_expires_at" to table: "authorizations"
CREATE INDEX `authorization_expires_at` ON `authorizations` (`expires_at`);
