-- +goose Up
-- drop index "job_run_at_id" from table: "jobs"
DROP INDEX `job_run_at_id`;
-- create index "job_kind_run_at_id" to table: "jobs"
CREATE INDEX `job_kind_run_at_id` ON `jobs` (`kind`, `run_at`, `id`);
