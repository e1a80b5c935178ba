-- +goose Up
-- create "account_sources" table
CREATE TABLE `account_sources` (`id` integer NOT NULL, `account_id` integer NOT NULL, `source` text NOT NULL, `secrets` blob NOT NULL, `hints` text NOT NULL, `settings` text NOT NULL, `created_at` integer NOT NULL, `updated_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "accountsource_account_id_source" to table: "account_sources"
CREATE UNIQUE INDEX `accountsource_account_id_source` ON `account_sources` (`account_id`, `source`);
-- a lasting key with every scope of before has every scope
UPDATE `keys` SET `scopes` = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write usage:read keys:read keys:write webhooks:read webhooks:write sources:read sources:write account:read account:write account:export sandbox:write agent:run billing:write' WHERE `parent_id` IS NULL AND `scopes` = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write usage:read keys:read keys:write webhooks:read webhooks:write account:read account:write account:export sandbox:write agent:run billing:write';
