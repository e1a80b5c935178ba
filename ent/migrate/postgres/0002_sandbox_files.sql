-- +goose Up
-- create "sandbox_files" table
CREATE TABLE "sandbox_files" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "path" text NOT NULL, "data" bytea NOT NULL, "size" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "sandbox_file_size_of_data" CHECK (size = length(data)));
-- create index "sandboxfile_account_id_path" to table: "sandbox_files"
CREATE UNIQUE INDEX "sandboxfile_account_id_path" ON "sandbox_files" ("account_id", "path");
