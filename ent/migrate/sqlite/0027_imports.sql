-- +goose Up
-- create "imports" table
CREATE TABLE `imports` (`id` integer NOT NULL, `account_id` integer NOT NULL, `status` text NOT NULL, `name` text NOT NULL, `bytes` integer NOT NULL, `options` text NOT NULL, `idempotency_key` text NULL, `report` text NOT NULL DEFAULT (''), `scroll_id` integer NOT NULL DEFAULT (0), `failure` text NULL, `attempt` integer NOT NULL DEFAULT (0), `heartbeat_at` integer NOT NULL DEFAULT (0), `created_at` integer NOT NULL, `updated_at` integer NOT NULL, `completed_at` integer NULL, PRIMARY KEY (`id`));
-- create index "fileimport_account_id_idempotency_key" to table: "imports"
CREATE UNIQUE INDEX `fileimport_account_id_idempotency_key` ON `imports` (`account_id`, `idempotency_key`);
-- create index "fileimport_account_id_id" to table: "imports"
CREATE INDEX `fileimport_account_id_id` ON `imports` (`account_id`, `id`);
-- create index "fileimport_account_id_scroll_id" to table: "imports"
CREATE INDEX `fileimport_account_id_scroll_id` ON `imports` (`account_id`, `scroll_id`);
-- create index "fileimport_status_heartbeat_at_id" to table: "imports"
CREATE INDEX `fileimport_status_heartbeat_at_id` ON `imports` (`status`, `heartbeat_at`, `id`);
-- create "import_parts" table
CREATE TABLE `import_parts` (`id` integer NOT NULL, `account_id` integer NOT NULL, `import_id` integer NOT NULL, `run` integer NOT NULL, `number` integer NOT NULL, `data` blob NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`));
-- create index "importpart_account_id_import_id_run_number" to table: "import_parts"
CREATE UNIQUE INDEX `importpart_account_id_import_id_run_number` ON `import_parts` (`account_id`, `import_id`, `run`, `number`);
-- create index "importpart_created_at_id" to table: "import_parts"
CREATE INDEX `importpart_created_at_id` ON `import_parts` (`created_at`, `id`);
