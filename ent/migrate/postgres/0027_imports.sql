-- +goose Up
-- create "imports" table
CREATE TABLE "imports" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "status" text NOT NULL, "name" text NOT NULL, "bytes" bigint NOT NULL, "options" text NOT NULL, "idempotency_key" text NULL, "report" text NOT NULL DEFAULT '', "scroll_id" bigint NOT NULL DEFAULT 0, "failure" text NULL, "attempt" bigint NOT NULL DEFAULT 0, "heartbeat_at" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, "completed_at" bigint NULL, PRIMARY KEY ("account_id", "id"));
-- create index "fileimport_account_id_idempotency_key" to table: "imports"
CREATE UNIQUE INDEX "fileimport_account_id_idempotency_key" ON "imports" ("account_id", "idempotency_key");
-- create index "fileimport_account_id_scroll_id" to table: "imports"
CREATE INDEX "fileimport_account_id_scroll_id" ON "imports" ("account_id", "scroll_id");
-- create index "fileimport_status_heartbeat_at_id" to table: "imports"
CREATE INDEX "fileimport_status_heartbeat_at_id" ON "imports" ("status", "heartbeat_at", "id");
-- create "import_parts" table
CREATE TABLE "import_parts" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "import_id" bigint NOT NULL, "run" bigint NOT NULL, "number" bigint NOT NULL, "data" bytea NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id", "account_id"));
-- create index "importpart_account_id_import_id_run_number" to table: "import_parts"
CREATE UNIQUE INDEX "importpart_account_id_import_id_run_number" ON "import_parts" ("account_id", "import_id", "run", "number");
-- create index "importpart_created_at_id" to table: "import_parts"
CREATE INDEX "importpart_created_at_id" ON "import_parts" ("created_at", "id");
