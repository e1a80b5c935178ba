-- +goose Up
-- create "shares" table
CREATE TABLE `shares` (`id` integer NOT NULL, `account_id` integer NOT NULL, `token_hash` text NOT NULL, `kind` text NOT NULL, `title` text NOT NULL, `views` integer NOT NULL DEFAULT (0), `expires_at` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "share_account_id_id" to table: "shares"
CREATE INDEX `share_account_id_id` ON `shares` (`account_id`, `id`);
-- create index "share_token_hash" to table: "shares"
CREATE INDEX `share_token_hash` ON `shares` (`token_hash`);
-- create index "share_expires_at_id" to table: "shares"
CREATE INDEX `share_expires_at_id` ON `shares` (`expires_at`, `id`);
-- create "share_items" table
CREATE TABLE `share_items` (`id` integer NOT NULL, `account_id` integer NOT NULL, `share_id` integer NOT NULL, `position` integer NOT NULL, `video_id` integer NOT NULL, `doc` text NOT NULL, PRIMARY KEY (`id`));
-- create index "shareitem_account_id_id" to table: "share_items"
CREATE INDEX `shareitem_account_id_id` ON `share_items` (`account_id`, `id`);
-- create index "shareitem_account_id_share_id_position" to table: "share_items"
CREATE INDEX `shareitem_account_id_share_id_position` ON `share_items` (`account_id`, `share_id`, `position`);
-- create index "shareitem_account_id_video_id_share_id_position" to table: "share_items"
CREATE INDEX `shareitem_account_id_video_id_share_id_position` ON `share_items` (`account_id`, `video_id`, `share_id`, `position`);
-- a lasting key with every scope of before has every scope
UPDATE `keys` SET `scopes` = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write shares:read shares:write usage:read keys:read keys:write webhooks:read webhooks:write sources:read sources:write account:read account:write account:export sandbox:write agent:run billing:write' WHERE `parent_id` IS NULL AND `scopes` = 'workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write library:read library:write usage:read keys:read keys:write webhooks:read webhooks:write sources:read sources:write account:read account:write account:export sandbox:write agent:run billing:write';
